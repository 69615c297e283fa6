"""The table of how fast the simulator is with kernels of public collections."""

import statistics

from .. import machine, tables
from ..speed.pages import number

COUNTED = ("nothing", "sample", "everything")
# What is aimed at is that none is below.
SLOW = 1.0


def part(lines):
    """The machine, what came out, and a row a kernel, the slowest first."""
    found = sorted(lines[1:], key=lambda one: rate(one, "sample"))
    header = ["program", "kernel", "kind", "launches", "thread instructions, M", "of 32 lanes", "ms", *COUNTED]
    header += ["PoCL, ms", "ms ÷ PoCL's"]
    return "\n\n".join([machine.line(lines[0]), summary(found), tables.table(header, [row(one) for one in found])])


def summary(found):
    sampled = [rate(one, "sample") for one in found]
    plain = [rate(one, "nothing") for one in found]
    beside = [ratio for one in found if (ratio := over_pocl(one))]
    text = (
        f"{len(found)} kernels. With the sample counted {count(sampled, SLOW)} are below {SLOW:g} and the median is "
        f"{statistics.median(sampled):.2f}; with nothing counted {count(plain, SLOW)}, and {statistics.median(plain):.2f}. "
    )
    if beside:
        text += (
            f"Of the {len(beside)} that PoCL has, {count(beside, 1)} take less time than there; "
            f"the median is {statistics.median(beside):.1f} times PoCL's."
        )
    return text.strip()


def row(one):
    pocl = least(one, "pocl")
    return [
        " ".join([one["collection"], one["program"], *([f"`{one['run']}`"] if one["run"] else [])]),
        f"`{one['kernel']}`",
        one["kind"],
        one["launches"],
        f"{one['thread_instructions'] / 1e6:.1f}",
        f"{one['thread_instructions'] / one['warp_instructions']:.0f}",
        number(least(one, "sample") * 1e3),
        *(f"{rate(one, how):.2f}" for how in COUNTED),
        number(pocl and pocl * 1e3),
        number(over_pocl(one), ".2f"),
    ]


def least(one, how):
    """Seconds of all launches, where it was timed so."""
    samples = one["seconds"].get(how)
    return samples and min(samples)


def rate(one, how):
    """Billions of thread instructions a second and core."""
    return one["thread_instructions"] / least(one, how) / 1e9


def over_pocl(one):
    pocl = least(one, "pocl")
    return pocl and least(one, "sample") / pocl


def count(values, limit):
    return sum(value < limit for value in values)
