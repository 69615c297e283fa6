"""Runs snippets on the first GPU, through NVIDIA's driver alone."""

import array
import ctypes

from . import template

# Modules of this size are assembled in a blink, and an error says which snippet it is about.
TOGETHER = 64


def answers(snippets):
    """The lines of the record: each snippet, and its rows with what the GPU answers."""
    driver = Driver()
    for start in range(0, len(snippets), TOGETHER):
        part = snippets[start : start + TOGETHER]
        module = driver.load(template.module(part))
        for number, snippet in enumerate(part):
            found = driver.run(module, f"k{number}", snippet.rows)
            yield f": {snippet.code}"
            for row, answer in zip(snippet.rows, found):
                yield f"{words(row)} = {words(answer)}"


def words(row):
    """As hexadecimal numbers, without the zeros at the end."""
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
            raise SystemExit(f"{name} fails with code {code}")

    def load(self, ptx):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx.encode()))
        return module

    def run(self, module, name, rows):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        given = array.array("I", [word for row in rows for word in row])
        left = array.array("I", [0] * (template.ANSWERS * len(rows)))
        buffers = [self.buffer(given), self.buffer(left)]
        pointers = (ctypes.c_void_p * 2)(*[ctypes.addressof(one) for one in buffers])
        grid, block = (1, 1, 1), (len(rows), 1, 1)
        self.call("cuLaunchKernel", function, *grid, *block, 0, None, pointers, None)
        self.call("cuCtxSynchronize")
        size = ctypes.c_size_t(4 * len(left))
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(left.buffer_info()[0]), buffers[1], size)
        for buffer in buffers:
            self.call("cuMemFree_v2", buffer)
        return [left[n : n + template.ANSWERS] for n in range(0, len(left), template.ANSWERS)]

    def buffer(self, words):
        address, size = ctypes.c_uint64(), ctypes.c_size_t(4 * len(words))
        self.call("cuMemAlloc_v2", ctypes.byref(address), size)
        self.call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(words.buffer_info()[0]), size)
        return address
