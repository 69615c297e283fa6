"""Clients from PyPI, and their tests."""

import dataclasses
import os
import pathlib
import subprocess
import tarfile
import time
import xml.etree.ElementTree

from .install import Missing, once, quietly

# What the tests are run with.
TOOLS = ["pytest==8.4.2", "pytest-xdist==3.8.0", "hypothesis==6.140.0"]

# tinygrad's back end for CUDA, which makes PTX itself.
SETTINGS = {"CUDA": "1", "CUDA_PTX": "1"}


def installed(name, version):
    """What brings the package into an environment of its own, and its source with the tests beside it."""

    def install(flags):
        if subprocess.run([flags.python, "-c", "import torch"], capture_output=True, check=False).returncode:
            raise Missing(f"{flags.python} has no torch, with which its tests compare: apt-get install python3-torch")

        def make(folder):
            # torch is the system's, which is made for the CPU alone: PyPI's brings NVIDIA's libraries.
            quietly([flags.python, "-m", "venv", "--system-site-packages", "environment"], folder)
            pip = [folder / "environment/bin/python", "-m", "pip", "--quiet"]
            quietly([*pip, "install", "--no-deps", f"{name}=={version}"], folder)
            quietly([*pip, "install", *TOOLS], folder)
            download = ["download", "--no-deps", "--no-binary", ":all:", f"{name}=={version}"]
            quietly([*pip, *download], folder)
            with tarfile.open(folder / f"{name}-{version}.tar.gz") as archive:
                archive.extractall(folder, filter="data")

        return once(flags.folder / f"{name}-{version}", make)

    return install


@dataclasses.dataclass
class Suite:
    """Files of tests, as pytest runs them."""

    name: str
    ci: bool
    files: list
    known: dict

    def why(self, test):
        return self.known.get(test.rpartition("::")[2], "")

    def run(self, flags, folder):
        source = next(path for path in folder.glob("*/test") if path.is_dir())
        report = folder / "report.xml"
        report.unlink(missing_ok=True)
        tests = [f"test/{file}" for file in self.files]
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(flags.jobs), f"--junitxml={report}", *tests]
        python = folder / "environment/bin/python"
        begun = time.monotonic()
        ended = subprocess.run(
            [flags.program, "--quiet", "--", python, *words],
            cwd=source.parent,
            env=environment(SETTINGS),
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
        too = failing_on_cpu(flags, python, source.parent, [one["test"] for one in came["failed"]])
        for one in came["failed"]:
            one["on CPU"] = one["test"] in too
        settings = " ".join(f"{name}={value}" for name, value in SETTINGS.items())
        command = f"{settings} cuda-run -- python -m pytest {' '.join(tests)}"
        return {"command": command, "seconds": seconds, "left out": {}, **came}


def environment(settings):
    """That of a client: nobody else's, and what it keeps is kept for this run alone."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "PYTEST"))}
    return own | settings | {"CACHELEVEL": "0", "PYTHONDONTWRITEBYTECODE": "1"}


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


def failing_on_cpu(flags, python, folder, tests):
    """Those of the tests that fail on the client's own back end for the CPU, too."""
    # What failed may be no test: a file that is not read, or a process that crashed.
    tests = [test for test in tests if (folder / test.partition("::")[0]).is_file()]
    if not tests:
        return set()
    settings = {"CPU": "1"}
    clang = next((f"clang{end}" for end in ("", "-14", "-19") if on_path(f"clang{end}")), None)
    if clang:
        settings["CC"] = clang
    report = folder / "cpu.xml"
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(flags.jobs), f"--junitxml={report}", *tests]
    subprocess.run([python, *words], cwd=folder, env=environment(settings), capture_output=True, check=False)
    return {one["test"] for one in read(report)["failed"]}


def on_path(program):
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return any((pathlib.Path(folder) / program).exists() for folder in folders)
