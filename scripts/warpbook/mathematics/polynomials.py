"""Generates the headers with the polynomials, or checks that they are up to date."""

import argparse
import pathlib
import sys

from . import functions
from .fit import fit, literal

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "kernels/include/mathematics/polynomials"

HEAD = """// Polynomials of the device mathematics. `scripts/polynomials --write` makes this file.

#pragma once

#include "../core.h"

namespace __cuda_math {
"""


def definition(name, kind, about, coefficients):
    """Returns the C++ function that evaluates the polynomial."""
    suffix = "f" if kind == "float" else ""
    x = "x" if about is None else f"x - {literal(about, kind)}"
    lines, line = [], f"    return horner({x}"
    for c in coefficients:
        text = literal(c, kind)
        if len(line) + len(text) + 2 > 100:
            lines.append(line + ",")
            line = "                  " + text
        else:
            line += ", " + text
    lines.append(line + ");")
    return "\n".join([f"__CUDA_MATH {kind} {name}{suffix}({kind} x) {{", *lines, "}", ""])


def header(family):
    parts = [HEAD]
    for name, description, f, a, b, about in family:
        comment = f"// {description}; {float(a):.4g} to {float(b):.4g}\n"
        fits = {kind: fit(f, a, b, kind, about) for kind in ("float", "double")}
        parts.append(comment + "".join(definition(name, kind, about, c) for kind, c in fits.items()))
        print(name, {kind: len(c) for kind, c in fits.items()}, file=sys.stderr)
    return "\n".join(parts) + "\n} // namespace __cuda_math\n"


def main(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", help="name of the only family to generate")
    arguments = parser.parse_args()
    stale = []
    for name, family in functions.families().items():
        if arguments.only not in (None, name):
            continue
        text = header(family)
        file = FOLDER / f"{name}.h"
        if arguments.write:
            file.write_text(text)
        elif not file.is_file() or file.read_text() != text:
            stale.append(file.name)
    if stale:
        sys.exit("error: out of date: " + ", ".join(stale) + "; run scripts/polynomials --write to regenerate")
