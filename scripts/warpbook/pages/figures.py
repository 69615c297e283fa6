"""Sources of the figures that a page presents as measured, counted or computed.

Such a figure has a mark before its paragraph, list or table, only in the English page: the Chinese page must
contain the same figures (sources.py). Only this check reads the marks. A mark is one of these:

    <!-- from ladder-h200.md#matmul-tiled: 24.3 = "tiled 16 | 24.31"; 106 = "even shares … 106" -->
        A quotation is part of one line in that section of that file in docs/results, with `…` for omitted text;
        its last figure is the one it supports. In a file with tables written by scripts, only those tables count.
        `here` is the page itself, and a page's name that page: the output of their commands, and tables that
        scripts write there. `FIGURE =` precedes a rounded figure, or one computed from several quotations.
    <!-- measured 0.071, 0.065: NVIDIA H200, driver 580.159.04, 2026-11-21: by what -->
        Measured figures that no file contains. `all` stands for a whole paragraph or table.
    <!-- tested 591, 4449: crates/machinery/testing/differential/tests/coverage.rs -->
        That test fails if the page contains other figures.
    <!-- given 5.2, 7.0 -->
        Figures that are not measured: a size, a version, a value that a note published.

The page must contain the figures of its marks, so that no mark becomes obsolete. No mark is needed for figures of
three or more digits in the page's own commands and code, or for those that prose.py takes for names or sizes. A
row of a program's table that is labelled `measured` must equal a record, cell by cell.
"""

import json
import re

from . import markdown, prose

# Results that are checked like pages. The others are records written by hand.
RESULTS = [
    "checks.md", "counters-h200.md", "h200.md", "held-out-h200.md", "ladder-h200.md", "notes.md",
]  # fmt: skip
RECORDS = "h200.jsonl"
# The line below a table that a chapter prints on a GPU, and the last column of its rows.
MEASURED = re.compile(r"Times: measured, (.*?)\. Speedup: .*")
CHECKS = ("correct", "WRONG")
QUOTATION = re.compile(r'"([^"]*)"')
UNKNOWN = (
    "the figure has no source: quote docs/results in a mark before the paragraph "
    "(see scripts/warpbook/pages/figures.py), or remove the figure"
)


def check(docs, root):
    """Returns a sentence per problem with the figures of all pages, and the number of figures with a mark."""
    chinese = [root / "README.zh-CN.md", *sorted((docs / "zh").glob("*.md"))]
    pages = [root / "README.md", *sorted((docs / "en").glob("*.md"))]
    pages += sorted((root / "crates").glob("*/README.md"))
    wrong, count = [], 0
    for file in [*pages, *(docs / "results" / name for name in RESULTS)]:
        unaccounted, marked = accounts(file, docs)
        wrong += [f"{file.relative_to(root)}:{error}" for error in unaccounted]
        count += marked
    runs = list(tables(docs / "results" / RECORDS))
    for file in [*pages, *chinese]:
        wrong += [f"{file.relative_to(root)}:{error}" for error in unrecorded(file, runs)]
    return wrong, count


def accounts(file, docs):
    """Returns the figures of a page without a source or different from it, and the number of marked figures."""
    lines = read(file)
    blocks = [block.lines for block in markdown.blocks(lines) if block.language != "text"]
    in_code = {figure.written for line in sum(blocks, []) for figure in prose.figures(line)}
    in_code = {written for written in in_code if len(written.replace(".", "").lstrip("0")) >= 3}
    wrong, count = [], 0
    for paragraph in prose.paragraphs(lines):
        figures = prose.figures(paragraph.text)
        written = {figure.written for figure in figures}
        sourced = [pair for kind, text in paragraph.marks for pair in MARKS[kind](text, file, docs)]
        marked = {prose.plain(figure) for figure, _ in sourced}
        errors = [error for _, error in sourced if error]
        for figure in sorted(marked - written - {"all"}):
            errors.append(f"{figure} has a mark here, but the text does not contain it: correct the mark or the text")
        if "all" not in marked:
            claimed = dict.fromkeys(figure.written for figure in figures if figure.claims())
            errors += [f"{figure}: {UNKNOWN}" for figure in claimed if figure not in marked | in_code]
        wrong += [f"{paragraph.first}: {error}" for error in errors]
        count += len(marked)
    return wrong, count


def quoted(text, file, docs):
    """Yields the figures of a `from` mark, each with the error of its source, or `None`."""
    location, _, items = text.partition(": ")
    name, _, section = location.partition("#")
    results, page = docs / "results" / name, file if name == "here" else docs / "en" / name
    source = section_lines(results, section) if results.is_file() else shown(page) if page.is_file() else []
    for item in items.split("; "):
        figure, _, expression = item.rpartition(" = ")
        quotations = QUOTATION.findall(expression)
        wrong = [error for quotation in quotations if (error := misquoted(quotation, source, location))]
        if wrong:
            yield figure or last(expression), wrong[0]
        else:
            computed = QUOTATION.sub(lambda quotation: last(quotation[1]), expression)
            yield figure or computed, figure and unequal(figure, computed, expression)


