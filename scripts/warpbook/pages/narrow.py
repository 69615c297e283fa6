"""Tables of runs as a page shows them: five columns at most, which fit; the appendix has all.

docs/results has tables of up to eleven columns, and the pages of the chapters include them. Of such
a table a page gets the columns of the first row of COLUMNS that it has, and below it a link to where the rest is.
"""

import re

from ..chapters import CHAPTERS

MOST = 5
# A column by its name, or by what stands in it before a comma.
COLUMNS = [
    ["variant", "symbol", "bytes", "measured, ms", "modelled, ms"],
    ["variant", "sums", "pattern", "measured, ms", "speed"],
    ["variant", "block", "measured, ms", "speed", "modelled, ms"],
    ["variant", "accesses counted on the simulator", "measured, ms", "speed", "modelled, ms"],
    ["variant", "GFLOP/s", "measured, ms", "speed", "modelled, ms"],
    ["variant", "GB/s", "measured, ms", "speed", "modelled, ms"],
    ["variant", "measured, ms", "speed", "modelled, ms", "bound by"],
    ["allocation", "floats", "width bytes", "pitch bytes", "wasted bytes"],
    ["kernel", "thread instructions, M", "nothing 1", "sample 1", "everything 1"],
    ["chapter", "with little to do", "ms", "by default, s"],
]
# What a table's link leads to, by its first column; other tables are of runs.
APPENDIX = {"kernel": "simulator.md", "chapter": "simulator.md"}
WORDS = {"en": "All columns: [appendix]({link}).", "zh": "全部列见[附录]({link})。"}
# A table, and no line of a block of code: there a line before it says what runs.
TABLE = re.compile(r"(?:^\|.*\|[ ]*\n)+", re.MULTILINE)
FENCED = re.compile(r"^(```+|~~~+)[^\n]*\n(?:.*\n)*?\1[ ]*$", re.MULTILINE)


def narrowed(text, page, language):
    """A page's text with narrow tables; `page` is its name, by which its chapter is known."""
    inside = [block.span() for block in FENCED.finditer(text)]

    def one(table):
        if any(first <= table.start() < last for first, last in inside):
            return table[0]
        return narrow(table[0], page, language)

    return TABLE.sub(one, text)


def narrow(table, page, language):
    """A table with the columns that are kept, and where the others are; as it is, where it is narrow."""
    rows = [cells(row) for row in table.splitlines()]
    kept = columns(rows[0])
    if len(rows[0]) <= MOST or not kept:
        return table
    lines = ["| " + " | ".join(row[place] for place in kept) + " |" for row in rows]
    chapter = [f"#{name}" for name in CHAPTERS if name in page]
    link = "../results/" + APPENDIX.get(rows[0][0], "".join(["h200.md", *chapter[:1]]))
    return "\n".join([*lines, "", WORDS[language].format(link=link), ""])


def columns(head):
    """The places of the columns to keep; None where no row of COLUMNS has them."""
    for row in COLUMNS:
        found = [place for name in row for place, one in enumerate(head) if called(one, name)]
        if len(found) == len(row):
            return found
    return None


def called(head, name):
    return head == name or head.startswith(f"{name}, ")


def cells(row):
    """The cells of a row; a bar in code is none."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def wide(file):
    """The tables of a page that are too wide for it, a sentence each."""
    text = file.read_text(encoding="utf-8")
    inside = [block.span() for block in FENCED.finditer(text)]
    for table in TABLE.finditer(text):
        head = cells(table[0].splitlines()[0])
        if len(head) > MOST and not any(first <= table.start() < last for first, last in inside):
            yield (
                f"the table of {head[0] or head[1]} has {len(head)} columns, and {MOST} fit: "
                "say which of them in scripts/warpbook/pages/narrow.py"
            )
