"""A plugin of pytest that runs Triton's tests with a torch that was built for the CPU.

Triton's tests create tensors with `device="cuda"`. These tensors are allocated in host memory here. The plugin maps
their memory into the device for the duration of each launch (`cuMemHostRegister`), so that a kernel reads and writes the
tensors themselves. The plugin provides the functions of `torch.cuda` that the tests and Triton call, and types that
torch 1.13 lacks: a test that uses such a type fails, in Triton's interpreter too.
"""

import ctypes
import functools
import os
import threading
import time

import torch

INTERPRETER = os.environ.get("TRITON_INTERPRET") == "1"

# Functions that create tensors.
FACTORIES = (
    "arange empty empty_like empty_strided eye from_numpy full full_like linspace logspace ones ones_like rand rand_like "
    "randint randint_like randn randn_like randperm scalar_tensor tensor as_tensor zeros zeros_like"
).split()

MISSING_TYPES = (
    "uint16 uint32 uint64 float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz float8_e8m0fnu float4_e2m1fn_x2"
).split()

DEVICEMAP = 2

# The end of mapped memory is a multiple of this many bytes, since atomics of 16 bits access words. A GPU maps pages.
GRANULARITY = 64


def on_host(device):
    return "cpu" if device is not None and str(device).startswith("cuda") else device


def moved(function):
    """Returns the function with each CUDA device among its arguments replaced by the CPU."""

    @functools.wraps(function)
    def call(*arguments, **keywords):
        if "device" in keywords:
            keywords["device"] = on_host(keywords["device"])
        keywords.pop("pin_memory", None)
        arguments = [
            "cpu" if isinstance(value, (str, torch.device)) and str(value).startswith("cuda") else value
            for value in arguments
        ]
        return function(*arguments, **keywords)

    return call


for name in FACTORIES:
    if hasattr(torch, name):
        setattr(torch, name, moved(getattr(torch, name)))
torch.Tensor.to = moved(torch.Tensor.to)
torch.Tensor.cuda = lambda tensor, *_, **__: tensor
torch.Generator = moved(torch.Generator)
if not hasattr(torch.Tensor, "untyped_storage"):
    torch.Tensor.untyped_storage = lambda tensor: tensor.storage().untyped()
for name in MISSING_TYPES:
    if not hasattr(torch, name):
        setattr(torch, name, f"torch.{name}")


class Driver(threading.local):
    """The driver's functions that the plugin calls, with the primary context in each thread."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            message = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(message))
            raise RuntimeError(f"{name}: error {status}: {message.value.decode() if message.value else ''}")

    def attribute(self, number):
        value = ctypes.c_int()
        self("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
        return value.value


@functools.cache
def driver():
    return Driver()


def capability(*_):
    return driver().attribute(75), driver().attribute(76)


class Properties:
    """Properties of the device that the tests read."""

    def __init__(self, *_):
        self.name = "simulated"
        self.major, self.minor = capability()
        self.multi_processor_count = driver().attribute(16)


class Event:
    """An event with the host's time: by a GPU's time, the autotuner would repeat short kernels 100,000 times."""

    def __init__(self, *_, **__):
        self.seconds = 0.0

    def record(self, *_):
        driver()("cuCtxSynchronize")
        self.seconds = time.perf_counter()

    def synchronize(self):
        pass

    def elapsed_time(self, end):
        return 1000 * (end.seconds - self.seconds)


if not INTERPRETER:
    torch.cuda.Event = Event
    torch.cuda.is_available = lambda: True
    torch.cuda.get_device_capability = capability
    torch.cuda.get_device_properties = Properties
    torch.cuda.synchronize = lambda *_: driver()("cuCtxSynchronize")
torch.cuda.current_device = lambda: 0
torch.cuda.set_device = lambda *_: None
torch.cuda.device_count = lambda: 1
torch.cuda.manual_seed = torch.manual_seed
torch._C._cuda_getCurrentRawStream = lambda *_: 0


def tensors(value):
    """Yields the tensors in an argument of a kernel."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)
    elif hasattr(value, "base"):
        yield from tensors(value.base)


def ranges(arguments):
    """Returns the tensors' memory as disjoint ranges of addresses, in order."""
    pieces = set()
    for tensor in tensors(arguments):
        storage = tensor.storage()
        if storage.nbytes():
            end = -(-(storage.data_ptr() + storage.nbytes()) // GRANULARITY) * GRANULARITY
            pieces.add((storage.data_ptr() // GRANULARITY * GRANULARITY, end))
    merged = []
    for start, end in sorted(pieces):
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    return merged


def pytest_configure(config):
    if INTERPRETER:
        return
    from triton.backends.nvidia.driver import CudaLauncher

    launch = CudaLauncher.__call__

    def mapped(self, *arguments):
        registered = []
        try:
            for start, end in ranges(arguments[9:]):
                driver()("cuMemHostRegister_v2", ctypes.c_void_p(start), ctypes.c_size_t(end - start), DEVICEMAP)
                registered.append(start)
            result = launch(self, *arguments)
            driver()("cuCtxSynchronize")
            return result
        finally:
            for start in registered:
                driver().library.cuMemHostUnregister(ctypes.c_void_p(start))

    CudaLauncher.__call__ = mapped
