"""The clients: source and version of each, the tests that run, and the tests that fail, with the reason.

Excluded: numba-cuda, which compiles with NVIDIA's NVVM (numba's tests of the driver's functions run); CuPy, which
compiles with NVIDIA's NVRTC; Taichi, which links NVIDIA's libdevice into every kernel.
"""

import dataclasses
from collections.abc import Callable

from . import crates, drjit, ffmpeg, halide, mojo, packages, pycuda, pytests, triton, wheels

TIMES = "compares times, which depend on the host in the simulator"
NOT_A_NUMBER = (
    "tinygrad 0.12.0 compares with `setp.ne`, which is false for NaN, on a GPU too; 0.13.0 uses "
    "`setp.neu`"
)

NVVM = "needs NVIDIA's NVVM or libdevice, with which numba compiles kernels"
NEWER = "the tests, of 2026-08-22, expect Triton's next release"
BF16 = (
    "sums bfloat16 in bfloat16 (`fma.rn.bf16`), whose rounding exceeds the test's tolerance; Triton's interpreter "
    "skips it"
)
MISSING_TYPE = "the type is missing in torch 1.13"
LARGE = "fills arrays of gigabytes, for which the simulator takes too long"
MINIMA_OF_HALVES = (
    "Dr.Jit 1.5.0 rejects minima of 16-bit floats on compute capability 9.0 (it requires `> 90` in one place and "
    "`>= 90` in another)"
)
ROWS_BEYOND_PITCH = "Dr.Jit copies rows that end beyond the pitch; an H200 rejects them as well"
ROWS_BEYOND_PITCH_TESTS = (
    "test02_interp_1d[drjit.cuda.Float-Texture1f-WrapMode.Clamp]",
    "test03_interp_2d[drjit.cuda.Float-Texture2f-WrapMode.Clamp]",
    "test27_masked[drjit.cuda.Float-Texture2f16]",
    "test04_interp_3d[drjit.cuda.Float-Texture3f-WrapMode.Clamp]",
    "test29_write_read[drjit.cuda.Float-Texture2f16]",
    "test15_tensor_value_1d[drjit.cuda.Float-False-Texture1f16]",
    "test18_fetch_1d[drjit.cuda.Float-Texture1f16]",
    "test16_tensor_value_2d[drjit.cuda.Float-False-Texture2f16]",
    "test20_fetch_3d[drjit.cuda.Float-Texture3f16]",
    "test15_tensor_value_1d[drjit.cuda.ad.Float-False-Texture1f]",
    "test17_tensor_value_3d[drjit.cuda.ad.Float-False-Texture3f]",
    "test16_tensor_value_2d[drjit.cuda.ad.Float-False-Texture2f]",
    "test19_fetch_2d[drjit.cuda.Float-Texture2f16]",
    "test17_tensor_value_3d[drjit.cuda.Float-False-Texture3f16]",
)
VECTOR_ATOMICS = (
    "the test requires pairs of 16-bit floats below compute capability 12.0; Dr.Jit 1.5.0 uses longer vectors from 9.0 "
    "on"
)
# Tests of numba that compile kernels.
NUMBA_KERNELS = [
    "test_cudajit_in_attached_primary_context",
    "CudaArraySetting",
    "test_structured_array[234]",
    "test_devicearray_transpose_T",
    "test_devicearray_transpose_ok",
    "test_recarray$",
    "test_device_array_like_2d_(f_)?transpose",
    "TestCudaInlineAsm",
    "TestLinker::test_get_",
    "TestLinker::test_linking_",
    "TestLinker::test_max_",
    "TestLinker::test_set_",
    "TestLinker::test_try_",
    "test_managed_array_attach",
    "TestNvvmDriver",
    "TestArchOption",
    "TestLibDevice",
    "TestPTDS",
]


@dataclasses.dataclass
class Client:
    """A program, and the suites of its tests that run."""

    name: str
    version: str
    registry: str
    install: Callable
    suites: list


