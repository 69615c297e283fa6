"""Triton from PyPI, and our own tests of its compiler and kernels."""

import dataclasses
import pathlib
import shutil
import sys
import sysconfig

from . import programs
from .install import Missing, once, quietly
from .python import PYTEST, environment, imports, pytest

HERE = pathlib.Path(__file__).parent
TESTS = HERE / "triton_tests"
HEADERS = HERE.parents[2] / "kernels/include"

# Triton compiles for the device that it finds: here, compute capability 8.6.
DEVICE = "rtx3090"


def installed(version):
    """Returns a function that installs Triton into its own virtual environment, without its parts from NVIDIA."""

    def make(folder):
        # Triton compiles its launcher as a Python module.
        if not any(map(shutil.which, ("cc", "gcc", "clang"))):
            raise Missing("Triton needs a C compiler: apt-get install gcc")
        if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists():
            raise Missing(f"Triton needs the headers of {sys.executable}: apt-get install python3-dev")
        pip = environment(folder, sys.executable)
        quietly([*pip, "install", "--no-deps", f"triton=={version}"], folder)
        quietly([*pip, "install", *PYTEST, "numpy==2.2.6"], folder)
        without_nvidia(next(folder.glob("environment/lib/python*/site-packages/triton/backends/nvidia")))

    return lambda flags: once(flags.folder / f"triton-{version}", make)


def without_nvidia(backend):
    """Removes NVIDIA's assembler, and replaces its library of device functions by a file that cannot be linked, so
    that a kernel that calls one of them fails in Triton."""
    shutil.rmtree(backend / "bin")
    shutil.rmtree(backend / "lib/cupti", ignore_errors=True)
    (backend / "lib/libdevice.10.bc").write_text("not given: see scripts/clients\n", encoding="utf-8")


def clang():
    """Returns the name of the installed clang."""
    if found := next(filter(shutil.which, ("clang-14", "clang-19", "clang")), None):
        return found
    raise Missing("the replacements of NVIDIA's device code need clang: apt-get install clang-14")


def mathematics(folder):
    """Compiles this project's device functions to LLVM bitcode that replaces libdevice, and returns its path."""
    library = folder / "mathematics.bc"
    words = ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_80", "-O2"]
    # Flush subnormal numbers, as Triton's libdevice does.
    words += ["-fcuda-flush-denormals-to-zero", "-Xclang", "-target-feature", "-Xclang", "+ptx64"]
    words += ["-isystem", HEADERS, "-c", "-emit-llvm", HERE / "libdevice.cu", "-o", library]
    quietly([clang(), *words], folder)
    return library


REPOSITORY = "https://github.com/triton-lang/triton"
# The newest commit of 2026-08-22, before the branch of release 3.9.0.
COMMIT = "f4fca2c0bc0e19930d2be76bb06ee7b232b60e86"


def with_torch(version):
    """Returns a function that installs Triton next to the system's torch, which is built for the CPU."""

    def make(flags):
        if not imports(flags.python, "torch"):
            raise Missing(f"{flags.python} has no torch, which its tests need: apt-get install python3-torch")

        def fill(folder):
            pip = environment(folder, flags.python, system=True)
            quietly([*pip, "install", "--no-deps", f"triton=={version}"], folder)
            quietly([*pip, "install", *PYTEST, "cloudpickle==3.1.2", "expecttest==0.3.0"], folder)
            without_nvidia(next(folder.glob("environment/lib/python*/site-packages/triton/backends/nvidia")))

        return once(flags.folder / f"triton-{version}-with-torch", fill)

    return make


def checkout(flags, _):
    """Returns the folder of Triton's repository, whose package lacks the tests."""
    return programs.sources(flags, "Triton's tests", REPOSITORY, COMMIT, ".")


def settings(_, folder):
    """Returns the environment variables of Triton's tests."""
    return {"TRITON_CACHE_DIR": str(folder / "cache"), "TRITON_LIBDEVICE_PATH": str(mathematics(folder))}


@dataclasses.dataclass
class Suite:
    """A file of tests."""

    name: str
    ci: bool
    file: str
    known: dict

    @staticmethod
    def key(test):
        """Returns the key of a test in `known`."""
        return test.rpartition("::")[2]

    def run(self, flags, folder):
        command = [flags.program, "--quiet", "--device", DEVICE, "--", folder / "environment/bin/python"]
        # Start with an empty cache, so that everything is compiled.
        cache = folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        settings = {"TRITON_CACHE_DIR": str(cache), "TRITON_DEFAULT_FP_FUSION": "1"}
        settings["TRITON_LIBDEVICE_PATH"] = str(mathematics(folder))
        seconds, outcomes = pytest(command, TESTS, settings, flags.jobs, folder / "report.xml", [self.file])
        shown = f"cuda-run --device {DEVICE} -- python -m pytest {self.file}"
        return {"command": shown, "seconds": seconds, "left out": {}, **outcomes}
