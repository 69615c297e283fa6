"""The tables of counters for docs/results/counters-h200.md."""

import collections
import re
import sys

from .. import ROOT
from ..tables import table
from .code import OWN_BANK, fixed_constants, idle, instructions
from .compare import command, compared, exact, number, size
from .names import (
    BRANCHES, CONFLICTS, CONSTANT, CONSTANT_HITS, CONSTANT_MISSES, DIVERGENT, EQUAL, EXACT, HITS,
    L2_MISSES, L2_READS, LIMITED, LIMITS, OCCUPANCY, REGISTERS, SECTORS, SHARED, WARPS,
)  # fmt: skip


def sections(machine, records):
    launches = [(record, launch) for record in records for launch in record["launches"]]
    return {
        "machine": describe(machine, launches),
        "equal": equal(launches),
        "constants": constants(launches),
        "stores": guarded_stores(launches),
        "noise": noise(launches),
        "wide": wide(launches),
        "caches": caches(launches),
        "flow": flow(launches),
        "occupancy": occupancy(launches),
    }


def describe(machine, launches):
    kernels = len({launch["kernel"] for _, launch in launches})
    counters = {name for _, launch in launches for name in compared(launch)}
    pairs = [pair for _, launch in launches for pair in compared(launch).values()]
    agree = sum(ours == theirs for ours, theirs in pairs)
    return (
        f"{machine['gpu']}, driver {machine['driver']}, Nsight Compute {machine['ncu']}, "
        f"{machine['date']}: {number(len(launches))} launches of {kernels} kernels, {len(counters)} "
        f"counters each. Of the {number(len(pairs))} figures {number(agree)} are equal."
    )


def equal(launches):
    def cells(launch):
        pairs = compared(launch)
        return [same(*pairs.get(name, (0, 0))) for name in EQUAL.values()]

    return launch_table(list(EQUAL), launches, cells)


def constants(launches):
    header = [
        "counted by the GPU", "at addresses in the code", "of a `switch`", "remaining",
        "on the simulator",
    ]  # fmt: skip

    def cells(launch):
        total, ours = launch["gpu"][CONSTANT], launch["counters"][CONSTANT]
        fixed, tables = fixed_constants(launch)
        remaining = total - fixed - tables
        return [*map(number, (total, fixed, tables, remaining, ours))] if remaining or ours else None

    return launch_table(header, launches, cells)


def guarded_stores(launches):
    name = SHARED.format("st")

    def cells(launch):
        executed, inactive, ours = launch["gpu"][name], idle(launch, "STS"), launch["counters"][name]
        return [*map(number, (executed, ours, executed - inactive))] if inactive else None

    header = ["issued on the GPU", "on the simulator", "with an active thread"]
    return launch_table(header, launches, cells)


def noise(launches):
    """Returns the launches in which the hardware's units count differently from instructions."""
    kinds = [kind for kind, name in EQUAL.items() if name in EXACT]
    conflicts = [CONFLICTS.format(kind) for kind in ("ld", "st")]

    def cells(launch):
        row = []
        for name in EXACT:
            counted, precise = launch["gpu"][name], exact(launch, name)
            excess = counted - precise
            row += [number(counted), percent(excess / precise, "+.2f")] if excess else ["", ""]
        sides = launch["counters"], launch["gpu"]
        totals = [sum(side[name] for name in conflicts) for side in sides]
        row += map(number, totals) if any(totals) else ["", ""]
        return row

    header = [cell for kind in kinds for cell in (kind, "excess")]
    return launch_table([*header, "conflicts, simulator", "GPU"], launches, cells)


def caches(launches):
    header = [
        "L1 hits, simulator", "GPU", "L2 sectors read, simulator", "GPU",
        "L2 misses, simulator", "GPU", "constant misses, simulator", "GPU",
    ]  # fmt: skip

    def cells(launch):
        ours, theirs = launch["counters"], launch["gpu"]
        loads = SECTORS.format("ld")
        row = [""] * 6
        if ours[loads] and theirs[loads]:
            row = [percent(side[HITS] / side[loads]) for side in (ours, theirs)]
            row += [number(side[name]) for name in (L2_READS, L2_MISSES) for side in (ours, theirs)]
        misses = [ours[CONSTANT] - ours[CONSTANT_HITS], theirs[CONSTANT_MISSES]]
        misses = [number(miss) for miss in misses] if ours[CONSTANT] else ["", ""]
        return [*row, *misses]

    return launch_table(header, launches, cells)


