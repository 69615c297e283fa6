"""Dr.Jit from PyPI, and those tests of its repository that use its CUDA back end.

Dr.Jit compiles most kernels itself, to PTX, and loads its other kernels (reductions, prefix sums, matrix
multiplications) from PTX in its package that nvcc generated. The simulator does not run such PTX. So the core library
is built here from the repository's source, with these kernels compiled by clang.
"""

import concurrent.futures
import re
import shutil
import sys

from . import programs
from .install import Missing, once, quietly
from .python import PYTEST, environment
from .triton import HEADERS, clang

VERSION = "1.5.0"
REPOSITORY = "https://github.com/mitsuba-renderer/drjit"

# Operands of inline assembly that lack a comma between them, which nvcc accepts and clang does not.
NO_COMMA = re.compile(r'("=?[lr]"\(\w+\))(?=\s*\n\s*"=?[lr]"\()')

DEFINITIONS = ["BUILD=1", "ENABLE_CUDA=1", "ENABLE_LLVM=1", "ENABLE_OPTIX=1", "DYNAMIC_CUDA=1", "DYNAMIC_LLVM=1"]


def install(flags):
    """Installs the package into its own virtual environment, and replaces its core library."""
    source = programs.sources(flags, "Dr.Jit", REPOSITORY, f"v{VERSION} --recurse-submodules", "ext/drjit-core")
    if not shutil.which("g++"):
        raise Missing("building Dr.Jit's core library needs g++: apt-get install g++")

    def make(folder):
        pip = environment(folder, sys.executable)
        quietly([*pip, "install", *PYTEST, "numpy==2.2.6", f"drjit=={VERSION}"], folder)
        package = next(folder.glob("environment/lib/python*/site-packages/drjit"))
        core = folder / "core"
        shutil.rmtree(core, ignore_errors=True)
        shutil.copytree(source, core)
        kernels(core)
        library(core, package, flags.jobs)

    return once(flags.folder / f"drjit-{VERSION}", make)


def kernels(core):
    """Compiles the kernels with clang, and packs them with the repository's own program."""
    resources = core / "resources"
    common = resources / "common.h"
    common.write_text(NO_COMMA.sub(r"\1,", common.read_text(encoding="utf-8")), encoding="utf-8")
    words = ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_75", "-O3", "-w"]
    words += ["-Xclang", "-target-feature", "-Xclang", "+ptx75", "-std=c++14", "-isystem", HEADERS]
    # The library loads each kernel alone, so no kernel may call a function.
    words += ["-mllvm", "-inline-threshold=1000000", "-include", "cuda_runtime.h"]
    quietly([clang(), *words, "-S", "kernels.cu", "-o", "kernels_75.ptx"], resources)
    lz4 = [core / "ext/lz4" / name for name in ("lz4hc.c", "lz4.c", "xxhash.c")]
    quietly(["gcc", "-O2", "-w", "pack.c", *lz4, "-o", "pack", "-I", core / "ext/lz4"], resources)
    quietly(["./pack"], resources)
    for name in ("kernels_75", "kernels_dict"):
        data = ",".join(map(str, (resources / f"{name}.lz4").read_bytes()))
        # `pack` declares the data as characters, which are signed.
        text = f'#include "resources/kernels.h"\nconst char {name}[] = {{ {data} }};\n'
        (core / f"{name}.c").write_text(text, encoding="utf-8")


def library(core, package, jobs):
    """Builds the core library in place of the package's."""
    sources = [path for path in sorted((core / "src").glob("*.cpp")) if not path.name.startswith("metal")]
    sources += [core / "ext/lz4/lz4.c", core / "ext/lz4/xxhash.c", core / "kernels_75.c", core / "kernels_dict.c"]
    # The package's other libraries take this function of newer C++ libraries from the core library.
    (core / "terminate.cpp").write_text(
        '#include <exception>\nextern "C" __attribute__((visibility("default"))) void __cxa_call_terminate(void *) '
        "{ std::terminate(); }\n",
        encoding="utf-8",
    )
    sources += [core / "terminate.cpp"]
    includes = ["include", ".", "ext/nanothread/include", "ext/robin_map/include", "ext/lz4"]
    words = ["-O1", "-w", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-DLZ4LIB_VISIBILITY="]
    words += [f"-DDRJIT_{definition}" for definition in DEFINITIONS]
    words += [word for path in includes for word in ("-I", core / path)]

    def compiled(source):
        output = source.with_suffix(source.suffix + ".o")
        compiler = ["gcc"] if source.suffix == ".c" else ["g++", "-std=c++17"]
        quietly([*compiler, *words, "-c", source, "-o", output], core)
        return output

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        objects = list(pool.map(compiled, sources))
    built = package / "libdrjit-core.so"
    link = ["-shared", "-Wl,-rpath,$ORIGIN", f"-Wl,-soname,{built.name}", "-o", built]
    quietly(["g++", *objects, *link, package / "libnanothread.so", "-lpthread", "-ldl"], core)


def checkout(flags, _):
    """Returns the folder of Dr.Jit's repository, whose package lacks the tests."""
    return programs.sources(flags, "Dr.Jit", REPOSITORY, f"v{VERSION}", ".")
