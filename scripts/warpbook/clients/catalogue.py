"""The clients: source and version of each, the tests that run, and the tests that fail, with the reason.

Excluded: numba-cuda, which compiles with NVIDIA's NVVM; CuPy, which compiles with NVIDIA's NVRTC; Taichi, which
links NVIDIA's libdevice into every kernel.
"""

import dataclasses
from collections.abc import Callable

from . import crates, halide, mojo, packages, triton

TIMES = "compares times, which depend on the host in the simulator"
NOT_A_NUMBER = (
    "tinygrad 0.12.0 compares with `setp.ne`, which is false for NaN, on a GPU too; 0.13.0 uses "
    "`setp.neu`"
)


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
]
