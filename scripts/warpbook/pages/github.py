"""Pages as GitHub shows them: the names of their headings in an address, and where their links lead."""

import functools
import pathlib
import re
import urllib.parse

from . import markdown

# A block of code, a link or an image, a piece of code in a line: code has no links.
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
    """What a reader misses in Markdown files, a sentence each; and how many of their links lead on."""
    wrong, count = [], 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        faults = [f"{one[0]} …: GitHub shows it as it stands here" for one in INCLUDE.finditer(text)]
        for target in links(text):
            if not ELSEWHERE.match(target):
                count += 1
                faults += [f"{target}: {error}" for error in lost(file, target, root)]
        wrong += [f"{file.relative_to(root)}: {fault}" for fault in faults]
    return wrong, count


def links(text):
    """Where a page's links and images lead, as it says."""
    for piece in PIECES.finditer(text):
        if piece["target"]:
            yield piece["target"]
            # A picture may be what a link shows.
            yield from links(piece["text"])


def lost(file, target, root):
    """Why a link arrives nowhere, or not at its place there."""
    path, _, anchor = map(urllib.parse.unquote, target.partition("#"))
    there = pathlib.Path(file.parent, path).resolve() if path else file.resolve()
    if not there.exists() or not there.is_relative_to(root):
        yield "there is no such file in the repository"
    elif anchor and there.suffix == ".md":
        if anchor not in anchors(there):
            yield "the page has no such place"
    elif anchor:
        line = LINE.fullmatch(anchor)
        if not line or there.is_dir():
            yield "a place in a file that is no page is #L and its line"
        elif int(line[3] or line[1]) > there.read_bytes().count(b"\n"):
            yield "the file has not so many lines"


@functools.cache
def anchors(file):
    """The names that an address may have behind its #."""
    text = file.read_text(encoding="utf-8")
    found, seen = set(NAMED.findall(text)), {}
    for _, heading in markdown.headings(text.split("\n")):
        name = anchor(heading)
        again = seen.get(name, -1) + 1
        seen[name] = again
        found.add(f"{name}-{again}" if again else name)
    return found


def anchor(heading):
    """The name of a heading: small letters, a hyphen for each blank, nothing else but letters, digits and _."""
    shown = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", heading)
    pieces = shown.split("`")  # every other one is code, in which no mark makes emphasis
    pieces[::2] = [EMPHASIS.sub(r"\2", piece) for piece in pieces[::2]]
    shown = "".join(pieces)
    return re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")
