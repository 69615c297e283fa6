"""`.ftz` of results next to the smallest normal number, or rounded to it."""

import itertools
import struct

from .template import Snippet

MODES = ("rn", "rz", "rm", "rp")
SMALLEST_NORMAL = 2.0**-126


def snippets():
    """Yields products, quotients, fused multiply-adds and conversions."""
    for code, operands in instructions():
        for start in range(0, len(operands), 32):
            yield Snippet(code, operands[start : start + 32])


def instructions():
    for mode in MODES:
        for operation in ("mul", "div"):
            yield f"{operation}.{mode}.ftz.f32 %y0, %x0, %x1;", rows(operation)
        yield f"fma.{mode}.ftz.f32 %y0, %x0, %x1, %x2;", rows("mul") + sums()
        yield f"rcp.{mode}.ftz.f32 %y0, %x1;", rows("div")
        yield f"cvt.{mode}.ftz.f32.f64 %y0, %a0;", doubles()
    yield "mul.ftz.sat.f32 %y0, %x0, %x1;", rows("mul")


def rows(operation):
    """Returns factors, or dividends and divisors, with results around ±2^-126."""
    operands = []
    for sign, step in itertools.product((1, -1), (0, 1, 100, 1448, 2000)):
        for off in (-2, -1, 0, 1):
            if operation == "mul":
                # (1 - 2s/2^24)(1 + s/2^23) is 1 - 2s²/2^46.
                pair = (2.0**-6 * (1 - (2 * step + off) * 2.0**-24), 2.0**-120 * (1 + step * 2.0**-23))
            else:
                pair = (2.0**-96 * (1 + step * 2.0**-23), 2.0**30 * (1 + (step - off) * 2.0**-23))
            operands.append([word(sign * pair[0]), word(pair[1]), 0])
    # The largest numbers whose reciprocal is normal, and the smallest whose reciprocal is subnormal.
    operands += [[word(1.0), 0x7E800000 + n, 0] for n in range(-2, 4)]
    return operands


def sums():
    """Returns factors and addends whose sum differs from ±2^-126 so little that it needs more than 53 bits."""
    operands = []
    for sign, exponent, step in itertools.product((1, -1), (-148, -150, -151, -152, -175), (0, 1, 3)):
        factor = -sign * 2.0 ** (exponent // 2) * (1 + step * 2.0**-23)
        other = 2.0 ** (exponent - exponent // 2) * (1 + step * 2.0**-23)
        operands.append([word(factor), word(other), word(sign * SMALLEST_NORMAL)])
    return operands


def doubles():
    """Returns double-precision numbers around ±2^-126."""
    operands = []
    for sign, bits in itertools.product((1, -1), (23, 24, 25, 26, 27, 40)):
        for around in (-1, 0, 1):
            number = sign * SMALLEST_NORMAL * (1 - 2.0**-bits + around * 2.0**-52)
            low, high = struct.unpack("<2I", struct.pack("<d", number))
            operands.append([low, high, 0])
    return operands


def word(number):
    """Returns the bits of the nearest single-precision number."""
    return struct.unpack("<I", struct.pack("<f", number))[0]
