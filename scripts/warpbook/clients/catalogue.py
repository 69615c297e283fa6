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
OLD_TORCH = "calls a function of torch 2 that torch 1.13 lacks"
CPU_TORCH = "calls a function of torch that torch for the CPU lacks"
NO_PLUGIN = "starts a process without the plugin that runs torch for the CPU"
LARGE = "fills arrays of gigabytes, for which the simulator takes too long"
MINIMA_OF_HALVES = (
    "Dr.Jit 1.5.0 rejects minima of 16-bit floats on compute capability 9.0 (it requires `> 90` in one place and "
    "`>= 90` in another)"
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
            pytests.Suite(
                "runtime",
                ci=False,
                folder=triton.checkout,
                files=["python/test/unit/runtime"],
                device=triton.DEVICE,
                plugins=("host_torch",),
                words=("--dist=loadfile",),  # a cached kernel's key depends on the tests before
                settings=triton.settings,
                left_out={r"test_blaslt\.py": "multiplies matrices with NVIDIA's cuBLAS"},
                known={
                    "test_compile_warmup_only_intercepts_launches": OLD_TORCH,
                    "test_compile_warmup_random_helpers_preserve_normal_randomness": OLD_TORCH,
                    "test_compile_warmup_reuses_equivalent_kernel_payloads": OLD_TORCH,
                    "test_jit_debug": CPU_TORCH,
                    "test_kwargs": CPU_TORCH,
                    "test_launch_with_options": "links a file of Triton's repository that its build downloads",
                    "test_preload_higher_order_kernels": CPU_TORCH,
                    "test_replenishing_process_pool_reuses_clean_processes": NO_PLUGIN,
                    "test_run_in_process_handles_large_exceptions": NO_PLUGIN,
                    "test_specialize_impl": OLD_TORCH,
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
                plugins=("optix",),
                words=("-k", "cuda"),
                known={
                    "test03_bubble_sort": "Dr.Jit reads 39,872 bytes past the end of 128, in memory that a GPU maps",
                    "test18_scatter_reduce": MINIMA_OF_HALVES,
                    "test35_scatter_packet_reduce": VECTOR_ATOMICS,
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
