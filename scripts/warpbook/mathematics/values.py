"""Arguments of each function with the doubles nearest to the exact values."""

import argparse
import math
import pathlib
import random
import struct
import sys

from mpmath import isinf, isnan, mp, mpf, nint

from .measured import FUNCTIONS

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILE = ROOT / "crates/machinery/testing/mathematics/values/double.txt"
HEAD = """# Arguments and values as the bits of doubles, in hexadecimal, under each function's name.
# scripts/mathematics-values --write makes this file.
"""

# Arguments with which every function is tested, in addition to points of its ranges.
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308,
           -2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 0.5, -0.5, 1e-30]


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def from_bits(n):
    return struct.unpack("<d", struct.pack("<Q", n))[0]


def nearest(value):
    """Returns the nearest double, rounding ties to even."""
    if isinstance(value, float):
        return value
    if isnan(value):
        return math.nan
    if isinf(value):
        return math.inf if value > 0 else -math.inf
    if value == 0:
        return 0.0
    _, exponent = mp.frexp(value)
    unit = max(exponent - 53, -1074)
    with mp.workprec(3000):
        whole = int(nint(mp.ldexp(mpf(value), -unit)))
    try:
        return math.copysign(math.ldexp(float(whole), unit), whole or (1 if value > 0 else -1))
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def draw(rng, low, high):
    """Draws a number from a range, uniformly or with its magnitude distributed over all exponents."""
    if rng.random() < 0.5:
        return rng.uniform(low, high)
    if low > 0:
        return from_bits(rng.randint(bits(low), bits(high)))
    if high < 0:
        return -from_bits(rng.randint(bits(-high), bits(-low)))
    size = from_bits(rng.randint(0, bits(max(high, -low))))
    value = -size if rng.random() < 0.5 else size
    return value if low <= value <= high else abs(value) if abs(value) <= high else -abs(value)


def table(points):
    lines = [HEAD]
    for function in FUNCTIONS:
        rng = random.Random(function.name)
        cases = []
        if function.arity == 1:
            cases += [(x,) for x in SPECIAL if function.limit > 0 and not function.limit < abs(x) < math.inf]
        elif function.arity == 2 and not function.has_integers:
            few = SPECIAL[:7] + [2.0, -3.0, 0.5]
            cases += [(x, y) for x in few for y in few]
        cases += [tuple(map(float, p)) for p in function.extra]
        for k in range(points):
            ranges = function.ranges[k % len(function.ranges)]
            cases.append(tuple(
                float(rng.randint(*r)) if all(isinstance(end, int) for end in r) else draw(rng, *r)
                for r in ranges
            ))
        lines.append(f"{function.name} {function.arity}\n")
        for arguments in cases:
            value = nearest(function.at(*arguments))
            lines.append(" ".join(f"{bits(x):016x}" for x in (*arguments, value)) + "\n")
    return "".join(lines)


def main(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--to", type=pathlib.Path)
    parser.add_argument("--points", type=int, default=30)
    arguments = parser.parse_args()
    text = table(arguments.points)
    if arguments.to:
        arguments.to.write_text(text)
    elif arguments.write:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(text)
    elif FILE.read_text() != text:
        sys.exit(f"error: {FILE.name} is out of date; run scripts/mathematics-values --write to regenerate it")


mp.dps = 60
