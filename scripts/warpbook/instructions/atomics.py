"""Atomic additions of halves and 16-bit compare-and-swaps, in device and in shared memory."""

import random

from . import packed
from .template import Snippet

HALVES = [("f16", packed.F16), ("f16x2", packed.F16), ("bf16", packed.BF16), ("bf16x2", packed.BF16)]


def snippets():
    draw = random.Random(24)
    for space, address in (("global", "%answer"), ("shared", "%cell")):
        store = f"st.{space}.u32 [{address}], %x0; mov.b32 {{%h0, %h1}}, %x1; "
        load = f" ld.{space}.u32 %y1, [{address}];"
        for ty, values in HALVES:
            if ty.endswith("x2"):
                old, b, end = "%y0", "%x1", ""
            else:
                old, b, end = "%h2", "%h0", " cvt.u32.u16 %y0, %h2;"
            rows = packed.pairs(draw, values, 32)
            code = f"atom.{space}.add.noftz.{ty} {old}, [{address}], {b};"
            yield Snippet(store + code + end + load, rows)
            yield Snippet(f"{store}red.{space}.add.noftz.{ty} [{address}], {b};{load}", rows)
        rows = [(high << 16 | low, new) for high in (1, 2) for low in (1, 2) for new in (1, 2)]
        code = f"atom.{space}.cas.b16 %h2, [{address}], %h0, %h3; cvt.u32.u16 %y0, %h2;"
        yield Snippet(f"{store}mov.u16 %h3, 7; {code}{load}", rows)
