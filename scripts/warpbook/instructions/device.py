"""Execution of snippets on the first GPU, using only NVIDIA's driver."""

import array
import ctypes

from . import template

# Modules of this size assemble quickly, and an assembler error identifies the snippet.
SNIPPETS_PER_MODULE = 64


def recorded(snippets):
    """Yields the lines of the record: each snippet, and its rows with the GPU's results."""
    driver = Driver()
    for start in range(0, len(snippets), SNIPPETS_PER_MODULE):
        part = snippets[start : start + SNIPPETS_PER_MODULE]
        module = driver.load(template.module(part))
        for number, snippet in enumerate(part):
            results = driver.run(module, f"k{number}", snippet.rows)
            yield f": {snippet.code}"
            for row, result in zip(snippet.rows, results):
                yield f"{words(row)} = {words(result)}"


def words(row):
    """Formats a row as hexadecimal numbers, without trailing zeros."""
    row = list(row)
    while len(row) > 1 and row[-1] == 0:
        row.pop()
    return ",".join(f"{word:x}" for word in row)


class Driver:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuCtxCreate_v2", ctypes.byref(context), 0, device)

    def call(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code:
            raise SystemExit(f"error: {name} failed with code {code}")

    def load(self, ptx):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx.encode()))
        return module

    def run(self, module, name, rows):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        operands = array.array("I", [word for row in rows for word in row])
        results = array.array("I", [0] * (template.RESULTS * len(rows)))
        buffers = [self.buffer(operands), self.buffer(results)]
        pointers = (ctypes.c_void_p * 2)(*[ctypes.addressof(buffer) for buffer in buffers])
        grid, block = (1, 1, 1), (len(rows), 1, 1)
        self.call("cuLaunchKernel", function, *grid, *block, 0, None, pointers, None)
        self.call("cuCtxSynchronize")
        size = ctypes.c_size_t(4 * len(results))
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(results.buffer_info()[0]), buffers[1], size)
        for buffer in buffers:
            self.call("cuMemFree_v2", buffer)
        return [results[n : n + template.RESULTS] for n in range(0, len(results), template.RESULTS)]

    def buffer(self, words):
        address, size = ctypes.c_uint64(), ctypes.c_size_t(4 * len(words))
        self.call("cuMemAlloc_v2", ctypes.byref(address), size)
        self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(words.buffer_info()[0]), size)
        return address
