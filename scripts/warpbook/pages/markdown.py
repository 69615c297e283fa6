"""What is looked at in a page's Markdown: headings, fenced blocks, includes, notes to the checker."""

import dataclasses
import re

FENCE = re.compile(r"(?P<fence>```+|~~~+)\s*(?P<language>[\w-]*)")
HEADING = re.compile(r"(#{1,6}) +(.*)")
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
