"""The table of the simulator's speed with kernels of public collections."""

import statistics

from .. import machine, tables
from ..speed.pages import number

COUNTED = ("nothing", "sample", "everything")
# The target: no kernel should be slower than this, in billions of thread instructions per second and core.
TARGET = 1.0


def part(lines):
    """Returns the machine, a summary, and a table with a row per kernel, the slowest first."""
    kernels = sorted(lines[1:], key=lambda one: rate(one, "sample"))
    header = ["program", "kernel", "kind", "launches", "thread instructions, M", "of 32 lanes", "ms", *COUNTED]
    header += ["PoCL, ms", "ms ÷ PoCL's"]
    return "\n\n".join([machine.line(lines[0]), summary(kernels), tables.table(header, [row(one) for one in kernels])])


def summary(kernels):
    sampled = [rate(one, "sample") for one in kernels]
    plain = [rate(one, "nothing") for one in kernels]
    ratios = [ratio for one in kernels if (ratio := over_pocl(one))]
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


def row(one):
    pocl = shortest(one, "pocl")
    return [
        " ".join([one["collection"], one["program"], *([f"`{one['run']}`"] if one["run"] else [])]),
        f"`{one['kernel']}`",
        one["kind"],
        one["launches"],
        f"{one['thread_instructions'] / 1e6:.1f}",
        f"{one['thread_instructions'] / one['warp_instructions']:.0f}",
        number(shortest(one, "sample") * 1e3),
        *(f"{rate(one, how):.2f}" for how in COUNTED),
        number(pocl and pocl * 1e3),
        number(over_pocl(one), ".2f"),
    ]


def shortest(one, how):
    """Returns the shortest time of all launches in seconds, or `None` if it was not measured."""
    samples = one["seconds"].get(how)
    return samples and min(samples)


def rate(one, how):
    """Returns billions of thread instructions per second and core."""
    return one["thread_instructions"] / shortest(one, how) / 1e9


def over_pocl(one):
    pocl = shortest(one, "pocl")
    return pocl and shortest(one, "sample") / pocl


def count(values, limit):
    return sum(value < limit for value in values)
