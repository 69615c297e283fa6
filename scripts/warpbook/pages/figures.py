"""Where each figure comes from that a page says was measured, counted or computed.

Such a figure has a mark before its paragraph, list or table, in the English page alone: the Chinese
page has to say the same figures (sources.py). A mark is read by nobody else, and is one of these:

    <!-- from ladder-h200.md#matmul-tiled: 24.3 = "tiled 16 | 24.31"; 106 = "even shares … 106" -->
        What is quoted stands in one line of that section of that file in docs/results, with `…` for
        what is left out, and its last figure is what it is quoted for. Of a file in which scripts
        write tables, nothing else counts. `here` is the page itself, and the name of another page
        that page: what their commands print, and tables that scripts write there.
        `FIGURE =` goes before what is rounded, or computed from several quotations.
    <!-- measured 0.071, 0.065: NVIDIA H200, driver 580.159.04, 2026-11-21: by what -->
        No file has it. `all` stands for a whole paragraph or table.
    <!-- tested 591, 4449: crates/machinery/differential/tests/coverage.rs -->
        That test fails when the page says something else.
    <!-- given 5.2, 7.0 -->
        Nobody measures it: a size, a version, what a note published.

A mark's figures have to be said, so that no mark outlives them. No mark is needed for three digits
and more that stand in the page's own commands and code, nor for what prose.py takes for a name or a
size. A row of a program's table that says `measured` has to be one of the records, cell for cell.
"""

import json
import re

from . import markdown, prose

# Looked at like pages. The other results are records that were written by hand.
RESULTS = [
    "checks.md", "counters-h200.md", "h200.md", "held-out-h200.md", "ladder-h200.md", "notes.md",
]  # fmt: skip
RECORDS = "h200.jsonl"
# The line below a table that a chapter prints on a GPU, and the last column of its rows.
MEASURED = re.compile(r"Times: measured, (.*?)\. Speedup: .*")
CHECKS = ("correct", "WRONG")
QUOTATION = re.compile(r'"([^"]*)"')
UNKNOWN = (
    "nothing says where it comes from: quote docs/results in a mark before the paragraph "
    "(scripts/warpbook/pages/figures.py says how), or leave it out"
)


def check(docs, root):
    """What is wrong with the figures of all pages, a sentence each, and how many have a mark."""
    chinese = [root / "README.zh-CN.md", *sorted((docs / "zh").glob("*.md"))]
    pages = [root / "README.md", *sorted((docs / "en").glob("*.md"))]
    pages += sorted((root / "crates").glob("*/README.md"))
    wrong, count = [], 0
    for file in [*pages, *(docs / "results" / name for name in RESULTS)]:
        unaccounted, marked = accounts(file, docs)
        wrong += [f"{file.relative_to(root)}:{what}" for what in unaccounted]
        count += marked
    runs = list(tables(docs / "results" / RECORDS))
    for file in [*pages, *chinese]:
        wrong += [f"{file.relative_to(root)}:{what}" for what in unrecorded(file, runs)]
    return wrong, count


def accounts(file, docs):
    """What a page says without a source, or otherwise than it; and how many figures have a mark."""
    lines = read(file)
    blocks = [block.lines for block in markdown.blocks(lines) if block.language != "text"]
    known = {figure.written for line in sum(blocks, []) for figure in prose.figures(line)}
    known = {written for written in known if len(written.replace(".", "").lstrip("0")) >= 3}
    wrong, count = [], 0
    for paragraph in prose.paragraphs(lines):
        said = prose.figures(paragraph.text)
        written = {figure.written for figure in said}
        found = [one for kind, text in paragraph.marks for one in MARKS[kind](text, file, docs)]
        marked = {prose.plain(figure) for figure, _ in found}
        errors = [error for _, error in found if error]
        for figure in sorted(marked - written - {"all"}):
            errors.append(f"{figure} has a mark here, and is not said: mend the mark, or the text")
        if "all" not in marked:
            claimed = dict.fromkeys(figure.written for figure in said if figure.claims())
            errors += [f"{figure}: {UNKNOWN}" for figure in claimed if figure not in marked | known]
        wrong += [f"{paragraph.first}: {error}" for error in errors]
        count += len(marked)
    return wrong, count


def quoted(text, file, docs):
    """The figures of a `from` mark, each with what is wrong with its source, or None."""
    place, _, items = text.partition(": ")
    name, _, section = place.partition("#")
    results, page = docs / "results" / name, file if name == "here" else docs / "en" / name
    source = kept(results, section) if results.is_file() else shown(page) if page.is_file() else []
    for item in items.split("; "):
        figure, _, expression = item.rpartition(" = ")
        quotations = QUOTATION.findall(expression)
        wrong = [error for one in quotations if (error := misquoted(one, source, place))]
        if wrong:
            yield figure or last(expression), wrong[0]
        else:
            computed = QUOTATION.sub(lambda quotation: last(quotation[1]), expression)
            yield figure or computed, figure and unequal(figure, computed, expression)


