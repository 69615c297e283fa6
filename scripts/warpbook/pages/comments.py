"""Comments of the listings in Chinese, on Chinese pages.

The code is the same in both languages, and its comments are English. docs/zh/comments.toml has each
in Chinese; one that it has not is left out of the Chinese page, where the text beside the listing
says what there is to say.
"""

import functools
import json
import re
import tomllib

from .. import ROOT
from . import markdown

FILE = ROOT / "docs" / "zh" / "comments.toml"
BLOCK = re.compile(
    r"^(?P<open>(?P<fence>```+)(?P<language>rust|cpp|c)\b[^\n]*\n)(?P<code>(?:.*\n)*?)(?=(?P=fence)[ ]*$)",
    re.MULTILINE,
)
LINE = re.compile(r"(?P<before>[ ]*)(?P<slashes>//[/!]?)(?: (?P<text>.*)|)")
BEHIND = re.compile(r"(?P<code>.*\S)(?P<space>[ ]+)(?P<slashes>//) (?P<text>.*)")
HAN = re.compile(r"[\u3400-\u9fff]")
WIDTH = 44  # Chinese characters in a line of a comment


def translated(text, language):
    """A page's text, its listings with Chinese comments where the page is Chinese."""
    if language != "zh":
        return text
    return BLOCK.sub(lambda block: block["open"] + listing(block["code"]), text)


def listing(code):
    """A listing with its comments in Chinese, or without them."""
    lines = []
    for kind, part in parts(code.splitlines()):
        lines += whole(part) if kind else [behind(part)]
    # What was left out leaves no two empty lines, and none at the top.
    kept = [line for n, line in enumerate(lines) if line.strip() or (n and lines[n - 1].strip())]
    return "".join(f"{line}\n" for line in kept)


def parts(lines):
    """The lines of a listing one by one, and those of one comment together."""
    comment = []
    for line in [*lines, None]:
        found = line is not None and LINE.fullmatch(line)
        if comment and not (found and same(found, comment[0])):
            yield True, comment
            comment = []
        if found:
            comment.append(found)
        elif line is not None:
            yield False, line


def same(one, other):
    return (one["before"], one["slashes"]) == (other["before"], other["slashes"])


def whole(comment):
    """The lines of a comment that has lines of its own, paragraph by paragraph."""
    first, lines = comment[0], []
    for paragraph in paragraphs(comment):
        chinese = found(paragraph)
        if chinese:
            lines += [f"{first['before']}{first['slashes']}"] if lines else []
            lines += [f"{first['before']}{first['slashes']} {line}" for line in wrapped(chinese)]
    return lines


def paragraphs(comment):
    texts = [one["text"] or "" for one in comment]
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", "\n".join(texts)) if part.strip()]


def behind(line):
    """A line of code, its comment in Chinese or left out."""
    comment = BEHIND.fullmatch(line)
    if not comment or comment["code"].count('"') % 2:
        return line
    chinese = found(comment["text"])
    return comment["code"] + (f"{comment['space']}// {chinese}" if chinese else "")


def found(english):
    return english if HAN.search(english) else known().get(english)


@functools.cache
def known():
    return tomllib.loads(FILE.read_text(encoding="utf-8"))["comments"]


def wrapped(text):
    """Lines of about the same width; a word or a number in other letters stays whole."""
    pieces = re.findall(r"[A-Za-z0-9_\[\](){}<>*/+=.,:;&'\"`-]+|\s+|.", text)
    lines, line = [], ""
    for piece in pieces:
        # No line begins with a mark that ends something.
        if len(line) + sum(bool(HAN.match(one)) for one in line) + len(piece) > 2 * WIDTH and piece not in "，。；：、）”":
            lines.append(line.strip())
            line = ""
        line += piece
    return [*lines, line.strip()]


def check(docs):
    """Comments in comments.toml that no listing of a Chinese page has any more, a sentence each."""
    there = shown(docs)
    return [f"{FILE.name}: no listing has {one!r}: scripts/book --pages removes it" for one in known() if one not in there]


def prune(docs):
    """Removes such comments, each on a line of its own; the comments that are not in Chinese yet."""
    there, text = shown(docs), FILE.read_text(encoding="utf-8")
    for one in known():
        if one not in there:
            text = text.replace(f"{json.dumps(one, ensure_ascii=False)} = {json.dumps(known()[one], ensure_ascii=False)}\n", "")
    FILE.write_text(text, encoding="utf-8")
    return [one for one in there if not found(one)]


def shown(docs):
    """The comments of the listings of all Chinese pages, in their order."""
    return list(dict.fromkeys(one for file in sorted((docs / "zh").glob("*.md")) for one in comments(file)))


def comments(page):
    """The comments of a page's listings, as comments.toml names them."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(markdown.included(text, page.parent)):
        for kind, part in parts(block["code"].splitlines()):
            if kind:
                yield from paragraphs(part)
            elif (comment := BEHIND.fullmatch(part)) and comment["code"].count('"') % 2 == 0:
                yield comment["text"]
