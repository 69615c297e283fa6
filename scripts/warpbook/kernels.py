"""Totals per kernel of a program: counted by cuda-run, or timed by scripts/timing."""

import json

THREADS, WARPS = "smsp__thread_inst_executed.sum", "smsp__inst_executed.sum"


def counted(path):
    """Reads cuda-run's record. Returns each kernel's number of launches, thread instructions and warp instructions."""
    totals = {}
    for kernel in json.loads(path.read_text(encoding="utf-8"))["kernels"]:
        counters = kernel["counters"]
        add(totals, kernel["kernel"], kernel["launches"], counters[THREADS], counters[WARPS])
    return totals


def timed(path):
    """Reads the file of scripts/timing. Returns each kernel's number of launches and the seconds of all of them."""
    totals = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        launches, seconds, name = line.split(" ", 2)
        add(totals, name, int(launches), float(seconds))
    return totals


def add(totals, name, *numbers):
    """Adds numbers to a kernel's totals. Instances of one template count as one kernel."""
    before = totals.get(plain(name), [0] * len(numbers))
    totals[plain(name)] = [old + new for old, new in zip(before, numbers)]


def plain(name):
    """Returns a kernel's name without return type, template arguments and parameters."""
    return name.split("(")[0].split("<")[0].removeprefix("void ")
