"""Pairs of instructions, of which the first writes the carry flag and the second reads it."""

import random

from .template import Snippet

FIRST = ["add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"]
# The first instruction of a pair may itself read the carry flag.
FIRST_IN_CHAIN = ["addc.cc", "subc.cc", "madc.lo.cc", "madc.hi.cc"]
SECOND = [name for first in FIRST_IN_CHAIN for name in (first, first.removesuffix(".cc"))]

# Sums with and without a carry, and differences with and without a borrow.
EDGES = [
    (0xFFFFFFFF, 0xFFFFFFFF, 1, 0, 0, 0),
    (0, 0, 0, 0, 0, 0x80000000),
    (5, 0, 3, 0, 0xFFFFFFFF, 0xFFFFFFFF),
    (3, 0, 5, 0, 0, 0),
    (0x80000000, 0x7FFFFFFF, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000),
]


def snippets():
    draw = random.Random(22)
    for ty in ("u32", "s32", "u64", "s64"):
        for first in FIRST + FIRST_IN_CHAIN:
            for second in SECOND:
                drawn = [[draw.getrandbits(32) for _ in range(6)] for _ in range(2)]
                yield Snippet(chain(ty, first, second), EDGES + drawn)


def chain(ty, first, second):
    """Returns code with the results of both instructions in %y0 … %y3 and the final carry in %y4."""
    wide = ty.endswith("64")
    begin = "add.cc.u32 %t0, %x5, %x5; " if first in FIRST_IN_CHAIN else ""
    if wide:
        a, b, c = "%a0", "%a1", "%a2"
        one, two = "%d0", "%d1"
        end = "mov.b64 {%y0, %y1}, %d0; mov.b64 {%y2, %y3}, %d1;"
    else:
        a, b, c = "%x0", "%x2", "%x4"
        one, two = "%y0", "%y2"
        end = ""
    code = f"{begin}{step(first, ty, one, a, b, c)} {step(second, ty, two, c, a, b)}"
    return f"{code} addc.u32 %y4, 0, 0; {end}".strip()


def step(name, ty, to, a, b, c):
    operands = [to, a, b, c] if name.startswith("mad") else [to, a, b]
    return f"{name}.{ty} {', '.join(operands)};"