CLIENTS = [
    Client(
        "cust",
        "0.3.2",
        "crates.io",
        crates.installed("cust", "0.3.2"),
        [
            crates.Suite(
                "all",
                ci=True,
                features=[],
                known={},
            )
        ],
    ),
    Client(
        "cudarc",
        "0.19.10",
        "crates.io",
        crates.installed("cudarc", "0.19.10"),
        [
            crates.Suite(
                "driver",
                ci=True,
                features=["std", "driver", "fallback-dynamic-loading", "cuda-13000"],
                only="driver::",
                left_out={
                    "driver::safe::core::tests::test_default_pinned_host_reads_are_faster_than_write_combined": TIMES,
                    "driver::safe::core::tests::test_pinned_copy_is_faster": TIMES,
                },
                known={},
            )
        ],
    ),
    Client(
        "tinygrad",
        "0.12.0",
        "PyPI",
        packages.installed("tinygrad", "0.12.0"),
        [
            packages.Suite(
                "operations",
                ci=False,
                files=["test_ops.py"],
                known={
                    "test_isclose_edge_cases": NOT_A_NUMBER,
                    "test_isfinite": NOT_A_NUMBER,
                    "test_isnan": NOT_A_NUMBER,
                },
            ),
            packages.Suite(
                "arithmetic",
                ci=True,
                # Without torch: installing it would take longer than these tests.
                torch=False,
                files=["test_tiny.py", "test_assign.py", "test_dtype_alu.py"],
                known={},
            ),
            packages.Suite(
                "back end",
                ci=False,
                files=[
                    "test_arange.py",
                    "test_custom_kernel.py",
                    "test_edgecases.py",
                    "test_fusion_op.py",
                    "test_jit_cases.py",
                    "test_jit_footguns.py",
                    "test_linearizer.py",
                    "test_opt_gemm.py",
                    "test_outerworld.py",
                    "test_pickle.py",
                    "test_rangeify.py",
                    "test_setitem.py",
                    "test_softmax_fusion.py",
                    "test_tensor_variable.py",
                    "test_zero_copy.py",
                ],
                known={},
            ),
            packages.Suite(
                "several GPUs",
                ci=False,
                torch=False,
                files=["test_multitensor.py"],
                devices=6,
                repository=("tinygrad", "https://github.com/tinygrad/tinygrad", "v0.12.0"),
                known={},
            ),
        ],
    ),
    Client(
        "Halide",
        halide.VERSION,
        "PyPI",
        halide.install,
        [halide.Suite("correctness on a GPU", ci=False, known={})],
    ),
    Client(
        "Mojo",
        mojo.VERSION,
        "PyPI",
        mojo.install,
        [mojo.Suite("GPU puzzles", ci=False, known={})],
    ),
    Client(
        "Triton",
        "3.9.0",
        "PyPI",
        triton.installed("3.9.0"),
        [
            triton.Suite("tutorials", ci=False, file="test_tutorials.py", known={}),
            triton.Suite("language", ci=False, file="test_language.py", known={}),
        ],
    ),
    Client(
        "Triton's tests",
        "3.9.0",
        "PyPI",
        triton.with_torch("3.9.0"),
        [
            pytests.Suite(
                "test_core",
                ci=False,
                folder=triton.checkout,
                files=["python/test/unit/language/test_core.py"],
                device=triton.DEVICE,
                every=4,
                plugins=("host_torch",),
                settings=triton.settings,
                on_cpu=({"TRITON_INTERPRET": "1"}, ["--device=cpu"]),
                known={
                    "test_atomic_poll": NEWER,
                    "test_atomic_poll_timeout": NEWER,
                    "test_cat": NEWER,
                    "test_dot": MISSING_TYPE,
                    "test_histogram": "disassembles with NVIDIA's cuobjdump",
                    "test_scan2d": BF16,
                },
            ),
        ],
    ),
    Client(
        "Dr.Jit",
        drjit.VERSION,
        "PyPI",
        drjit.install,
        [
            pytests.Suite(
                "CUDA back end",
                ci=False,
                folder=drjit.checkout,
                files=["tests"],
                every=8,
                plugins=("optix",),
                words=("-k", "cuda"),
                known={
                    "test03_bubble_sort": "Dr.Jit reads 39,872 bytes past the end of 128, in memory that a GPU maps",
                    "test18_scatter_reduce": MINIMA_OF_HALVES,
                    "test35_scatter_packet_reduce": VECTOR_ATOMICS,
                    "test36_uint8_write": "textures with sRGB values are not simulated",
                    **dict.fromkeys(ROWS_BEYOND_PITCH_TESTS, ROWS_BEYOND_PITCH),
                },
            )
        ],
    ),
    Client(
        "PyCUDA",
        pycuda.VERSION,
        "PyPI",
        pycuda.install,
        [
            pytests.Suite(
                "all",
                ci=False,
                folder=pycuda.tests,
                files=["test_driver.py", "test_gpuarray.py", "test_cumath.py"],
                settings=pycuda.settings,
                left_out=dict.fromkeys(["test_big_array_", "test_curand_wrappers_8gb"], LARGE),
                known={
                    "test_curand_wrappers": "our curand_kernel.h lacks curand_poisson for one of the generators",
                    "test_jit_link_module": "a kernel launches a kernel, which is not simulated",
                    "test_recursive_launch": "a kernel launches a kernel, which is not simulated",
                },
            )
        ],
    ),
    Client(
        "cuda-python",
        "12.2.1",
        "PyPI",
        wheels.installed("cuda-python==12.2.1", "numpy==1.26.4"),
        [
            pytests.Suite(
                "driver",
                ci=True,
                folder=wheels.inside("cuda/tests"),
                files=["test_cuda.py", "test_cudart.py", "test_cython.py", "test_interoperability.py"],
                known={},
            )
        ],
    ),
    Client(
        "numba",
        "0.68.1",
        "PyPI",
        wheels.installed("numba==0.68.1", "numpy==2.2.6"),
        [
            pytests.Suite(
                "driver",
                ci=True,
                folder=wheels.inside("numba/cuda/tests/cudadrv"),
                files=["."],
                left_out=dict.fromkeys(NUMBA_KERNELS, NVVM),
                known={},
            )
        ],
    ),
    Client(
        "IREE",
        "3.13.0",
        "PyPI",
        wheels.installed("iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0", "numpy==2.2.6"),
        [
            pytests.Suite(
                "programs",
                ci=False,
                folder=lambda *_: wheels.HERE / "iree_tests",
                files=["test_programs.py"],
                known={},
            )
        ],
    ),
    Client(
        "FFmpeg",
        ffmpeg.VERSION,
        "Debian",
        ffmpeg.install,
        [ffmpeg.Suite("CUDA filters", ci=False, known={})],
    ),
]
