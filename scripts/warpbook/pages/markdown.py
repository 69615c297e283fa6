"""What is looked at in a page's Markdown: headings, fenced blocks, includes, notes to the checker."""

import dataclasses
import re

FENCE = re.compile(r"(?P<fence>```+|~~~+)\s*(?P<language>[\w-]*)")
HEADING = re.compile(r"(#{1,6}) +(.*)")
ANCHOR = re.compile(r"\bANCHOR(_END)?:\s*([\w-]+)")
INCLUDE = re.compile(r"\{\{#(?:rustdoc_)?include ([^}:]+)(?::([^}]+))?\}\}")


@dataclasses.dataclass
class Block:
    """A fenced block: the lines between its fences, and the place of the first in the file."""

    language: str
    first: int
    lines: list


def blocks(lines):
    """The fenced blocks of a page, in their order."""
    found, open_by = [], None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if open_by and line.strip() == open_by:
            open_by = None
        elif open_by:
            found[-1].lines.append(line)
        elif fence:
            open_by = fence["fence"]
            found.append(Block(fence["language"], number + 1, []))
    return found


def headings(lines):
    """The level and the text of each heading."""
    inside = {
        number
        for block in blocks(lines)
        for number in range(block.first - 1, block.first + len(block.lines) + 1)
    }
    found = []
    for number, line in enumerate(lines):
        heading = HEADING.match(line)
        if heading and number not in inside:
            found.append((len(heading[1]), heading[2]))
    return found


def includes(text):
    """The path and the anchor (or lines, or None) of each include."""
    return INCLUDE.findall(text)


def included(text, folder):
    """A page's text, what it includes in place, as mdBook does it. `folder` is the page's."""
    return INCLUDE.sub(lambda include: part(folder / include[1], include[2]), text)


def part(file, place):
    """The lines of a file that an include names: by their numbers, between two marks, or all."""
    lines = file.read_text(encoding="utf-8").splitlines()
    if not place:
        return "\n".join(lines)
    if re.fullmatch(r"[\d:]+", place):
        first, colon, last = place.partition(":")
        return "\n".join(lines[int(first or 1) - 1 : int(last or len(lines)) if colon else int(first)])
    found, inside = [], False
    for line in lines:
        mark = ANCHOR.search(line)
        if mark and mark[2] == place:
            inside = not mark[1]
        elif inside and not mark:
            found.append(line)
    return "\n".join(found)
