"""The table of the simulator's speed with kernels of public collections."""

import statistics

from .. import machine, tables
from ..speed.pages import number

COUNTED = ("nothing", "sample", "everything")
# The target: no kernel should be slower than this, in billions of thread instructions per second and core.
TARGET = 1.0


def part(lines):
    """Returns the machine, a summary, and a table with a row per kernel, the slowest first."""
    kernels = sorted(lines[1:], key=lambda record: rate(record, "sample"))
    header = ["program", "kernel", "kind", "launches", "thread instructions, M", "of 32 lanes", "ms", *COUNTED]
    header += ["PoCL, ms", "ms ÷ PoCL's"]
    return "\n\n".join([machine.line(lines[0]), summary(kernels), tables.table(header, [row(record) for record in kernels])])


def summary(kernels):
    sampled = [rate(record, "sample") for record in kernels]
    plain = [rate(record, "nothing") for record in kernels]
    ratios = [ratio for record in kernels if (ratio := over_pocl(record))]
    text = (
        f"{len(kernels)} kernels. With the sample counted, {count(sampled, TARGET)} are below {TARGET:g} and the "
        f"median is {statistics.median(sampled):.2f}; with nothing counted, {count(plain, TARGET)} are below it and "
        f"the median is {statistics.median(plain):.2f}. "
    )
    if ratios:
        text += (
            f"Of the {len(ratios)} kernels that PoCL can run, {count(ratios, 1)} take less time than with PoCL; "
            f"the median ratio to PoCL's time is {statistics.median(ratios):.1f}."
        )
    return text.strip()


def row(record):
    pocl = shortest(record, "pocl")
    return [
        " ".join([record["collection"], record["program"], *([f"`{record['run']}`"] if record["run"] else [])]),
        f"`{record['kernel']}`",
        record["kind"],
        record["launches"],
        f"{record['thread_instructions'] / 1e6:.1f}",
        f"{record['thread_instructions'] / record['warp_instructions']:.0f}",
        number(shortest(record, "sample") * 1e3),
        *(f"{rate(record, how):.2f}" for how in COUNTED),
        number(pocl and pocl * 1e3),
        number(over_pocl(record), ".2f"),
    ]


def shortest(record, how):
    """Returns the shortest time of all launches in seconds, or `None` if it was not measured."""
    samples = record["seconds"].get(how)
    return samples and min(samples)


def rate(record, how):
    """Returns billions of thread instructions per second and core."""
    return record["thread_instructions"] / shortest(record, how) / 1e9


def over_pocl(record):
    pocl = shortest(record, "pocl")
    return pocl and shortest(record, "sample") / pocl


def count(values, limit):
    return sum(value < limit for value in values)
