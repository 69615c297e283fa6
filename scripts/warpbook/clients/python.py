"""Python's environments, and pytest in them."""

import os
import subprocess
import time
import xml.etree.ElementTree

from .install import Missing, quietly

# What tests are run with.
PYTEST = ["pytest==8.4.2", "pytest-xdist==3.8.0"]


def environment(folder, python, system=False):
    """Makes an environment in a folder, with or without the packages of the system; the command of its pip."""
    if not imports(python, "ensurepip"):
        raise Missing(f"{python} makes no environments with pip: apt-get install python3-venv")
    quietly([python, "-m", "venv", *(["--system-site-packages"] if system else []), "environment"], folder)
    return [folder / "environment/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]


def imports(python, package):
    """Whether there is this Python, and it has the package."""
    try:
        return subprocess.run([python, "-c", f"import {package}"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def pytest(command, folder, settings, jobs, report, tests):
    """Runs tests, by a command that ends with a Python; how many seconds it took, and what came of them."""
    report.unlink(missing_ok=True)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(jobs), f"--junitxml={report}", *tests]
    begun = time.monotonic()
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
    seconds = round(time.monotonic() - begun)
    if not report.exists():
        raise SystemExit(f"the tests did not come to their end:\n{ended.stdout}")
    came = read(report)
    if not came["passed"] and not came["failed"]:
        raise SystemExit(f"no test was run:\n{ended.stdout}")
    return seconds, came


def variables(settings):
    """Those of a client: nobody else's."""
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "PYTEST", "PYTHON", "TRITON"))
    }
    return own | settings | {"PYTHONDONTWRITEBYTECODE": "1"}


def read(report):
    """What pytest's report says."""
    passed = skipped = 0
    failed = []
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        wrong = case.find("failure")
        wrong = case.find("error") if wrong is None else wrong
        if wrong is not None:
            file = case.get("classname", "").split(".")
            test = "::".join(["/".join(file[:-1]) + ".py", file[-1], case.get("name", "")])
            failed.append({"test": test, "why": (wrong.get("message") or "").partition("\n")[0][:200]})
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return {"passed": passed, "skipped": skipped, "failed": failed}
