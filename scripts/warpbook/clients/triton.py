"""Triton from PyPI, and tests of ours that run its compiler and its kernels."""

import dataclasses
import pathlib
import shutil
import sys
import sysconfig

from .install import Missing, once, quietly
from .python import PYTEST, environment, pytest

HERE = pathlib.Path(__file__).parent
TESTS = HERE / "triton_tests"
HEADERS = HERE.parents[2] / "kernels/include"

# Triton compiles for what it finds: here, compute capability 8.6.
DEVICE = "rtx3090"


def installed(version):
    """What brings Triton into an environment of its own, without what NVIDIA has in it."""

    def make(folder):
        # Triton compiles what launches its kernels, as a module of Python.
        if not any(map(shutil.which, ("cc", "gcc", "clang"))):
            raise Missing("Triton takes a compiler of C: apt-get install gcc")
        if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists():
            raise Missing(f"Triton takes the headers of {sys.executable}: apt-get install python3-dev")
        pip = environment(folder, sys.executable)
        quietly([*pip, "install", "--no-deps", f"triton=={version}"], folder)
        quietly([*pip, "install", *PYTEST, "numpy==2.2.6"], folder)
        without_nvidia(next(folder.glob("environment/lib/python*/site-packages/triton/backends/nvidia")))

    return lambda flags: once(flags.folder / f"triton-{version}", make)


def without_nvidia(backend):
    """Takes NVIDIA's assembler away, and puts a file that cannot be linked in place of its library of device functions:
    a kernel that calls one of them is an error of Triton's."""
    shutil.rmtree(backend / "bin")
    shutil.rmtree(backend / "lib/cupti", ignore_errors=True)
    (backend / "lib/libdevice.10.bc").write_text("not given: see scripts/clients\n", encoding="utf-8")


def mathematics(folder):
    """This project's own functions, as LLVM's bitcode that can be linked in libdevice's place."""
    clang = next(filter(shutil.which, ("clang-14", "clang-19", "clang")), None)
    if not clang:
        raise Missing("the functions in libdevice's place take clang: apt-get install clang-14")
    library = folder / "mathematics.bc"
    words = ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_80", "-O2"]
    # As Triton has it of libdevice.
    words += ["-fcuda-flush-denormals-to-zero", "-Xclang", "-target-feature", "-Xclang", "+ptx64"]
    words += ["-isystem", HEADERS, "-c", "-emit-llvm", HERE / "libdevice.cu", "-o", library]
    quietly([clang, *words], folder)
    return library


@dataclasses.dataclass
class Suite:
    """A file of tests."""

    name: str
    ci: bool
    file: str
    known: dict

    @staticmethod
    def key(test):
        """What `known` has for a test."""
        return test.rpartition("::")[2]

    def run(self, flags, folder):
        command = [flags.program, "--quiet", "--device", DEVICE, "--", folder / "environment/bin/python"]
        # Nothing that was compiled before is taken.
        cache = folder / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        settings = {"TRITON_CACHE_DIR": str(cache), "TRITON_DEFAULT_FP_FUSION": "1"}
        settings["TRITON_LIBDEVICE_PATH"] = str(mathematics(folder))
        seconds, came = pytest(command, TESTS, settings, flags.jobs, folder / "report.xml", [self.file])
        told = f"cuda-run --device {DEVICE} -- python -m pytest {self.file}"
        return {"command": told, "seconds": seconds, "left out": {}, **came}
