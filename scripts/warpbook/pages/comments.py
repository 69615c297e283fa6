"""Chinese comments in the listings on Chinese pages.

The code is the same in both languages, and its comments are English. docs/zh/comments.toml has their Chinese
translations. A comment without a translation is left out of the Chinese page, whose text explains the listing.
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
    """Returns a page's text, with Chinese comments in its listings if the page is Chinese."""
    if language != "zh":
        return text
    return BLOCK.sub(lambda block: block["open"] + listing(block["code"]), text)


def listing(code):
    """Returns a listing with its comments in Chinese, or without those that have no translation."""
    lines = []
    for kind, part in parts(code.splitlines()):
        lines += whole(part) if kind else [behind(part)]
    # Removing a comment must not leave two empty lines in a row, or one at the top.
    tidy = [line for n, line in enumerate(lines) if line.strip() or (n and lines[n - 1].strip())]
    return "".join(f"{line}\n" for line in tidy)


def parts(lines):
    """Yields false and a line of code, or true and the lines of a comment, in order."""
    comment = []
    for line in [*lines, None]:
        match = line is not None and LINE.fullmatch(line)
        if comment and not (match and is_same_kind(match, comment[0])):
            yield True, comment
            comment = []
        if match:
            comment.append(match)
        elif line is not None:
            yield False, line


def is_same_kind(a, b):
    return (a["before"], a["slashes"]) == (b["before"], b["slashes"])


def whole(comment):
    """Returns the translated lines of a comment on lines of its own, paragraph by paragraph."""
    first, lines = comment[0], []
    for paragraph in paragraphs(comment):
        chinese = translation(paragraph)
        if chinese:
            lines += [f"{first['before']}{first['slashes']}"] if lines else []
            lines += [f"{first['before']}{first['slashes']} {line}" for line in wrapped(chinese)]
    return lines


def paragraphs(comment):
    texts = [line["text"] or "" for line in comment]
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", "\n".join(texts)) if part.strip()]


def behind(line):
    """Returns a line of code with its trailing comment in Chinese or left out."""
    comment = BEHIND.fullmatch(line)
    if not comment or comment["code"].count('"') % 2:
        return line
    chinese = translation(comment["text"])
    return comment["code"] + (f"{comment['space']}// {chinese}" if chinese else "")


def translation(english):
    return english if HAN.search(english) else translations().get(english)


@functools.cache
def translations():
    return tomllib.loads(FILE.read_text(encoding="utf-8"))["comments"]


def wrapped(text):
    """Returns lines of about the same width. Words and numbers in Latin letters are not broken."""
    pieces = re.findall(r"[A-Za-z0-9_\[\](){}<>*/+=.,:;&'\"`-]+|\s+|.", text)
    lines, line = [], ""
    for piece in pieces:
        # A closing punctuation mark must not begin a line.
        if len(line) + sum(bool(HAN.match(char)) for char in line) + len(piece) > 2 * WIDTH and piece not in "，。；：、）”":
            lines.append(line.strip())
            line = ""
        line += piece
    return [*lines, line.strip()]


def check(docs):
    """Returns a sentence per comment in comments.toml that no listing of a Chinese page contains."""
    present = shown(docs)
    unused = (english for english in translations() if english not in present)
    return [f"{FILE.name}: no listing has {english!r}: scripts/book --pages removes it" for english in unused]


def prune(docs):
    """Removes unused translations, each on a line of its own, and returns the comments without a translation."""
    present, text = shown(docs), FILE.read_text(encoding="utf-8")
    for english, chinese in translations().items():
        if english not in present:
            entry = f"{json.dumps(english, ensure_ascii=False)} = {json.dumps(chinese, ensure_ascii=False)}\n"
            text = text.replace(entry, "")
    FILE.write_text(text, encoding="utf-8")
    return [english for english in present if not translation(english)]


def shown(docs):
    """Returns the comments of the listings of all Chinese pages, in order."""
    pages = sorted((docs / "zh").glob("*.md"))
    return list(dict.fromkeys(comment for page in pages for comment in comments(page)))


def comments(page):
    """Yields the comments of a page's listings, as comments.toml names them."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(markdown.included(text, page.parent)):
        for kind, part in parts(block["code"].splitlines()):
            if kind:
                yield from paragraphs(part)
            elif (comment := BEHIND.fullmatch(part)) and comment["code"].count('"') % 2 == 0:
                yield comment["text"]
