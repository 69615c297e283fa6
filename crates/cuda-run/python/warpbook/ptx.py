"""Kernels in PTX, run on arrays of this process."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union

from warpbook._simulator import IN, IN_OUT, OUT, VALUE, Argument, package_simulator
from warpbook.errors import PtxError

Size = Union[int, Sequence[int]]

#: The longest message of an error, in bytes.
MESSAGE_BYTES = 16384


class Out:
    """A buffer that a kernel only writes: its contents are not copied to the device."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer


def run_ptx(
    ptx: str | bytes | os.PathLike[str],
    grid: Size,
    block: Size,
    *arguments: Any,
    kernel: str | None = None,
    shared_bytes: int = 0,
) -> None:
    """Runs a kernel in PTX on the simulator and waits for it.

        numbers = array.array("i", range(32))
        warpbook.run_ptx(Path("kernels.ptx"), 1, 32, numbers, ctypes.c_int(10), kernel="add")

    Parameters:
        ptx: the text of the PTX, or the path of a file as `pathlib.Path`.
        grid: the number of blocks, in up to three dimensions: `16` or `(4, 4)`.
        block: the number of threads per block, in the same form.
        arguments: one per parameter of the kernel.
            A scalar or structure of ctypes, such as `ctypes.c_int(5)`, or a scalar of NumPy is passed by value.
            A buffer, such as a `bytearray`, an `array.array`, an array of ctypes or of NumPy, is copied to the device;
            the kernel receives its address. If the buffer is writable, it is copied back afterwards.
            `Out(buffer)` is only copied back.
        kernel: the name of the kernel; it can be omitted if there is only one.
        shared_bytes: the bytes of dynamic shared memory.

    Libraries that load `libcuda.so.1` later in this process find the simulator.

    Raises `PtxError` if the PTX is not valid, or if the kernel cannot be launched or fails; `TypeError` or `ValueError`
    for arguments that cannot be passed; and `NativeError` if the simulator is missing.
    """
    text = _ptx_text(ptx)
    sizes = [_size(grid, "grid"), _size(block, "block")]
    if shared_bytes < 0:
        raise ValueError(f"shared_bytes is {shared_bytes}, but must not be negative")
    prepared = [_prepare(argument, f"argument {index}") for index, argument in enumerate(arguments)]
    simulator = package_simulator()
    table = (Argument * max(len(prepared), 1))()
    for row, (memory, kind) in zip(table, prepared):
        row.data, row.size, row.kind = ctypes.addressof(memory), ctypes.sizeof(memory), kind
    message = ctypes.create_string_buffer(MESSAGE_BYTES)
    status = simulator.library.warpbook_run_ptx(
        text,
        None if kernel is None else kernel.encode(),
        ctypes.byref(sizes[0]),
        ctypes.byref(sizes[1]),
        shared_bytes,
        table,
        len(prepared),
        message,
        len(message),
    )
    if status != 0:
        reason = message.value.decode("utf-8", "replace") or f"the kernel failed with CUresult {status}"
        raise PtxError(reason, status)


def _ptx_text(ptx: str | bytes | os.PathLike[str]) -> bytes:
    if isinstance(ptx, os.PathLike):
        return Path(ptx).read_bytes()
    text = ptx.encode() if isinstance(ptx, str) else bytes(ptx)
    if b"\n" not in text and text.endswith(b".ptx"):
        raise ValueError(f"{text.decode()!r} is not PTX. To read a file, pass pathlib.Path({text.decode()!r})")
    return text


def _size(value: Size, name: str) -> Any:
    """Returns a size in three dimensions for C."""
    dimensions = [value] if not isinstance(value, Sequence) else list(value)
    if not 1 <= len(dimensions) <= 3:
        raise ValueError(f"{name} has {len(dimensions)} dimensions, but must have 1 to 3")
    for dimension in dimensions:
        if dimension != int(dimension) or not 1 <= dimension < 1 << 32:
            raise ValueError(f"{name} is {value}, but its dimensions must be positive integers")
    return (ctypes.c_uint * 3)(*(int(dimension) for dimension in dimensions), *[1] * (3 - len(dimensions)))


def _prepare(argument: Any, name: str) -> tuple[Any, int]:
    """Returns the memory of an argument as a ctypes object, and the kind of the argument."""
    if isinstance(argument, Out):
        memory, writable = _memory(argument.buffer, name)
        if not writable:
            raise TypeError(f"{name}: Out requires a writable buffer, but {_type(argument.buffer)} is read-only")
        return memory, OUT
    if isinstance(argument, ctypes.Array):
        return argument, IN_OUT
    if isinstance(argument, (ctypes.Structure, ctypes.Union)):
        return argument, VALUE
    if isinstance(argument, ctypes._SimpleCData):
        if isinstance(argument, (ctypes.c_char_p, ctypes.c_wchar_p, ctypes.py_object)):
            raise TypeError(f"{name} is a {_type(argument)}, an address in this process. Pass a buffer instead")
        return argument, VALUE
    if isinstance(argument, ctypes._Pointer):
        raise TypeError(f"{name} is a pointer of ctypes, whose size is unknown. Pass the array itself")
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(argument, numpy.generic):
        return _copy(argument.tobytes()), VALUE
    if isinstance(argument, (bool, int, float, complex)):
        raise TypeError(
            f"{name} is a Python {_type(argument)}, which has no size in bytes. Pass a scalar of ctypes with the type "
            f"of the parameter, such as ctypes.c_{'float' if isinstance(argument, float) else 'int'}({argument})"
        )
    memory, writable = _memory(argument, name)
    return memory, IN_OUT if writable else IN


def _memory(buffer: Any, name: str) -> tuple[Any, bool]:
    """Returns the memory of a buffer as a ctypes object, and true if it is writable."""
    if isinstance(buffer, ctypes.Array):
        return buffer, True
    try:
        view = memoryview(buffer)
    except TypeError:
        raise TypeError(
            f"{name} is a {_type(buffer)}. Pass a scalar of ctypes or NumPy, or a buffer such as a bytearray, an "
            "array.array or a NumPy array"
        ) from None
    if not view.c_contiguous:
        raise ValueError(
            f"{name} is not contiguous in memory. Pass a contiguous copy, such as numpy.ascontiguousarray(a)"
        )
    if view.readonly:
        return _copy(view.tobytes()), False
    return (ctypes.c_char * view.nbytes).from_buffer(view), True


def _copy(content: bytes) -> Any:
    return (ctypes.c_char * len(content)).from_buffer_copy(content)


def _type(value: Any) -> str:
    return type(value).__name__
