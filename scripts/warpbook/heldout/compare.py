"""Comparison of the simulator's counters with the GPU's, and reasons for differences."""

import re

from ..counters.code import OWN_BANK, instructions
from ..counters.compare import compared
from ..counters.names import CONFLICTS, CONSTANT, DIVERGENT, REQUESTS, SECTORS, SHARED, WAVEFRONTS
from .figures import ATOMIC, ATOMIC_CONFLICTS, ATOMIC_WAVEFRONTS, FIGURES

# Counters that a loop of loads and compare-and-swaps on shared memory increments.
LOOPED = [
    SHARED.format("ld"), WAVEFRONTS.format("ld"), CONFLICTS.format("ld"), ATOMIC, ATOMIC_WAVEFRONTS,
    ATOMIC_CONFLICTS, DIVERGENT,
]  # fmt: skip

GLOBAL = [counter.format(kind) for counter in (REQUESTS, SECTORS) for kind in ("ld", "st")]

CONTENDED = "warps of a block contend: their compare-and-swaps are retried"
GENERIC = "the access uses a generic address, which the shared-memory counter counts whichever memory it addresses"
REGISTERS = "the array is in registers"
RESHAPED = "the assembler loads and stores local memory in pieces of other sizes"
RECONVERGED = "diverged lanes reconverge before the access on the GPU, and after it on the simulator"
PREDICATES = "the assembler predicates other branches than the simulator expects"
AT_ONCE = "two warps access the same banks at the same time"
UNIFORM = "all lanes share the address, and the constant is read by a unit that has no such counter"

WORDS = {
    CONTENDED: "contended", GENERIC: "generic", REGISTERS: "registers", RESHAPED: "reshaped",
    RECONVERGED: "reconvergence", PREDICATES: "predicates", AT_ONCE: "at once",
    UNIFORM: "uniform",
}  # fmt: skip


def pairs(launch):
    """Yields each counter's short name, its name, and the simulator's and the GPU's values unless both are zero."""
    must_be_equal = compared(launch)
    for figure, name in FIGURES.items():
        ours = launch["counters"].get(name, 0)
        both = must_be_equal.get(name, (ours, launch["gpu"].get(name, 0)))
        if any(both):
            yield figure, name, *both


def reason(launch, name, ours, theirs, folder):
    """Returns the reason for a difference according to the machine code, or `None` if there is none."""
    listed = [row[0] for row in launch["instructions"]]
    has = lambda pattern: any(re.search(pattern, text) for text in listed)  # noqa: E731
    if name in LOOPED and has(r"\bATOMS\.CAST") and theirs > ours:
        return CONTENDED
    if name in (ATOMIC, ATOMIC_WAVEFRONTS, ATOMIC_CONFLICTS) and has(r"\bATOM\.E"):
        return GENERIC
    if "_mem_local_" in name:
        return RESHAPED if has(r"\b(LDL|STL)\b") else REGISTERS
    if name in GLOBAL and theirs < ours and re.search(r"\bbra\b", body(launch, folder)):
        return RECONVERGED
    if name in (SHARED.format("ld"), SHARED.format("st")) and theirs < ours and has(r"^@"):
        return PREDICATES
    if name == CONSTANT and not theirs:
        own = (load.bank() == (OWN_BANK, True) for load in instructions(launch, "LDC"))
        return None if any(own) else UNIFORM
    if name == DIVERGENT:
        return PREDICATES
    if name in (ATOMIC_WAVEFRONTS, ATOMIC_CONFLICTS) and 0 < theirs - ours <= max(8, ours // 4):
        return AT_ONCE
    return None


def body(launch, folder):
    """Returns the PTX of a launch's kernel."""
    text = (folder / launch["ptx"]).read_text(encoding="utf-8")
    return re.search(rf"\.entry {launch['kernel']}\(.*?\n}}", text, re.DOTALL)[0]


def unexplained(launches, folder):
    """Yields a message for each difference without a reason."""
    for launch in launches:
        for figure, name, ours, theirs in pairs(launch):
            if ours != theirs and reason(launch, name, ours, theirs, folder) is None:
                yield f"  {launch['label']}: {figure} is {ours} on the simulator, {theirs} on the GPU"
