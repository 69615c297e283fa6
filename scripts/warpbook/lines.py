"""Lines of Rust code without tests: see scripts/lines."""

import re
import sys

from . import ROOT, flags, tables
from .chapters import CHAPTERS

A_SCREEN = 90
ONE_SITTING = 1100

# A module of tests: a declaration with a file elsewhere, or an inline module up to the brace in the first column.
TESTS = re.compile(
    r"^#\[cfg\(test\)\]\n(?:#\[[^\n]*\]\n)*(?:mod \w+;\n|mod \w+ \{\n(?:.*\n)*?\}\n)", re.MULTILINE
)


def main(doc):
    flags.parser(doc).parse_args()
    counted = [(f"crates/{name}/src/main.rs", A_SCREEN) for name in CHAPTERS]
    counted.append(("crates/common/src", ONE_SITTING))
    rows = [[path, sum(map(lines, files(ROOT / path))), limit] for path, limit in counted]
    print(tables.table(["", "lines", "at most"], rows))
    long = [path for path, count, limit in rows if count > limit]
    if long:
        sys.exit(f"error: too many lines: {', '.join(long)}; the table shows the limits")


def files(path):
    """Returns the file itself, or a folder's Rust files without tests."""
    if path.is_file():
        return [path]
    paths = sorted(path.rglob("*.rs"))
    return [file for file in paths if not {"tests", "tests.rs"} & set(file.relative_to(path).parts)]


def lines(file):
    """Returns the number of lines of a file without its tests."""
    return len(TESTS.sub("", file.read_text(encoding="utf-8")).splitlines())
