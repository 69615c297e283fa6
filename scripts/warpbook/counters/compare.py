"""Comparison of the simulator's counters with the GPU's."""

from .code import accesses_of, program_constants
from .names import CONSTANT, EQUAL, EXACT, PRODUCTS, SHARED


def exact(launch, name):
    """Returns a counter's value as the instructions that Nsight Compute adds to the machine code count it."""
    # Records of kernels without asynchronous copies and matrix loads may lack the last two.
    return sum(launch["gpu"].get(twin, 0) for twin in EXACT[name])


def compared(launch):
    """Returns the simulator's and the GPU's value of each counter that must be equal, by name."""
    pairs = {}
    for name in EQUAL.values():
        ours = launch["counters"].get(name, 0)
        if not ours and name not in launch["gpu"]:
            continue  # ncu did not measure it, and the value is 0 on the simulator
        theirs = exact(launch, name) if name in EXACT else launch["gpu"].get(name, 0)
        if name == CONSTANT:
            theirs = program_constants(launch, theirs, ours)
        if name == SHARED.format("ld"):
            theirs -= sum(access.executed for access in accesses_of(launch, "LDS") if access.is_never_executed)
        if name == PRODUCTS:  # the assembler also loads constants into registers with this instruction
            theirs -= sum(access.executed for access in accesses_of(launch, "HFMA2"))
        pairs[name] = ours, theirs
    return pairs


def differences(record):
    """Yields a message for each counter that differs."""
    for launch in record["launches"]:
        for name, (ours, theirs) in compared(launch).items():
            if ours != theirs:
                where = f"{command(record)}, {launch['label']} ({size(launch)})"
                yield f"  {where}: {name} is {ours} on the simulator and {theirs} on the GPU"


def command(record):
    return command_line(record["chapter"], record["arguments"])


def command_line(chapter, arguments):
    return f"{chapter} {arguments}".strip()


def size(launch):
    blocks, threads = (x * y * z for x, y, z in (launch["grid"], launch["block"]))
    return f"{number(blocks)} × {number(threads)}"


def number(value):
    return f"{value:,}"
