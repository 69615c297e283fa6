"""A program of a collection: its files, flags and arguments, and what it needs."""

import dataclasses
import functools
import pathlib
import re

# Headers of libraries that cuda-run provides or finds.
PROVIDED = {
    "cuBLAS": r"cublas",
    "cuFFT": r"cufft",
    "cuRAND": r"curand\.h",
    "Thrust": r"thrust/",
    "CUB": r"cub/",
    "libcu++": r"cuda/(std/|atomic|barrier|pipeline|semaphore|functional|ptx)|cooperative_groups/memcpy_async",
    "NVRTC": r"nvrtc",
    "NVTX": r"nvtx3|nvToolsExt",
}
# Headers of other libraries that do not belong to the CUDA runtime.
LIBRARIES = {
    "MathDx": r"(cublas|cufft|cusolver|curand)dx",
    "cuDNN": r"cudnn",
    "cuSPARSE": r"cusparse",
    "cuSOLVER": r"cusolver",
    "cuTENSOR": r"cutensor",
    "cuDSS": r"cudss",
    "cuEST": r"cuest",
    "cuPQC": r"cupqc|cuhash",
    "cuFile": r"cufile",
    "cuFFTMp": r"cufftMp",
    "NPP": r"npp",
    "nvJPEG and other codecs": r"(?i:nvjpeg)|nvtiff|nvcomp|nvimgcodec",
    "nvJitLink": r"nvJitLink",
    "nvFatbin": r"nvFatbin",
    "libNVVM": r"nvvm\.h",
    "NVML": r"nvml",
    "NVSHMEM": r"nvshmem",
    "NvSci": r"nvsci",
    "TensorRT": r"NvInfer",
    "NCCL": r"nccl",
    "CUPTI": r"cupti",
    "Direct3D": r"d3d\d+",
    "Vulkan": r"vulkan/|Vulkan",
    "EGL": r"EGL/|cuda_egl_interop|cudaEGL",
    "OpenGL": r"GL/|GLFW/|GLES|GLUT/|cuda_gl_interop|helper_gl|glad/|gl_helper",
    "MPI": r"mpi\.h",
    "CUTLASS": r"cutlass/|cute/",
    "OpenCV": r"opencv",
    "Boost": r"boost/",
    "GSL": r"gsl/",
    "FreeImage": r"FreeImage",
    "libpng": r"png\.h",
    "OpenACC": r"openacc\.h",
    "NVBench": r"nvbench/",
    "cuDLA": r"cudla",
    "PyTorch": r"torch/|ATen/|c10/",
    "Python": r"Python\.h|pybind11",
    "FFTW": r"fftw3",
    "TBB": r"tbb/",
    "OpenCL": r"CL/",
    "HIP": r"hip/",
    "Eigen": r"Eigen/",
    "Google Benchmark": r"benchmark/benchmark\.h",
    "ThunderKittens": r"kittens\.cuh",
}
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c", ".C")
HEADERS = (".h", ".hpp", ".cuh")
# Paths of input data, which may have to be downloaded separately.
DATA = re.compile(r"\.\./data/|(^|/)data/|\.\./\.\./data/")
INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", re.M)


@dataclasses.dataclass
class Program:
    name: str
    folder: pathlib.Path
    files: list
    flags: list
    arguments: list
    collection: str = ""
    # The clone of its collection.
    top: pathlib.Path = pathlib.Path()
    # The sources that belong to it, if these are not all of its folder.
    sources: list | None = None
    # Values for variables and macros of its sources that set its size, for a run that takes less time.
    smaller: dict = dataclasses.field(default_factory=dict)
    # The reason for which it is not run, if the collection's list gives one.
    left_out: str | None = None

    @property
    def key(self):
        return self.collection, self.name

    def record(self, result, **more):
        uses = {"uses": uses} if (uses := self.uses()) else {}
        return {"collection": self.collection, "program": self.name, "result": result} | uses | more

    def needs(self):
        """Returns the library or data file that the program needs and that is missing, or `None`."""
        missing = missing_data(self.folder, self.arguments)
        return self.left_out or self.library(LIBRARIES) or (missing and f"data: {pathlib.Path(missing).name}")

    def uses(self):
        """Returns the provided library that the program uses, or `None`."""
        return self.library(PROVIDED)

    @functools.cached_property
    def text(self):
        """The text of all source files."""
        paths = self.sources
        if paths is None:
            paths = sorted(self.folder.rglob("*"))
        texts = [path for path in paths if path.suffix in (*SOURCES, *HEADERS) and path.is_file()]
        return "\n".join(map(read, texts))

    @functools.cached_property
    def headers(self):
        """The headers that the program includes, also from files of other folders."""
        included = INCLUDE.findall(self.text)
        others = [self.folder / name for quote, name in included if quote == '"' and name.startswith("../")]
        more = [INCLUDE.findall(read(path)) for path in others if path.is_file()]
        return [name for _, name in sum(more, included)]

    def library(self, libraries):
        """Returns the first of these libraries whose headers the program includes, or `None`."""
        for library, header in libraries.items():
            if any(re.match(header, name) for name in self.headers):
                return library
        return None


def read(path):
    return path.read_text(errors="replace")


def missing_data(folder, words):
    """Returns a data file among the words that does not exist, or `None`."""
    return next((word for word in words if DATA.search(word) and not (folder / word).exists()), None)
