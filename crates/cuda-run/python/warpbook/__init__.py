"""CUDA programs without a GPU, on a simulator that counts memory accesses and finds errors.

    import warpbook

    record = warpbook.profile("add.cu", check=True)
    print(record.kernel("add").sectors_per_load_request)

| name | purpose |
|---|---|
| `profile` | runs a CUDA program or any other program and returns its record |
| `recording` | records the kernels that this process launches in a block of code |
| `run_ptx` | runs a kernel in PTX on arrays of this process |
| `Record`, `Kernel`, `Problem`, … | the contents of a record |
| `load_records`, `merge` | read the files that `warpbook run --json FILE` writes |

The package also contains a plug-in for pytest (`pytest --warpbook`), a cell magic for notebooks
(`%load_ext warpbook`, then `%%cuda`), and the command `warpbook`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    from warpbook._version import __version__
except ImportError:
    # A checkout: the release script writes the file.
    __version__ = "0.0.0+checkout"

if TYPE_CHECKING:
    from warpbook.errors import CudaRunError, NativeError, PtxError, RecordError, RecordingError, WarpbookError
    from warpbook.profiling import profile
    from warpbook.ptx import Out, run_ptx
    from warpbook.recorder import Recording, recording
    from warpbook.records import (
        Access,
        FailedCall,
        Finding,
        Gpu,
        Kernel,
        LibraryCalls,
        Line,
        Location,
        Occupancy,
        Problem,
        Range,
        Record,
        Related,
        Roofline,
        load_records,
        merge,
    )

__all__ = [
    "Access",
    "CudaRunError",
    "FailedCall",
    "Finding",
    "Gpu",
    "Kernel",
    "LibraryCalls",
    "Line",
    "Location",
    "NativeError",
    "Occupancy",
    "Out",
    "Problem",
    "PtxError",
    "Range",
    "Record",
    "RecordError",
    "Recording",
    "RecordingError",
    "Related",
    "Roofline",
    "WarpbookError",
    "__version__",
    "load_records",
    "merge",
    "profile",
    "recording",
    "run_ptx",
]


def __getattr__(name: str) -> Any:
    # Every run of pytest imports this package for its plug-in, so the modules are imported on first use.
    if name in __all__:
        for module in ("errors", "records", "profiling", "recorder", "ptx"):
            value = getattr(import_module(f"warpbook.{module}"), name, None)
            if value is not None:
                globals()[name] = value
                return value
    raise AttributeError(f"module 'warpbook' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:
    """Registers the cell magic `%%cuda`; IPython calls this function for `%load_ext warpbook`."""
    from warpbook.notebook import register

    register(shell)
