"""Clients from PyPI, and their tests."""

import dataclasses
import os
import pathlib
import sys
import tarfile

from . import programs
from .install import Missing, once, quietly
from .python import PYTEST, environment, imports, pytest

# What the tests are run with.
TOOLS = [*PYTEST, "hypothesis==6.140.0"]

# Where the system has none.
NUMPY = "numpy==1.26.4"

# tinygrad's back end for CUDA, which makes PTX itself.
SETTINGS = {"CUDA": "1", "CUDA_PTX": "1"}


def installed(name, version):
    """What brings the package into an environment of its own, and its source with the tests beside it."""

    def install(flags):
        # torch is the system's, which is made for the CPU alone: PyPI's brings NVIDIA's libraries.
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
    """Files of tests, as pytest runs them."""

    name: str
    ci: bool
    files: list
    known: dict
    torch: bool = True  # whether the tests compare with it
    devices: int = 1  # GPUs that the simulated machine has
    repository: tuple = ()  # of which and at what commit, where the package lacks what the tests include

    @staticmethod
    def key(test):
        """What `known` has for a test."""
        return test.rpartition("::")[2]

    def run(self, flags, folder):
        if self.torch and not imports(folder / "environment/bin/python", "torch"):
            raise Missing(f"{flags.python} has no torch, with which its tests compare: apt-get install python3-torch")
        if self.repository:
            source = programs.sources(flags, *self.repository, "test")
        else:
            source = next(path for path in folder.glob("*/test") if path.is_dir())
        tests = [f"test/{file}" for file in self.files]
        python = folder / "environment/bin/python"
        devices = ["--devices", str(self.devices)] if self.devices > 1 else []
        command = [flags.program, "--quiet", *devices, "--", python]
        report = folder / "report.xml"
        seconds, came = pytest(command, source.parent, SETTINGS | always(), flags.jobs, report, tests)
        too = failing_on_cpu(flags, python, source.parent, [one["test"] for one in came["failed"]])
        for one in came["failed"]:
            one["on CPU"] = one["test"] in too
        settings = " ".join(f"{name}={value}" for name, value in SETTINGS.items())
        command = " ".join([settings, "cuda-run", *devices, "-- python -m pytest", *tests])
        return {"command": command, "seconds": seconds, "left out": {}, **came}


def always():
    """What it keeps is kept for this run alone; and where there is a clang, its own back end for the CPU finds it."""
    clang = next((f"clang{end}" for end in ("", "-14", "-19") if on_path(f"clang{end}")), None)
    return {"CACHELEVEL": "0"} | ({"CC": clang} if clang else {})


def failing_on_cpu(flags, python, folder, tests):
    """Those of the tests that fail on the client's own back end for the CPU, too."""
    # What failed may be no test: a file that is not read, or a process that crashed.
    tests = [test for test in tests if (folder / test.partition("::")[0]).is_file()]
    if not tests:
        return set()
    settings = {"CPU": "1"} | always()
    _, came = pytest([python], folder, settings, flags.jobs, folder / "cpu.xml", tests)
    return {one["test"] for one in came["failed"]}


def on_path(program):
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return any((pathlib.Path(folder) / program).exists() for folder in folders)
