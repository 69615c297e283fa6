"""What a collection's programs are: their files, flags and arguments, as their Makefiles have them."""

import dataclasses
import pathlib
import re
import shlex
import subprocess

# Headers of libraries that are no part of the CUDA runtime.
LIBRARIES = {
    "cuBLAS": r"cublas",
    "cuDNN": r"cudnn",
    "cuFFT": r"cufft",
    "cuSPARSE": r"cusparse",
    "cuSOLVER": r"cusolver",
    "cuRAND's host functions": r"curand\.h",
    "Thrust": r"thrust/",
    "CUB": r"cub/",
    "libcu++": r"cuda/(std/|atomic|barrier|pipeline|semaphore|functional|ptx)",
    "NCCL": r"nccl",
    "OpenGL": r"GL/|cuda_gl_interop",
    "MPI": r"mpi\.h",
    "CUTLASS": r"cutlass/|cute/",
    "OpenCV": r"opencv",
    "Boost": r"boost/",
    "GSL": r"gsl/",
    "NVML": r"nvml",
}
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c", ".C")
# What tells that a program's data is to be had elsewhere.
DATA = re.compile(r"\.\./data/|(^|/)data/|\.\./\.\./data/")


@dataclasses.dataclass
class Program:
    collection: str
    name: str
    folder: pathlib.Path
    files: list
    flags: list
    arguments: list

    def smaller(self):
        """Flags of the compiler that make its sizes smaller, the first the least: PolyBench's own names."""
        names = ("SMALL_DATASET", "MINI_DATASET")
        texts = [path.read_text(errors="replace") for path in self.folder.glob("*.cu*") if path.is_file()]
        return [f"-D{name}" for name in names if any(name in text for text in texts)]

    def library(self):
        """The library that it needs, or nothing."""
        texts = [path for path in self.folder.rglob("*") if path.suffix in (*SOURCES, ".h", ".hpp", ".cuh")]
        included = "\n".join(
            line
            for path in texts
            if path.is_file()
            for line in path.read_text(errors="replace").splitlines()
            if line.lstrip().startswith("#") and "include" in line
        )
        for library, header in LIBRARIES.items():
            if re.search(rf'[<"]({header})', included):
                return library
        return None

    def missing(self):
        """A file of data that its arguments name and the collection lacks, or nothing."""
        for word in self.arguments:
            if DATA.search(word) and not (self.folder / word).exists():
                return word
        return None


def programs(name, folder):
    """The programs of a collection, by their names."""
    top = pathlib.Path(folder).resolve()
    for makefile in sorted(top.rglob("Makefile")):
        # The same programs for other compilers.
        if makefile.parent.name.endswith(("-hip", "-sycl", "-omp")):
            continue
        program = read(name, top, makefile.parent)
        if program:
            yield program


def read(collection, top, folder):
    said = dry_run(folder, "run") or dry_run(folder)
    files, flags, arguments = [], [], []
    for line in said.splitlines():
        words = split(line)
        compiles = any(pathlib.Path(word).name in ("nvcc", "NVCC", "g++", "gcc", "c++", "cc") for word in words[:1])
        if compiles:
            files += [word for word in words if word.endswith(SOURCES) and (folder / word).is_file()]
            flags += kept(words)
        elif words and re.match(r"(\./|.*\.(out|exe)$)", words[0]) and not arguments:
            arguments = words[1:]
    own = folder / "run"
    if not arguments and own.is_file():
        lines = [split(line) for line in own.read_text(errors="replace").splitlines()]
        started = [words for words in lines if words and words[0].startswith("./")]
        arguments = started[0][1:] if started else []
    files = list(dict.fromkeys(files))
    if not any(name.endswith(".cu") for name in files):
        return None
    words = list(dict.fromkeys(flags))
    return Program(collection, str(folder.relative_to(top)).removesuffix("-cuda"), folder, files, words, arguments)


def dry_run(folder, *targets):
    """What make would do, with a compiler that stands for NVIDIA's."""
    command = ["make", "-n", "-B", "-k", *targets, "CC=nvcc", "NVCC=nvcc", "LAUNCHER="]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.replace("\\\n", " ")


def split(line):
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return []


def kept(words):
    """What of a compiler's flags the sources need."""
    flags = []
    for place, word in enumerate(words):
        if word in ("-I", "-D") and place + 1 < len(words):
            flags.append(word + words[place + 1])
        elif re.match(r"-[ID].|-std=|--std=|-use_fast_math|--use_fast_math|-l(m|pthread|gomp)$", word):
            flags.append(word.replace("--", "-", 1) if word.startswith("--std") else word)
        elif word in ("-fopenmp", "-fopenmp=libgomp"):
            flags.append("-Xcompiler=-fopenmp")
    return flags
