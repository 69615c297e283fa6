"""The text of a page without its code: paragraphs and the figures in them."""

import dataclasses
import re

from . import markdown

# A number that is not part of a name, a date, a path, a power or a size like 16×16.
NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,^/#×-])"
    r"(?:\d{1,3}(?:[ ,]\d{3})+|\d+)(?:\.\d+)?(?:e-?\d+)?"
    r"(?![A-Za-z0-9_^×]|[.,-]\d)"
)
# Text after a small integer that makes it a claim.
UNIT = re.compile(r"\s?(%|times\b|cycles\b|ns\b|µs\b|ms\b|[GT]B/s|[GT]FLOP/s|of (the )?\d)")
# Text before a version, a section of the notes, the name of a GPU, or a year.
NAMED = re.compile(
    r"((Python|Rust\]?,?|CUDA|PCIe|nvcc|capability|code|sections?|version|RTX|GTX)"
    r"( \d[\d.]*,?( and| or)?)*|such as|since) $"
)
SCALE = re.compile(r"\s?(million|M|万)(?![A-Za-z])")
SCALES = {"million": 1e6, "M": 1e6, "万": 1e4}

MARK = re.compile(r"<!-- (from|measured|tested|given) (.*?) -->")
GENERATED = re.compile(r"<!-- (?!end )[\w-]+ -->")
# Markup that is removed; links keep their text.
MARKUP = re.compile(r"<!--.*?-->|`[^`]*`|(?<=\])\([^)]*\)|https?://\S+")


@dataclasses.dataclass
class Figure:
    """A number as written, without separators, and the text on either side."""

    written: str
    before: str
    after: str

    @property
    def value(self):
        scale = SCALE.match(self.after)
        return round(float(self.written) * (SCALES[scale[1]] if scale else 1), 9)

    def claims(self):
        """Returns true if the page must be able to name the figure's source. Powers of two are sizes."""
        if NAMED.search(self.before):
            return False
        if not self.written.isdecimal() or UNIT.match(self.after):
            return True
        whole = int(self.written)
        return whole >= 1000 and whole & (whole - 1) != 0


@dataclasses.dataclass
class Paragraph:
    """Consecutive non-empty lines, which may be a list or a table: the first line's number, the text, and its marks."""

    first: int
    text: str
    marks: list


def paragraphs(lines):
    """Returns the paragraphs of a page, without code, generated text and includes."""
    excluded = generated(lines) | code(lines)
    result, first = [], None
    for number, line in enumerate([*lines, ""]):
        if number in excluded or not line.strip() or markdown.INCLUDE.search(line):
            if first is not None:
                text = " ".join(lines[first:number])
                result.append(Paragraph(first + 1, MARKUP.sub("", text), MARK.findall(text)))
            first = None
        elif first is None:
            first = number
    return result


def sections(lines):
    """Returns the figures of each section, each with the line in which its paragraph begins."""
    inside = code(lines)
    starts = [n for n, line in enumerate(lines) if n not in inside and markdown.HEADING.match(line)]
    result = [[] for _ in range(len(starts) + 1)]
    for paragraph in paragraphs(lines):
        section = sum(start < paragraph.first for start in starts)
        result[section] += [(paragraph.first, figure) for figure in figures(paragraph.text)]
    return result


def code(lines):
    """Returns the indices of the lines of code, fences included."""
    return {
        number
        for block in markdown.blocks(lines)
        for number in range(block.first - 1, block.first + len(block.lines) + 1)
    }


def generated(lines):
    """Returns the indices of the lines that a script writes, between <!-- NAME --> and <!-- end -->."""
    numbers, inside = set(), False
    for number, line in enumerate(lines):
        if line == "<!-- end -->":
            inside = False
        elif inside:
            numbers.add(number)
        elif GENERATED.fullmatch(line):
            inside = True
    return numbers


def figures(text):
    return [
        Figure(plain(number[0]), text[: number.start()], text[number.end() :])
        for number in NUMBER.finditer(text)
    ]


def plain(figure):
    """Returns a figure without thousands separators."""
    return re.sub(r"[ ,]", "", figure)
