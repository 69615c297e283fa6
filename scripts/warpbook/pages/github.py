"""Checks of pages on GitHub: the anchors of headings, and the targets of links."""

import functools
import pathlib
import re
import urllib.parse

from . import markdown

# A block of code, a link or an image, and inline code: code contains no links.
PIECES = re.compile(
    r"(?P<block>^[ >]*(?P<fence>```+|~~~+)[^\n]*\n(?:.*\n)*?[ >]*(?P=fence)[`~]*[ ]*$)"
    r"|(?P<mark>!?)\[(?P<text>(?:[^\[\]`]|`[^`\n]*`|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE,
)
INCLUDE = re.compile(r"\{\{#\w+")
ELSEWHERE = re.compile(r"[a-z]+:")
LINE = re.compile(r"L(\d+)(-L(\d+))?")
EMPHASIS = re.compile(r"(?<![\w*])(\*\*?|__?)(?=\S)(.+?)(?<=\S)\1(?![\w*])")
NAMED = re.compile(r"<\w[^>]*\b(?:id|name)=\"([^\"]+)\"")


def check(files, root):
    """Returns a sentence per problem that a reader of Markdown files on GitHub meets, and the number of links."""
    wrong, count = [], 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        faults = [f"{include[0]} …: GitHub shows this include as text" for include in INCLUDE.finditer(text)]
        for target in links(text):
            if not ELSEWHERE.match(target):
                count += 1
                faults += [f"{target}: {error}" for error in broken(file, target, root)]
        wrong += [f"{file.relative_to(root)}: {fault}" for fault in faults]
    return wrong, count


def links(text):
    """Yields the targets of a page's links and images."""
    for piece in PIECES.finditer(text):
        if piece["target"]:
            yield piece["target"]
            # The text of a link may be an image.
            yield from links(piece["text"])


def broken(file, target, root):
    """Yields the errors of a link's file and anchor."""
    path, _, anchor = map(urllib.parse.unquote, target.partition("#"))
    destination = pathlib.Path(file.parent, path).resolve() if path else file.resolve()
    if not destination.exists() or not destination.is_relative_to(root):
        yield "there is no such file in the repository"
    elif anchor and destination.suffix == ".md":
        if anchor not in anchors(destination):
            yield "the page has no such anchor"
    elif anchor:
        line = LINE.fullmatch(anchor)
        if not line or destination.is_dir():
            yield "the anchor of a file that is not a page must be #L and a line number"
        elif int(line[3] or line[1]) > destination.read_bytes().count(b"\n"):
            yield "the file has fewer lines"


@functools.cache
def anchors(file):
    """Returns the anchors of a page."""
    text = file.read_text(encoding="utf-8")
    names, seen = set(NAMED.findall(text)), {}
    for _, heading in markdown.headings(text.split("\n")):
        name = anchor(heading)
        count = seen.get(name, -1) + 1
        seen[name] = count
        names.add(f"{name}-{count}" if count else name)
    return names


def anchor(heading):
    """Returns a heading's anchor: lower case, hyphens for blanks, without other characters than letters, digits, _."""
    shown = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", heading)
    pieces = shown.split("`")  # every other piece is code, in which no mark makes emphasis
    pieces[::2] = [EMPHASIS.sub(r"\2", piece) for piece in pieces[::2]]
    shown = "".join(pieces)
    return re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")
