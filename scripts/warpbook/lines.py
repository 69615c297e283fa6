"""Lines of Rust without its tests: see scripts/lines."""

import re
import sys

from . import ROOT, flags, tables
from .chapters import CHAPTERS

A_SCREEN = 90
ONE_SITTING = 1000

# A module of tests: declared, its file elsewhere, or written out, to the brace at the line's beginning.
TESTS = re.compile(
    r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*(?:mod \w+;\n|mod \w+ \{\n(?:.*\n)*?\}\n)", re.MULTILINE
)


def main(doc):
    flags.parser(doc).parse_args()
    counted = [(f"crates/{name}/src/main.rs", A_SCREEN) for name in CHAPTERS]
    counted.append(("crates/common/src", ONE_SITTING))
    rows = [[path, sum(map(lines, files(ROOT / path))), most] for path, most in counted]
    print(tables.table(["", "lines", "at most"], rows))
    long = [path for path, count, most in rows if count > most]
    if long:
        sys.exit(f"error: too long for a reader: {', '.join(long)}")


def files(path):
    """A file, or those of Rust below a folder that are no tests."""
    if path.is_file():
        return [path]
    found = sorted(path.rglob("*.rs"))
    return [one for one in found if not {"tests", "tests.rs"} & set(one.relative_to(path).parts)]


def lines(file):
    """How many lines a file has without its tests."""
    return len(TESTS.sub("", file.read_text(encoding="utf-8")).splitlines())
