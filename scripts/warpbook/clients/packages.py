"""Clients from PyPI with their tests."""

import dataclasses
import os
import pathlib
import sys
import tarfile

from . import programs
from .install import Missing, once, quietly
from .python import PYTEST, environment, imports, pytest

# The packages for running the tests.
TOOLS = [*PYTEST, "hypothesis==6.140.0"]

# Used if the system has no numpy.
NUMPY = "numpy==1.26.4"

# tinygrad's back end for CUDA that generates PTX itself.
SETTINGS = {"CUDA": "1", "CUDA_PTX": "1"}


def installed(name, version):
    """Returns a function that installs the package into its own virtual environment, next to its source with tests."""

    def install(flags):
        # Use the system's torch, which is built for the CPU: PyPI's installs NVIDIA's libraries.
        with_torch = imports(flags.python, "torch")

        def make(folder):
            pip = environment(folder, flags.python if with_torch else sys.executable, with_torch)
            quietly([*pip, "install", "--no-deps", f"{name}=={version}"], folder)
            quietly([*pip, "install", *TOOLS, *([] if with_torch else [NUMPY])], folder)
            quietly([*pip, "download", "--no-deps", "--no-binary", ":all:", f"{name}=={version}"], folder)
            with tarfile.open(folder / f"{name}-{version}.tar.gz") as archive:
                archive.extractall(folder, filter="data")

        return once(flags.folder / f"{name}-{version}{'' if with_torch else '-without-torch'}", make)

    return install


@dataclasses.dataclass
class Suite:
    """Test files for pytest."""

    name: str
    ci: bool
    files: list
    known: dict
    torch: bool = True  # true if the tests compare results with torch
    devices: int = 1  # GPUs of the simulated machine
    repository: tuple = ()  # name, URL and commit, if the package lacks files that the tests import

    @staticmethod
    def key(test):
        """Returns the key of a test in `known`."""
        return test.rpartition("::")[2]

    def run(self, flags, folder):
        if self.torch and not imports(folder / "environment/bin/python", "torch"):
            raise Missing(f"{flags.python} has no torch, which its tests need: apt-get install python3-torch")
        if self.repository:
            source = programs.sources(flags, *self.repository, "test")
        else:
            source = next(path for path in folder.glob("*/test") if path.is_dir())
        tests = [f"test/{file}" for file in self.files]
        python = folder / "environment/bin/python"
        devices = ["--devices", str(self.devices)] if self.devices > 1 else []
        command = [flags.program, "--quiet", *devices, "--", python]
        report = folder / "report.xml"
        seconds, outcomes = pytest(command, source.parent, SETTINGS | common_settings(), flags.jobs, report, tests)
        on_cpu = failing_on_cpu(flags, python, source.parent, [test["test"] for test in outcomes["failed"]])
        for test in outcomes["failed"]:
            test["on CPU"] = test["test"] in on_cpu
        settings = " ".join(f"{name}={value}" for name, value in SETTINGS.items())
        command = " ".join([settings, "cuda-run", *devices, "-- python -m pytest", *tests])
        return {"command": command, "seconds": seconds, "left out": {}, **outcomes}


def common_settings():
    """Returns settings that disable the persistent cache and, if clang is available, let the CPU back end find it."""
    clang = next((f"clang{end}" for end in ("", "-14", "-19") if on_path(f"clang{end}")), None)
    return {"CACHELEVEL": "0"} | ({"CC": clang} if clang else {})


def failing_on_cpu(flags, python, folder, tests):
    """Returns the tests that also fail on the client's own CPU back end."""
    # An entry may not be a test, but a file that cannot be read or a crashed process.
    tests = [test for test in tests if (folder / test.partition("::")[0]).is_file()]
    if not tests:
        return set()
    settings = {"CPU": "1"} | common_settings()
    _, outcomes = pytest([python], folder, settings, flags.jobs, folder / "cpu.xml", tests)
    return {test["test"] for test in outcomes["failed"]}


def on_path(program):
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return any((pathlib.Path(folder) / program).exists() for folder in folders)
