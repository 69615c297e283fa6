"""The simulator's counters beside the GPU's."""

from .code import accesses_of, program_constants
from .names import CONSTANT, EQUAL, EXACT, PRODUCTS, SHARED


def exact(launch, name):
    """What instructions that Nsight Compute adds to the machine code counted."""
    # Records of kernels that neither copy asynchronously nor load matrices may lack the last two.
    return sum(launch["gpu"].get(twin, 0) for twin in EXACT[name])


def compared(launch):
    """By name what has to be equal: the simulator's figure, and the GPU's."""
    pairs = {}
    for name in EQUAL.values():
        ours = launch["counters"].get(name, 0)
        if not ours and name not in launch["gpu"]:
            continue  # ncu was not asked for it, and nothing is missed
        theirs = exact(launch, name) if name in EXACT else launch["gpu"].get(name, 0)
        if name == CONSTANT:
            theirs = program_constants(launch, theirs, ours)
        if name == SHARED.format("ld"):
            theirs -= sum(one.executed for one in accesses_of(launch, "LDS") if one.never)
        if name == PRODUCTS:  # with which the assembler also puts constants into registers
            theirs -= sum(one.executed for one in accesses_of(launch, "HFMA2"))
        pairs[name] = ours, theirs
    return pairs


def differences(record):
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
