"""What a collection's programs are: their files, flags and arguments, as their Makefiles have them."""

import dataclasses
import functools
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
    "PyTorch": r"torch/|ATen/|c10/",
    "FFTW": r"fftw",
    "TBB": r"tbb/",
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

    @property
    def key(self):
        return self.collection, self.name

    def record(self, result, **more):
        return {"collection": self.collection, "program": self.name, "result": result} | more

    def needs(self):
        """What it needs that is not there, or nothing."""
        missing = self.missing()
        return self.library() or (missing and f"data: {pathlib.Path(missing).name}")

    def sources(self):
        """All files of code in its folder."""
        suffixes = (*SOURCES, ".h", ".hpp", ".cuh")
        return [path for path in sorted(self.folder.rglob("*")) if path.suffix in suffixes and path.is_file()]

    @functools.cached_property
    def text(self):
        """All its code."""
        return "\n".join(path.read_text(errors="replace") for path in self.sources())

    def included(self):
        """What its code includes, that of other folders' code which it includes by their names as well."""
        lines = [line for line in self.text.splitlines() if line.lstrip().startswith("#") and "include" in line]
        others = [self.folder / name for line in lines for name in re.findall(r'"(\.\./[^"]+)"', line)]
        return "\n".join([*lines, *(path.read_text(errors="replace") for path in others if path.is_file())])

    def library(self):
        """The library that it needs, or nothing."""
        included = self.included()
        for library, header in LIBRARIES.items():
            if re.search(rf'[<"]({header})', included):
                return library
        return None

    def missing(self):
        """A file of data that its arguments name and the collection lacks, or nothing."""
        return lacking(self.folder, self.arguments)


def programs(name, folder):
    """The programs of a collection, by their names."""
    top = pathlib.Path(folder).resolve()
    for makefile in sorted(path for path in top.rglob("[Mm]akefile") if path.is_file()):
        # The same programs for other compilers.
        if any(part.endswith(("-hip", "-sycl", "-omp")) for part in makefile.parent.parts):
            continue
        program = read(name, top, makefile.parent)
        if program:
            yield program


def read(collection, top, folder):
    said = dry_run(folder, "run")
    if not any(compiles(split(line)) for line in said.splitlines()):
        said = dry_run(folder)
    commands = started(said) or started(written(folder))
    # One whose data is there, if any is.
    command = next((words for words in commands if not lacking(folder, words)), (commands or [[]])[0])
    lines = [words for line in said.splitlines() if compiles(words := split(line))]
    # Of several programs the one that is run.
    linked = [words for words in lines if "-c" not in words and named(folder, words)]
    if len(linked) > 1:
        wanted = pathlib.Path(command[0]).name if command else ""
        lines = [words for words in linked if output(words) == wanted] or linked[:1]
    files = list(dict.fromkeys(name for words in lines for name in named(folder, words)))
    if not any(name.endswith(".cu") for name in files):
        return None
    flags = list(dict.fromkeys(flag for words in lines for flag in kept(words)))
    name = str(folder.relative_to(top)).removesuffix("-cuda")
    return Program(collection, name, folder, files, flags, command[1:])


def compiles(words):
    compilers = ("nvcc", "g++", "gcc", "c++", "cc")
    return any(pathlib.Path(word).name in compilers for word in words[:1])


def named(folder, words):
    """The files of code in a compiler's command."""
    return [word for word in words if word.endswith(SOURCES) and (folder / word).is_file()]


def output(words):
    return next((pathlib.Path(after).name for word, after in zip(words, words[1:]) if word == "-o"), "")


def written(folder):
    """How a program is run, where a file beside it or above says so."""
    files = [path for path in (folder / "run", folder.parent / "run") if path.is_file()]
    return files[0].read_text(errors="replace") if files else ""


def started(text):
    """The commands that start a program of the folder's own."""
    found = []
    for line in text.splitlines():
        words = split(line)
        if words and re.match(r"\./|[\w/]+_cuda$|.*\.(out|exe)$", words[0]):
            found.append(words[: words.index(">")] if ">" in words else words)
    return found


def lacking(folder, words):
    """A file of data among the words that is not there, or nothing."""
    return next((word for word in words if DATA.search(word) and not (folder / word).exists()), None)


def dry_run(folder, *targets):
    """What make would do, with a compiler that stands for NVIDIA's."""
    command = ["make", "-n", "-B", "-k", *targets, "CC=nvcc", "NVCC=nvcc", "LAUNCHER=", "VERIFY=yes"]
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
        elif word in ("-dc", "-rdc=true", "--rdc=true"):
            # -dc makes an object of each file; here they are compiled and linked at once.
            flags.append("-rdc=true")
        elif word in ("-fopenmp", "-fopenmp=libgomp"):
            flags.append("-Xcompiler=-fopenmp")
    return flags
