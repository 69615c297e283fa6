"""Parser of the parts of a page's Markdown that the checks need: headings, fenced blocks, includes."""

import dataclasses
import re

FENCE = re.compile(r"(?P<fence>```+|~~~+)\s*(?P<language>[\w-]*)")
HEADING = re.compile(r"(#{1,6}) +(.*)")
ANCHOR = re.compile(r"\bANCHOR(_END)?:\s*([\w-]+)")
INCLUDE = re.compile(r"\{\{#(?:rustdoc_)?include ([^}:]+)(?::([^}]+))?\}\}")


@dataclasses.dataclass
class Block:
    """A fenced block: its language, the index of its first line in the file, and the lines between its fences."""

    language: str
    first: int
    lines: list


def blocks(lines):
    """Returns the fenced blocks of a page, in order."""
    result, open_by = [], None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if open_by and line.strip() == open_by:
            open_by = None
        elif open_by:
            result[-1].lines.append(line)
        elif fence:
            open_by = fence["fence"]
            result.append(Block(fence["language"], number + 1, []))
    return result


def headings(lines):
    """Returns the level and the text of each heading."""
    inside = {
        number
        for block in blocks(lines)
        for number in range(block.first - 1, block.first + len(block.lines) + 1)
    }
    result = []
    for number, line in enumerate(lines):
        heading = HEADING.match(line)
        if heading and number not in inside:
            result.append((len(heading[1]), heading[2]))
    return result


def includes(text):
    """Returns the path and the anchor (or line numbers, or `None`) of each include."""
    return INCLUDE.findall(text)


def included(text, folder):
    """Returns a page's text with its includes replaced, as mdBook does. `folder` is the page's folder."""
    return INCLUDE.sub(lambda include: part(folder / include[1], include[2]), text)


def part(file, selection):
    """Returns the lines of a file that an include selects: by line numbers, by an anchor, or all."""
    lines = file.read_text(encoding="utf-8").splitlines()
    if not selection:
        return "\n".join(lines)
    if re.fullmatch(r"[\d:]+", selection):
        first, colon, last = selection.partition(":")
        return "\n".join(lines[int(first or 1) - 1 : int(last or len(lines)) if colon else int(first)])
    selected, inside = [], False
    for line in lines:
        mark = ANCHOR.search(line)
        if mark and mark[2] == selection:
            inside = not mark[1]
        elif inside and not mark:
            selected.append(line)
    return "\n".join(selected)