def misquoted(quotation, source, location):
    """Returns the error of a quotation, which must match one line of the source in one way, or `None`."""
    pieces = [re.escape(" ".join(piece.split())) for piece in quotation.split("…")]
    patterns = [re.compile(rf"(?<![\d.]){gap.join(pieces)}(?!\d|\.\d)") for gap in (".*?", ".*")]
    ends = {(line, match.end()) for line in source for pattern in patterns if (match := pattern.search(line))}
    if not prose.figures(quotation):
        return f'"{quotation}" has no figure'
    if not ends:
        return f'"{quotation}" is not in {location}: correct the figure, and quote the current line'
    if len(ends) > 1:
        return f'"{quotation}" is in {location} more than once: quote more of the line'
    return None


def last(quotation):
    """Returns the figure that a quotation supports, its last one."""
    return ([figure.written for figure in prose.figures(quotation)] or [""])[-1]


def unequal(figure, computed, expression):
    """Returns an error if a figure differs from the computed value rounded to its decimals, or `None`."""
    figure = prose.plain(figure)
    try:
        if not re.fullmatch(r"[\d.+*/() -]+", computed):
            raise SyntaxError
        value = eval(computed, {"__builtins__": {}})
    except (SyntaxError, ZeroDivisionError):
        return f"{figure} = {expression}: not a computation with quotations and numbers"
    half = 0.5 * 10 ** -len(figure.partition(".")[2])
    if abs(value - float(figure)) > half * 1.000001:
        return f"the text has {figure}, but {expression} is {value:.4g}: correct the text"
    return None


def measured(text, file, docs):
    listed, _, how = text.partition(": ")
    dated = re.search(r"\w.*\b20\d\d-\d\d-\d\d: .", how)
    missing = None if dated else f"{listed}: name the machine, the date and the program of the measurement"
    return [(figure, missing) for figure in listed.split(", ")]


def tested(text, file, docs):
    listed, _, test = text.partition(": ")
    missing = None if (docs.parent / test).is_file() else f"there is no {test}, which tests {listed}"
    return [(figure, missing) for figure in listed.split(", ")]


def given(text, file, docs):
    return [(figure, None) for figure in text.split(", ")]


MARKS = {"from": quoted, "measured": measured, "tested": tested, "given": given}


def section_lines(file, section):
    """Returns the lines of a file's section, or of all of it; if scripts write parts of the file, only those."""
    lines = read(file)
    written = prose.generated(lines) or set(range(len(lines)))
    inside, selected = not section, []
    for number, line in enumerate(lines):
        heading = markdown.HEADING.match(line)
        if section and heading:
            inside = section == re.sub(r"[^\w-]", "", heading[2].lower().replace(" ", "-"))
        if inside and number in written:
            selected.append(" ".join(line.split()))
    return selected


def shown(page):
    """Returns the lines of a page that other checks cover: the output of commands, and text written by scripts."""
    lines = read(page)
    printed = [block.lines for block in markdown.blocks(lines) if block.language == "console"]
    written = [lines[number] for number in sorted(prose.generated(lines))]
    return [" ".join(line.split()) for line in [*sum(printed, []), *written]]


def unrecorded(file, runs):
    """Yields an error per table that a program printed on a GPU but that no recorded run contains."""
    for block in markdown.blocks(read(file)):
        gpus = [match[1] for line in block.lines if (match := MEASURED.fullmatch(line))]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.lines if line.startswith("|")]
        rows = [row for row in rows if row[-1] in CHECKS]
        if gpus and not any(gpu == gpus[0] and all(row in run for row in rows) for gpu, run in runs):
            yield f"{block.first + 1}: no run in docs/results/{RECORDS} has these rows"


def tables(records):
    """Yields the GPU and the rows of each run, as programs without their own columns print them."""
    for line in read(records)[1:]:
        record = json.loads(line)["measured"] if line else {"results": [], "gpu": {"name": ""}}
        rows = [
            [
                result["variant"],
                milliseconds(result["median_ms"]),
                f"{milliseconds(result['min_ms'])}–{milliseconds(result['max_ms'])}",
                "–" if result["speedup"] is None else f"{result['speedup']:.2f}",
                "correct" if result["verified"] else "WRONG",
            ]
            for result in record["results"]
        ]
        yield record["gpu"]["name"], rows


def milliseconds(ms):
    """Formats milliseconds as crates/machinery/book/chapter/src/number.rs does."""
    return f"{ms:.{5 if ms < 0.1 else 4}f}"


def read(file):
    return file.read_text(encoding="utf-8").split("\n")
