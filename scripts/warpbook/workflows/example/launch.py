"""Launches the kernel `scale`, with this stride between the elements of neighboring threads.

launch.py STRIDE [MISSING]     allocate MISSING bytes too few
"""

import ctypes
import sys

THREADS = 256
PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 numbers, .param .u32 stride)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    .reg .f32 %f<3>;
    .loc 1 5 0
    ld.param.u64 %rd1, [numbers];
    ld.param.u32 %r1, [stride];
    mov.u32 %r2, %tid.x;
    mul.lo.u32 %r3, %r1, %r2;
    mul.wide.u32 %rd2, %r3, 4;
    add.s64 %rd3, %rd1, %rd2;
    .loc 1 6 0
    ld.global.f32 %f1, [%rd3];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%rd3], %f2;
    ret;
}
.file 1 "kernels/scale.cu"
"""


def call(name, *arguments):
    status = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if status:
        sys.exit(f"{name}: {status}")


def run(stride, missing=0):
    """Returns the last number after the launch."""
    count = (THREADS - 1) * stride + 1
    context, module, kernel, address = (ctypes.c_void_p() for _ in range(4))
    numbers, step = (ctypes.c_float * count)(*range(count)), ctypes.c_uint32(stride)
    size = ctypes.c_size_t(ctypes.sizeof(numbers) - missing)
    call("cuInit", 0)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
    call("cuModuleLoadData", ctypes.byref(module), PTX.encode())
    call("cuModuleGetFunction", ctypes.byref(kernel), module, b"scale")
    call("cuMemAlloc_v2", ctypes.byref(address), size)
    call("cuMemcpyHtoD_v2", address, numbers, size)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(address), ctypes.addressof(step))
    call("cuLaunchKernel", kernel, 1, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    call("cuMemcpyDtoH_v2", numbers, address, size)
    call("cuMemFree_v2", address)
    return numbers[count - 1]


if __name__ == "__main__":
    print("last:", run(*map(int, sys.argv[1:])))
