"""Arrays on the GPU for Triton's kernels, through the driver alone: Triton needs only an array's address and type."""

import ctypes

import numpy
import triton
import triton.language as tl

CUDA = ctypes.CDLL("libcuda.so.1")
# Initializes the driver and creates a context.
TARGET = triton.runtime.driver.active.get_current_target()

TYPES = {
    name: getattr(tl, name)
    for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    + ["float16", "float32", "float64"]
} | {"bool": tl.int1}


def call(function, *arguments):
    answer = getattr(CUDA, function)(*arguments)
    assert answer == 0, f"{function}: error {answer}"


class Array:
    """A copy of a numpy array. `dtype` is Triton's name of types that numpy lacks, such as bfloat16."""

    def __init__(self, values, dtype=None):
        values = numpy.ascontiguousarray(values)
        self.dtype = dtype or TYPES[values.dtype.name]
        self.shape = values.shape
        self.kind = values.dtype
        self.bytes = ctypes.c_size_t(values.nbytes)
        self.address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self.address), self.bytes)
        call("cuMemcpyHtoD_v2", self.address, ctypes.c_void_p(values.ctypes.data), self.bytes)

    def data_ptr(self):
        return self.address.value

    def numpy(self):
        values = numpy.empty(self.shape, self.kind)
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(values.ctypes.data), self.address, self.bytes)
        return values

    def __del__(self):
        # The memory of a context with an error cannot be freed.
        CUDA.cuMemFree_v2(self.address)


def poisoned(shape, dtype):
    """An output buffer, filled with bytes that are not a result."""
    count = int(numpy.prod(shape))
    values = numpy.frombuffer(b"\xa5" * (count * numpy.dtype(dtype).itemsize), dtype)
    if numpy.dtype(dtype) == bool:
        values = numpy.zeros(count, bool)
    return Array(values.reshape(shape))


def brain_floats(values):
    """Returns float32 values rounded to bfloat16, the upper halves of their bits."""
    bits = numpy.asarray(values, numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


def from_brain_floats(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)