def misquoted(quotation, source, place):
    """Why a quotation is none. It stands in one line of the source, and can be read in one way."""
    pieces = [re.escape(" ".join(piece.split())) for piece in quotation.split("…")]
    ways = [re.compile(rf"(?<![\d.]){gap.join(pieces)}(?!\d|\.\d)") for gap in (".*?", ".*")]
    ends = {(line, found.end()) for line in source for way in ways if (found := way.search(line))}
    if not prose.figures(quotation):
        return f'"{quotation}" has no figure'
    if not ends:
        return f'"{quotation}" is not in {place}: say what is there now, and quote that'
    if len(ends) > 1:
        return f'"{quotation}" is in {place} more than once: quote more of the line'
    return None


def last(quotation):
    """The figure that something is quoted for."""
    return ([figure.written for figure in prose.figures(quotation)] or [""])[-1]


def unequal(figure, computed, expression):
    """Why a figure is not what is computed, rounded to the decimals that it has."""
    figure = prose.plain(figure)
    try:
        if not re.fullmatch(r"[\d.+*/() -]+", computed):
            raise SyntaxError
        value = eval(computed, {"__builtins__": {}})
    except (SyntaxError, ZeroDivisionError):
        return f"{figure} = {expression}: not a computation with quotations and numbers"
    half = 0.5 * 10 ** -len(figure.partition(".")[2])
    if abs(value - float(figure)) > half * 1.000001:
        return f"{figure} is said, and {expression} is {value:.4g}: mend the text"
    return None


def measured(text, file, docs):
    listed, _, how = text.partition(": ")
    dated = re.search(r"\w.*\b20\d\d-\d\d-\d\d: .", how)
    missing = None if dated else f"{listed}: say on what they were measured, the date, and by what"
    return [(figure, missing) for figure in listed.split(", ")]


def tested(text, file, docs):
    listed, _, test = text.partition(": ")
    missing = None if (docs.parent / test).is_file() else f"there is no {test}, which tests {listed}"
    return [(figure, missing) for figure in listed.split(", ")]


def given(text, file, docs):
    return [(figure, None) for figure in text.split(", ")]


MARKS = {"from": quoted, "measured": measured, "tested": tested, "given": given}


def kept(file, section):
    """The lines of a section of a file, of the whole without one; where scripts write, theirs alone."""
    lines = read(file)
    written = prose.generated(lines) or set(range(len(lines)))
    inside, found = not section, []
    for number, line in enumerate(lines):
        heading = markdown.HEADING.match(line)
        if section and heading:
            inside = section == re.sub(r"[^\w-]", "", heading[2].lower().replace(" ", "-"))
        if inside and number in written:
            found.append(" ".join(line.split()))
    return found


def shown(page):
    """What a page has that is checked elsewhere: what commands print, what scripts write."""
    lines = read(page)
    printed = [block.lines for block in markdown.blocks(lines) if block.language == "console"]
    written = [lines[number] for number in sorted(prose.generated(lines))]
    return [" ".join(line.split()) for line in [*sum(printed, []), *written]]


def unrecorded(file, runs):
    """Tables of a page that a program printed on a GPU, but that no recorded run has."""
    for block in markdown.blocks(read(file)):
        gpus = [found[1] for line in block.lines if (found := MEASURED.fullmatch(line))]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.lines if line.startswith("|")]
        rows = [row for row in rows if row[-1] in CHECKS]
        if gpus and not any(gpu == gpus[0] and all(row in run for row in rows) for gpu, run in runs):
            yield f"{block.first + 1}: these rows are of no run in docs/results/{RECORDS}"


def tables(records):
    """The GPU and the rows of each run, as a program without columns of its own prints them."""
    for line in read(records)[1:]:
        record = json.loads(line)["measured"] if line else {"results": [], "gpu": {"name": ""}}
        rows = [
            [
                one["variant"],
                milliseconds(one["median_ms"]),
                f"{milliseconds(one['min_ms'])}–{milliseconds(one['max_ms'])}",
                "–" if one["speedup"] is None else f"{one['speedup']:.2f}",
                "correct" if one["verified"] else "WRONG",
            ]
            for one in record["results"]
        ]
        yield record["gpu"]["name"], rows


def milliseconds(ms):
    """As crates/machinery/chapter/src/number.rs writes them."""
    return f"{ms:.{5 if ms < 0.1 else 4}f}"


def read(file):
    return file.read_text(encoding="utf-8").split("\n")
