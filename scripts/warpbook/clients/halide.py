"""Halide from PyPI, and those correctness tests of its repository that use a GPU."""

import concurrent.futures
import dataclasses
import re
import shutil

from . import programs
from .install import Missing, once, quietly

VERSION = "21.0.0"
REPOSITORY = "https://github.com/halide/Halide"

# A test whose source contains none of these schedules nothing on a GPU.
ON_GPU = re.compile(r"\bgpu_(tile|blocks|threads|lanes|single_thread)\b|has_gpu_feature|Target::CUDA")

# Capabilities of the modelled GPU, or lower; Halide has no feature flag for 9.0. Kernels are compiled for the
# highest; one test requires 6.1 by name.
TARGET = "host-cuda-cuda_capability_61-cuda_capability_80"

# Halide takes these functions from NVIDIA's libdevice (src/runtime/ptx_dev.ll): sqrt, sin, exp, floor, fast_pow
# and similar ones. None of it is run here.
LIBDEVICE = "its kernels call functions that Halide takes from NVIDIA's libdevice"
LEFT_OUT = {
    test: LIBDEVICE
    for test in (
        "custom_cuda_context",
        "float16_t",
        "gpu_f16_intrinsics",
        "gpu_free_sync",
        "gpu_multi_kernel",
        "interpreter",
        "inverse",
        "isnan",
        "math",
        "multiple_outputs",
        "register_shuffle",
        "round",
    )
}


def install(flags):
    """Installs the package into its own virtual environment."""
    programs.sources(flags, "Halide", REPOSITORY, f"v{VERSION}", "test/correctness")
    if not shutil.which("g++"):
        raise Missing("its tests are in C++, but g++ is not installed: apt-get install g++")

    def make(folder):
        quietly([flags.python, "-m", "venv", "environment"], folder)
        pip = [folder / "environment/bin/python", "-m", "pip", "--quiet"]
        quietly([*pip, "install", "--no-deps", f"halide=={VERSION}"], folder)
        # Precompile its long header, which every test includes.
        package = next(folder.glob("environment/lib/python*/site-packages/halide"))
        (folder / "halide").symlink_to(package)
        shutil.copy(package / "include/Halide.h", folder / "first.h")
        quietly([*COMPILER, "-x", "c++-header", "first.h", "-o", "first.h.gch"], folder)

    return once(flags.folder / f"halide-{VERSION}", make)


COMPILER = ["g++", "-std=c++17", "-O0", "-w"]


@dataclasses.dataclass
class Suite:
    """Halide's correctness tests."""

    name: str
    ci: bool
    known: dict

    @staticmethod
    def key(test):
        """Returns the key of a test in `known`."""
        return test

    def run(self, flags, folder):
        sources = programs.sources(flags, "Halide", REPOSITORY, f"v{VERSION}", "test/correctness")
        texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in sorted(sources.glob("*.cpp"))}
        tests = [path for path, text in texts.items() if ON_GPU.search(text) and path.stem not in LEFT_OUT]
        (folder / "tests").mkdir(exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
            list(pool.map(lambda test: build(folder, test), tests))
        environment = {"HL_JIT_TARGET": TARGET, "HL_TARGET": TARGET}
        runs = [
            programs.Program(test.stem, [folder / "tests" / test.stem], folder / "runs" / test.stem, environment)
            for test in tests
        ]
        command = f"HL_JIT_TARGET={TARGET} cuda-run -- TEST"
        return {"command": command, "left out": LEFT_OUT, **programs.run(flags, runs, "[SKIP]", folder)}


def build(folder, test):
    program = folder / "tests" / test.stem
    if program.exists() and program.stat().st_mtime > test.stat().st_mtime:
        return
    libraries = folder / "halide/lib64"
    # The package is built with exceptions, as its CMake file declares.
    words = ["-DHALIDE_WITH_EXCEPTIONS", "-include", "first.h", "-I", ".", "-I", test.parent.parent / "common"]
    words += ["-I", "halide/include", "-I", "halide/share/tools", test, "-o", program, "-rdynamic"]
    words += ["-L", libraries, "-lHalide", f"-Wl,-rpath,{libraries}", "-lpthread", "-ldl"]
    quietly([*COMPILER, *words], folder)
