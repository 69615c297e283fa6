"""The simulator's library in this process: its C API (include/warpbook.h), called with ctypes."""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import CDLL, POINTER, c_char_p, c_int, c_size_t, c_uint, c_void_p

from warpbook import _native
from warpbook.environment import environment
from warpbook.errors import NativeError

#: The name of CUDA's driver library. The dynamic linker identifies loaded libraries by it.
NAME = "libcuda.so.1"

# A function that NVIDIA's driver does not have.
_MARK = "warpbook_record_start"


class Argument(ctypes.Structure):
    """`warpbook_argument`: an argument of a kernel."""

    _fields_ = [("data", c_void_p), ("size", c_size_t), ("kind", c_int)]


VALUE, IN, OUT, IN_OUT = 0, 1, 2, 3


class Simulator:
    """The functions of the C API."""

    def __init__(self, library: CDLL) -> None:
        self.library = library
        library.warpbook_version.restype = c_char_p
        library.warpbook_version.argtypes = []
        library.warpbook_record_start.restype = c_int
        library.warpbook_record_start.argtypes = []
        # The address is needed to free the text, so it is not converted to bytes.
        library.warpbook_record_take.restype = c_void_p
        library.warpbook_record_take.argtypes = []
        library.warpbook_free.restype = None
        library.warpbook_free.argtypes = [c_void_p]
        library.warpbook_run_ptx.restype = c_int
        library.warpbook_run_ptx.argtypes = [
            *(c_char_p, c_char_p, POINTER(c_uint * 3), POINTER(c_uint * 3), c_uint),
            *(POINTER(Argument), c_size_t, c_char_p, c_size_t),
        ]

    def record_start(self) -> int:
        """Starts a recording. Returns a `CUresult`."""
        return int(self.library.warpbook_record_start())

    def record_take(self) -> bytes | None:
        """Waits for all work and returns the JSON of the events since the start or the last call."""
        address = self.library.warpbook_record_take()
        if not address:
            return None
        try:
            return ctypes.string_at(address)
        finally:
            self.library.warpbook_free(address)

    def device_names(self) -> list[str]:
        """Returns the names of the simulated GPUs without starting the simulator.

        Raises `NativeError` if variables such as `CUDA_SIM_DEVICE` are invalid.
        """
        library = self.library
        if library.nvmlInit_v2() != 0:
            device, count = (os.environ.get(name) for name in ("CUDA_SIM_DEVICE", "CUDA_SIM_DEVICES"))
            raise NativeError(
                f"The simulator has no such GPUs: CUDA_SIM_DEVICE={device or ''}, CUDA_SIM_DEVICES={count or ''}. "
                "The names are listed by warpbook run --help, under --device."
            )
        try:
            number = c_uint()
            library.nvmlDeviceGetCount_v2(ctypes.byref(number))
            names = []
            for index in range(number.value):
                device_handle, text = c_void_p(), ctypes.create_string_buffer(96)
                library.nvmlDeviceGetHandleByIndex_v2(c_uint(index), ctypes.byref(device_handle))
                library.nvmlDeviceGetName(device_handle, text, c_uint(len(text)))
                names.append(text.value.decode())
            return names
        finally:
            library.nvmlShutdown()


_lock = threading.Lock()
_loaded: dict[str, Simulator] = {}


def package_simulator() -> Simulator:
    """Loads the library of this package.

    A library that looks for `libcuda.so.1` later in this process finds the simulator, because it is loaded under that
    name. Raises `NativeError` if the library is missing or cannot be loaded.
    """
    return _load(str(_native.library()))


def process_simulator() -> Simulator:
    """Returns the simulator that the libraries of this process use.

    If there is no driver, loads the simulator and sets variables such as `CUDA_PATH`, so that libraries and processes
    that are started later find it. Raises `NativeError` if the libraries use NVIDIA's driver.
    """
    try:
        library = CDLL(NAME)
    except OSError:
        simulator = package_simulator()
        os.environ.update(environment())
        return simulator
    if hasattr(library, _MARK):
        return _load(NAME)
    raise NativeError(
        f"{NAME} in this process is NVIDIA's driver{_loaded_from()}, which Warpbook cannot record. Likely cause: "
        "the program was not started on the simulator. Start it with warpbook run -- PROGRAM, or with the variables "
        "that warpbook env prints."
    )


def _load(name: str) -> Simulator:
    with _lock:
        if name not in _loaded:
            try:
                _loaded[name] = Simulator(CDLL(name))
            except (OSError, AttributeError) as error:
                raise NativeError(
                    f"Cannot use the simulator's library {name}: {error}. Likely cause: it is of another version or "
                    "platform. Reinstall it with pip install --force-reinstall warpbook."
                ) from None
        return _loaded[name]


def _loaded_from() -> str:
    """Returns the path of the driver in this process, in parentheses."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            paths = (line.split(maxsplit=5)[5].strip() for line in maps if "libcuda.so" in line)
            return f" ({next(paths)})"
    except (OSError, StopIteration, IndexError):
        return ""
