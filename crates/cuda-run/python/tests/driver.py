"""A program that loads CUDA's driver and launches kernels of kernels.ptx: driver.py KERNEL [LAUNCHES]."""

import ctypes
import sys
from pathlib import Path

# The file is found next to this one, also in copies.
PTX = (Path(__file__).parent / "kernels.ptx").read_bytes()


class Driver:
    """A context of CUDA on the first GPU, with the module kernels.ptx."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.context, self.module = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuCtxCreate_v2", ctypes.byref(self.context), 0, 0)
        self.call("cuModuleLoadData", ctypes.byref(self.module), PTX)

    def call(self, name: str, *arguments: object) -> None:
        status = getattr(self.library, name)(*arguments)
        assert status == 0, f"{name} returned {status}"

    def run(self, name: str, threads: int = 256, wait: bool = True) -> "list[int]":
        """Runs a kernel with one block on the numbers from 0 to 255, and returns the result."""
        kernel, address = ctypes.c_void_p(), ctypes.c_uint64()
        numbers = (ctypes.c_int * 256)(*range(256))
        self.call("cuModuleGetFunction", ctypes.byref(kernel), self.module, name.encode())
        self.call("cuMemAlloc_v2", ctypes.byref(address), 1024)
        self.call("cuMemcpyHtoD_v2", address, numbers, 1024)
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(address))
        self.call("cuLaunchKernel", kernel, 1, 1, 1, threads, 1, 1, 0, None, parameters, None)
        if wait:
            self.call("cuMemcpyDtoH_v2", numbers, address, 1024)
            self.call("cuMemFree_v2", address)
        return list(numbers)


if __name__ == "__main__":
    driver = Driver()
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        print(*driver.run(sys.argv[1])[:4])
