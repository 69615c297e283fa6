"""What a program's kernels did: counted by cuda-run, or timed by what scripts/timing has."""

import json

THREADS, WARPS = "smsp__thread_inst_executed.sum", "smsp__inst_executed.sum"


def counted(path):
    """How often each kernel was launched, and the instructions of its threads and of its warps, as cuda-run wrote
    them."""
    found = {}
    for kernel in json.loads(path.read_text(encoding="utf-8"))["kernels"]:
        counters = kernel["counters"]
        add(found, kernel["kernel"], kernel["launches"], counters[THREADS], counters[WARPS])
    return found


def timed(path):
    """How often each kernel was launched, and the seconds of all its launches, as scripts/timing wrote them."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        launches, seconds, name = line.split(" ", 2)
        add(found, name, int(launches), float(seconds))
    return found


def add(found, name, *numbers):
    """Kernels of one template count as one."""
    before = found.get(plain(name), [0] * len(numbers))
    found[plain(name)] = [old + new for old, new in zip(before, numbers)]


def plain(name):
    """A kernel's name without what it returns, its template's arguments and its own."""
    return name.split("(")[0].split("<")[0].removeprefix("void ")
