"""Kernels in PTX, run on arrays of this process."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Union

from warpbook._simulator import IN, IN_OUT, OUT, VALUE, Argument, package_simulator
from warpbook.errors import PtxError

Size = Union[int, Sequence[int]]

#: The maximum number of threads per block.
MAX_THREADS = 1024

#: The maximum sizes in x, y and z.
MAX_SIZES = {"grid": ((1 << 31) - 1, 65535, 65535), "block": (1024, 1024, 64)}

#: The parts of a grid and of a block.
UNITS = {"grid": "blocks", "block": "threads"}

# The types of ctypes that are addresses in this process.
_ADDRESSES = (ctypes.c_char_p, ctypes.c_wchar_p, ctypes.py_object)

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
    kernel: str | bytes | None = None,
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
    name = _kernel_name(kernel)
    if not isinstance(shared_bytes, int):
        raise TypeError(f"shared_bytes is a {_type(shared_bytes)}, but must be an int")
    if not 0 <= shared_bytes < 1 << 32:
        raise ValueError(f"shared_bytes is {shared_bytes}, but must be from 0 to {(1 << 32) - 1}")
    prepared = [_prepare(argument, f"argument {index}") for index, argument in enumerate(arguments)]
    simulator = package_simulator()
    table = (Argument * max(len(prepared), 1))()
    for row, (memory, kind) in zip(table, prepared):
        row.data, row.size, row.kind = ctypes.addressof(memory), ctypes.sizeof(memory), kind
    message = ctypes.create_string_buffer(MESSAGE_BYTES)
    status = simulator.library.warpbook_run_ptx(
        text,
        name,
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
    if not isinstance(ptx, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"ptx is a {_type(ptx)}. Pass the text of the PTX as str or bytes, or a pathlib.Path")
    # Texts made by NVRTC end with a NUL.
    text = (ptx.encode() if isinstance(ptx, str) else bytes(ptx)).rstrip(b"\0")
    if b"\n" not in text and text.endswith(b".ptx"):
        raise ValueError(f"{text.decode()!r} is not PTX. To read a file, pass pathlib.Path({text.decode()!r})")
    if b"\0" in text:
        raise ValueError(f"ptx contains a NUL character at position {text.index(0)}, so it is not PTX")
    return text


def _kernel_name(kernel: str | bytes | None) -> bytes | None:
    if kernel is None:
        return None
    if not isinstance(kernel, (str, bytes)):
        raise TypeError(f"kernel is a {_type(kernel)}, but must be the name of a kernel as str")
    name = kernel.encode() if isinstance(kernel, str) else kernel
    if b"\0" in name:
        raise ValueError(f"kernel is {kernel!r}, but a name has no NUL character")
    return name


def _size(value: Size, name: str) -> Any:
    """Returns a size in three dimensions for C."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} is {value!r}, but must be an integer or up to three integers")
    dimensions = list(value) if isinstance(value, Iterable) else [value]
    if not 1 <= len(dimensions) <= 3:
        raise ValueError(f"{name} has {len(dimensions)} dimensions, but must have 1 to 3")
    sizes = [_dimension(dimension, value, name) for dimension in dimensions] + [1] * (3 - len(dimensions))
    threads = sizes[0] * sizes[1] * sizes[2]
    if name == "block" and threads > MAX_THREADS:
        raise ValueError(f"block is {value}: {threads} threads, but a block has at most {MAX_THREADS} threads")
    for size, limit, axis in zip(sizes, MAX_SIZES[name], "xyz"):
        if size > limit:
            raise ValueError(f"{name} is {value}, but a {name} has at most {limit} {UNITS[name]} in {axis}")
    return (ctypes.c_uint * 3)(*sizes)


def _dimension(dimension: Any, value: Size, name: str) -> int:
    try:
        size = int(dimension)
    except (TypeError, ValueError, OverflowError):
        size = 0
    if size != dimension or size < 1:
        raise ValueError(f"{name} is {value}, but its dimensions must be positive integers")
    return size


def _prepare(argument: Any, name: str) -> tuple[Any, int]:
    """Returns the memory of an argument as a ctypes object, and the kind of the argument."""
    if isinstance(argument, Out):
        memory, writable = _memory(argument.buffer, name)
        if not writable:
            raise TypeError(f"{name}: Out requires a writable buffer, but {_type(argument.buffer)} is read-only")
        return memory, OUT
    if isinstance(argument, ctypes.Array):
        return _memory(argument, name)[0], IN_OUT
    if isinstance(argument, (ctypes.Structure, ctypes.Union)):
        return argument, VALUE
    if isinstance(argument, ctypes._SimpleCData):
        if isinstance(argument, _ADDRESSES):
            raise TypeError(f"{name} is a {_type(argument)}, an address in this process. Pass a buffer instead")
        return argument, VALUE
    if isinstance(argument, ctypes._Pointer):
        raise TypeError(f"{name} is a pointer of ctypes, whose size is unknown. Pass the array itself")
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(argument, numpy.generic):
        _reject_objects(argument.dtype.hasobject, argument, name)
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
        item: Any = buffer._type_
        while issubclass(item, ctypes.Array):
            item = item._type_
        if issubclass(item, (*_ADDRESSES, ctypes._Pointer)):
            raise TypeError(
                f"{name} is an array of {item.__name__}, addresses in this process. Pass an array of values"
            )
        return buffer, True
    try:
        view = memoryview(buffer)
    except TypeError:
        raise TypeError(
            f"{name} is a {_type(buffer)}. Pass a scalar of ctypes or NumPy, or a buffer such as a bytearray, an "
            "array.array or a NumPy array"
        ) from None
    # In a structure of NumPy, the names of fields are between colons.
    _reject_objects("O" in re.sub(":[^:]*:", "", view.format), buffer, name)
    if not view.c_contiguous:
        raise ValueError(
            f"{name} is not contiguous in memory. Pass a contiguous copy, such as numpy.ascontiguousarray(a)"
        )
    if view.readonly:
        return _copy(view.tobytes()), False
    return (ctypes.c_char * view.nbytes).from_buffer(view), True


def _reject_objects(has_objects: bool, argument: Any, name: str) -> None:
    if has_objects:
        raise TypeError(
            f"{name} is a {_type(argument)} of Python objects, which are addresses in this process. Convert it to "
            "numbers, such as with a.astype(numpy.float32)"
        )


def _copy(content: bytes) -> Any:
    return (ctypes.c_char * len(content)).from_buffer_copy(content)


def _type(value: Any) -> str:
    return type(value).__name__
