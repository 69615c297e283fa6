"""Python virtual environments, and pytest in them."""

import os
import subprocess
import time
import xml.etree.ElementTree

from .install import Missing, quietly

# The packages for running tests.
PYTEST = ["pytest==8.4.2", "pytest-xdist==3.8.0"]


def environment(folder, python, system=False):
    """Creates a virtual environment, optionally with the system's packages, and returns the command of its pip."""
    if not imports(python, "ensurepip"):
        raise Missing(f"{python} cannot create virtual environments with pip: apt-get install python3-venv")
    quietly([python, "-m", "venv", *(["--system-site-packages"] if system else []), "environment"], folder)
    return [folder / "environment/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]


def imports(python, package):
    """Returns true if this Python exists and has the package."""
    try:
        return subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def pytest(command, folder, settings, jobs, report, tests):
    """Runs tests with a command that ends with a Python, and returns the elapsed seconds and the outcomes."""
    report.unlink(missing_ok=True)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(jobs), f"--junitxml={report}", *tests]
    start = time.monotonic()
    ended = subprocess.run(
        [*command, *words],
        cwd=folder,
        env=variables(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    seconds = round(time.monotonic() - start)
    if not report.exists():
        raise SystemExit(f"error: pytest ended without a report:\n{ended.stdout}")
    outcomes = read(report)
    if not outcomes["passed"] and not outcomes["failed"]:
        raise SystemExit(f"error: no test was run:\n{ended.stdout}")
    return seconds, outcomes


def variables(settings):
    """Returns the environment of a client, without the caller's CUDA and Python settings."""
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "PYTEST", "PYTHON", "TRITON"))
    }
    return own | settings | {"PYTHONDONTWRITEBYTECODE": "1"}


def read(report):
    """Returns the outcomes in pytest's report."""
    passed = skipped = 0
    failed = []
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        error = case.find("failure")
        error = case.find("error") if error is None else error
        if error is not None:
            file = case.get("classname", "").split(".")
            # Classes of tests begin with a capital letter, modules do not.
            count = len(file) - file[-1][:1].isupper()
            test = "::".join(["/".join(file[:count]) + ".py", *file[count:], case.get("name", "")])
            failed.append({"test": test, "why": (error.get("message") or "").partition("\n")[0][:200]})
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return {"passed": passed, "skipped": skipped, "failed": failed}