def flow(launches):
    header = [
        "PTX instructions per warp", "machine instructions", "branches in PTX", "in machine code",
        "divergent, simulator", "GPU",
    ]  # fmt: skip

    def cells(launch):
        sides = (launch["counters"], launch["gpu"])
        return [number(side[name]) for name in (WARPS, BRANCHES, DIVERGENT) for side in sides]

    return launch_table(header, launches, cells)


def occupancy(launches):
    """Returns the occupancy of grids that fill the GPU. Smaller grids limit the resident blocks themselves."""
    header = [
        "registers", "blocks per SM, simulator", "GPU", "limited by, simulator", "GPU",
        "occupancy, simulator", "GPU",
    ]  # fmt: skip

    def cells(launch):
        ours, theirs = launch["occupancy"], launch["gpu"]
        if ours["limit"] == "grid":
            return None
        limits = {limit: theirs[LIMITS.format(limit)] for limit in LIMITED}
        blocks = min(limits.values())
        reasons = [words for limit, words in LIMITED.items() if limits[limit] == blocks]
        return [
            number(theirs[REGISTERS]),
            number(ours["blocks"]),
            number(blocks),
            ours["limit"].replace("_", " "),
            ", ".join(reasons),
            percent(ours["warps"] / ours["most_warps"]),
            percent(theirs[OCCUPANCY] / 100),
        ]

    return launch_table(header, launches, cells)


def wide(launches):
    """Returns the loads that the assembler merged from several, per kernel, from its listing."""
    rows = []
    for kernel, launch in {launch["kernel"]: launch for _, launch in launches}.items():
        for unit, space in (("LDS", "shared"), ("LDC", "const"), ("LDG", "global")):
            machine = [
                load for load in instructions(launch, unit)
                if unit != "LDC" or load.bank() == (OWN_BANK, True)
            ]  # fmt: skip
            separate = ptx_loads(kernel, space)
            merged = [load for load in machine if load.bytes not in separate]
            # The counts differ in a loop that the assembler has unrolled.
            if not merged or sum(load.bytes for load in machine) != sum(separate):
                continue
            kinds = collections.Counter(load.opcode for load in merged)
            opcodes = ", ".join(f"{count} `{opcode}`" for opcode, count in kinds.items())
            rows.append([f"`{kernel}`", space, number(len(separate)), number(len(machine)), opcodes])
    header = ["kernel", "memory", "loads in PTX", "in machine code", "wide loads"]
    return table(header, rows)


def ptx_loads(kernel, space):
    """Returns the bytes that a thread loads with each of a kernel's load instructions. Constant loads count only
    if a register holds the address."""
    address = "%" if space == "const" else ""
    for path in sorted((ROOT / "kernels/ptx").rglob("*.ptx")):
        body = re.search(rf"\.entry {kernel}\(.*?\n}}", path.read_text(), re.DOTALL)
        if body:
            load = rf"\bld(?:\.{space})?(?:\.nc)?(?:\.v(\d))?\.[a-z](\d+)\s[^;]*\[{address}"
            loads = re.findall(load, body[0])
            return [int(count or 1) * int(bits) // 8 for count, bits in loads]
    sys.exit(f"error: no PTX in kernels/ptx has the kernel {kernel}")


def launch_table(header, launches, cells):
    """Returns a table with a row per launch. `cells` returns `None` for launches to omit; empty columns are dropped."""
    rows, last = [], None
    for record, launch in launches:
        row = cells(launch)
        if row is None or not any(row):
            continue
        run = "" if record is last else f"`{command(record)}`"
        rows.append([run, launch["label"], size(launch), *row])
        last = record
    header = ["run", "variant", "blocks × threads", *header]
    columns = [n for n in range(len(header)) if any(row[n] for row in rows)]
    return table([header[n] for n in columns], [[row[n] for n in columns] for row in rows])


def same(ours, theirs):
    """Returns one number if both are equal, and otherwise both, the simulator's first."""
    if ours == theirs:
        return number(ours) if ours else ""
    return f"**{number(ours)} / {number(theirs)}**"


def percent(share, form=".1f"):
    return f"{format(100 * share, form)} %"
