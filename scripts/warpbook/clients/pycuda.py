"""PyCUDA from PyPI, whose source package contains its tests, compiled with this project's header and library."""

import os
import pathlib
import shlex
import shutil
import sys
import tarfile

from .crates import Suite as Crate
from .install import Missing, once, quietly
from .python import PYTEST, environment
from .pytests import with_path
from .triton import HEADERS, clang

VERSION = "2026.1"
HERE = pathlib.Path(__file__).parent

# PyCUDA's configuration. Its OpenGL part is not built.
CONFIGURATION = """CUDA_ROOT = {root!r}
CUDA_INC_DIR = [{headers!r}]
CUDADRV_LIB_DIR = CURAND_LIB_DIR = [{root!r} + "/lib64"]
CUDADRV_LIBNAME = ["cuda"]
CURAND_LIBNAME = ["curand"]
CUDA_ENABLE_CURAND = True
CUDA_ENABLE_GL = False
CXXFLAGS = ["-w", "-O1", "-include", {root!r} + "/include/scrambled.h"]
LDFLAGS = ["-Wl,-rpath," + {root!r} + "/lib64"]
USE_SHIPPED_BOOST = True
"""

# The functions of cuRAND's host library that PyCUDA calls. The tables of quasi-random generators are not given.
CURAND = """int curandGetVersion(int *version) { *version = 10300; return 0; }
int curandGetDirectionVectors32(void *vectors, int set) { return 204; }
int curandGetScrambleConstants32(void *constants) { return 204; }
int curandGetDirectionVectors64(void *vectors, int set) { return 204; }
int curandGetScrambleConstants64(void *constants) { return 204; }
"""

# Functions among them that this project's header lacks. One file is compiled without that header's folder.
SCRAMBLED = """#if __has_include(<curand.h>)
#include <curand.h>
extern "C" curandStatus_t curandGetScrambleConstants32(unsigned int **constants);
extern "C" curandStatus_t curandGetScrambleConstants64(unsigned long long **constants);
#endif
"""


def install(flags):
    """Builds PyCUDA in its own virtual environment, next to its source with tests."""
    if not shutil.which("g++"):
        raise Missing("PyCUDA's extension needs g++: apt-get install g++")

    def make(folder):
        pip = environment(folder, sys.executable)
        packages = ["numpy==2.2.6", "setuptools==80.9.0", "wheel==0.45.1", "pytools==2025.2.4", "mako==1.3.10"]
        quietly([*pip, "install", *PYTEST, *packages, "platformdirs==4.4.0"], folder)
        words = ["--no-deps", "--no-build-isolation", "--no-binary", "pycuda"]
        quietly([*pip, "download", *words, f"pycuda=={VERSION}"], folder)
        with tarfile.open(folder / f"pycuda-{VERSION}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
        source = folder / f"pycuda-{VERSION}"
        root = Crate.toolkit(flags, source)
        # The header of this project, instead of the empty one of other clients' toolkits.
        (root / "include/cuda.h").unlink()
        (root / "curand.c").write_text(CURAND, encoding="utf-8")
        (root / "include/scrambled.h").write_text(SCRAMBLED, encoding="utf-8")
        quietly(["gcc", "-shared", "-fPIC", "curand.c", "-o", "lib64/libcurand.so"], root)
        configuration = CONFIGURATION.format(root=str(root), headers=str(HEADERS))
        (source / "siteconf.py").write_text(configuration, encoding="utf-8")
        settings = os.environ | {"CUDA_ROOT": str(root), "CC": "gcc"}
        quietly([*pip, "install", "--no-deps", "--no-build-isolation", "."], source, env=settings)

    return once(flags.folder / f"pycuda-{VERSION}", make)


def tests(_, folder):
    """Returns the folder of the tests."""
    return folder / f"pycuda-{VERSION}/test"


def settings(_, folder):
    """Returns the settings with which PyCUDA calls our stand-in for nvcc."""
    compiler = [clang(), "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-O3", "-w"]
    # nvcc does not examine whether constexpr functions can be constant.
    compiler += ["-Wno-invalid-constexpr", "-Xclang", "-target-feature", "-Xclang", "+ptx75"]
    compiler += ["-isystem", str(HEADERS), "-include", "cuda_runtime.h"]
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    cache = folder / "cache"
    cache.mkdir(exist_ok=True)
    link = programs / "nvcc"
    link.unlink(missing_ok=True)
    link.symlink_to(HERE / "nvcc")
    return {
        "CLIENT_CLANG": shlex.join(compiler),
        "PATH": with_path(programs),
        "PYCUDA_CACHE_DIR": str(cache),
    }
