"""Parser of ncu's output: the counters of each launch and its machine code."""

import csv
import re
import sys


def raw_page(text, names):
    """Returns the launches of a raw page, each with the values of `names`."""
    head, _units, *rows = table_of(text, "ID")
    launches = []
    for row in rows:
        cells = dict(zip(head, row))
        missing = [name for name in names if not re.fullmatch(r"-?[\d.,]+", cells.get(name, ""))]
        if missing:
            sys.exit(f"error: ncu reports no value on this GPU for {', '.join(missing)}")
        launches.append(
            {
                "kernel": cells["Kernel Name"].split("(")[0],
                "process": cells["Process Name"],
                "grid": [int(size) for size in re.findall(r"\d+", cells["Grid Size"])],
                "block": [int(size) for size in re.findall(r"\d+", cells["Block Size"])],
                "gpu": {name: figure(cells[name]) for name in names},
            }
        )
    return launches


# Values per memory instruction, and per HFMA2.MMA: the number of executions by warps and by threads whose guard
# predicate was true, and the wavefronts of shared memory that it would have taken without bank conflicts.
LISTED = [
    "Instructions Executed",
    "Predicated-On Thread Instructions Executed",
    "L1 Wavefronts Shared Ideal",
]
LISTED_CODE = re.compile(r"(?:@!?U?P[T\d]+ +)?(?:LD[CSGL]?|ST[SGL]?|ATOM[SG]?|RED|HFMA2\.MMA)\b")


def source_page(text):
    """Returns the kernel's name and its recorded instructions for each launch."""
    listings = []
    for part in text.split('"Kernel Name",')[1:]:
        name, rest = part.split("\n", 1)
        head, *rows = table_of(rest, "Address")
        # ncu prints some listings twice.
        if listings and listings[-1][1] == rows:
            continue
        listings.append((name.strip('",\r').split("(")[0], rows, head))
    return [(name, list(accesses(head, rows))) for name, rows, head in listings]


def accesses(head, rows):
    for row in rows:
        cells = dict(zip(head, row))
        text = " ".join(cells["Source"].split())
        if LISTED_CODE.match(text):
            yield [text, *(figure(cells.get(column, "0")) for column in LISTED)]


def table_of(text, first):
    """Returns the rows of the CSV table whose header begins with `first`, without the text around it."""
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith(f'"{first}",')), None)
    if start is None:
        sys.exit(f"error: ncu printed no table with a column {first}; its output:\n{text}")
    rows = list(csv.reader(lines[start:]))
    return [row for row in rows if len(row) == len(rows[0])]


def figure(cell):
    number = float(cell.replace(",", ""))
    return int(number) if number.is_integer() else number
