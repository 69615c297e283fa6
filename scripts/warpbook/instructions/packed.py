"""Instructions on two packed values in one register, and instructions that pack values."""

import random

from .template import Snippet

# Zeros, ones, the smallest and largest normal and subnormal numbers, infinities, NaNs.
F16 = [0, 0x8000, 0x3C00, 0xBC00, 1, 0x83FF, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0xFC01]
BF16 = [0, 0x8000, 0x3F80, 0xBF80, 1, 0x807F, 0x0080, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0xFF81]
INT16 = [0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x1234, 0xFEDC]
INT32 = [0, 1, 3, 4, 7, 8, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x7FFFFFFF]

ORDERED = ["eq", "ne", "lt", "le", "gt", "ge"]
FLOAT = ORDERED + ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
BITS = ["b16", "b32", "b64"]
UNSIGNED = ["u16", "u32", "u64"]
SIGNED = ["s16", "s32", "s64"]


def snippets():
    draw = random.Random(23)
    yield from integers(draw)
    yield from comparisons(draw)
    yield from packs(draw)


def pairs(draw, values, count=16):
    """Returns rows of two registers with two values each, and a bit for a predicate."""
    two = lambda: draw.choice(values) << 16 | draw.choice(values)
    return [(two(), two(), draw.getrandbits(1)) for _ in range(count)]


def integers(draw):
    for ty in ("u16x2", "s16x2"):
        for name in ("add", "min", "max"):
            yield Snippet(f"{name}.{ty} %y0, %x0, %x1;", pairs(draw, INT16))
    for name in ("min", "max"):
        yield Snippet(f"{name}.relu.s16x2 %y0, %x0, %x1;", pairs(draw, INT16))


def comparisons(draw):
    predicate = "setp.ne.u32 %p2, %x2, 0; "
    booleans = "selp.u32 %y0, 1, 0, %p0; selp.u32 %y1, 1, 0, %p1;"
    for ty, values in (("f16x2", F16), ("bf16x2", BF16)):
        for relation in FLOAT:
            flushes = ["", ".ftz"] if ty == "f16x2" else [""]
            for ftz in flushes:
                rows = pairs(draw, values, 10)
                yield Snippet(f"setp.{relation}{ftz}.{ty} %p0|%p1, %x0, %x1; {booleans}", rows)
                for boolean in ("and", "or", "xor"):
                    code = f"setp.{relation}.{boolean}{ftz}.{ty} %p0|%p1, %x0, %x1, %p2;"
                    yield Snippet(f"{predicate}{code} {booleans}", rows)
                for to in (ty, "u32", "s32"):
                    yield Snippet(f"set.{relation}{ftz}.{to}.{ty} %y0, %x0, %x1;", rows)
                    code = f"set.{relation}.xor{ftz}.{to}.{ty} %y0, %x0, %x1, !%p2;"
                    yield Snippet(predicate + code, rows)
    yield from narrow(draw)


def narrow(draw):
    """Yields `set` instructions with 16-bit results or half-precision operands."""
    halves = "mov.b32 {%h0, %h1}, %x0; mov.b32 {%h2, %h3}, %x1; "
    end = "mov.b32 %y0, {%h4, %h4};"
    for ty, values in (("f16", F16), ("bf16", BF16)):
        for relation in FLOAT:
            for to in (ty, "u16", "s16", "u32", "s32"):
                if to.endswith("32"):
                    code = f"set.{relation}.{to}.{ty} %y0, %h0, %h2;"
                else:
                    code = f"set.{relation}.{to}.{ty} %h4, %h0, %h2; {end}"
                yield Snippet(halves + code, pairs(draw, values, 10))
    for to in ("f16", "bf16"):
        for ty in BITS + UNSIGNED + SIGNED + ["f32", "f64"]:
            a, b = {"16": ("%h0", "%h2"), "32": ("%x0", "%x2")}.get(ty[1:], ("%a0", "%a1"))
            relation = "eq" if ty[0] == "b" else "lt"
            rows = [[draw.choice(INT32) for _ in range(4)] for _ in range(6)]
            rows += [[value] * 4 for value in (0, 1, 0x80000000)]
            yield Snippet(f"{halves}set.{relation}.{to}.{ty} %h4, {a}, {b}; {end}", rows)


def packs(draw):
    values = INT32 + [-value & 0xFFFFFFFF for value in INT32]
    row = lambda: [draw.choice(values), draw.choice(values), draw.getrandbits(32)]
    for to in ("s16", "u16"):
        yield Snippet(f"cvt.pack.sat.{to}.s32 %y0, %x0, %x1;", [row() for _ in range(32)])
    for to in ("s8", "u8", "s4", "u4", "s2", "u2"):
        code = f"cvt.pack.sat.{to}.s32.b32 %y0, %x0, %x1, %x2;"
        yield Snippet(code, [row() for _ in range(32)])
