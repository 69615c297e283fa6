"""How long each page of the built book takes to read: ten minutes at most, and with a chapter's whole
program a quarter of an hour.

Prose and tables go at 220 words a minute, or in Chinese at 400 characters, where a word or a number
in other letters counts as one. Code goes at 15 lines a minute, and so does what a command prints.
Not counted are drawings, and blocks that are copied rather than read (COPIED).

Two things are looked up and not read through, and may be of any length: the appendix and the
glossary.
"""

import html.parser
import re

MINUTES = 10
WITH_A_PROGRAM = 15
WORDS, CHARACTERS, LINES = 220, 400, 15
LOOKED_UP = {"results", "glossary.html"}
COPIED = {"language-sh", "language-yaml"}
# What mdBook makes beside the pages: the first one again, and the list of all.
NO_PAGES = {"index.html", "toc.html"}

HAN = re.compile(r"[\u3400-\u9fff]")
WORD = re.compile(r"[^\W_]+(?:[-_.,'’:/×–][^\W_]+)*")


class Page(html.parser.HTMLParser):
    """The text of a page, and the lines of its code."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.copied = [], False
        self.prose, self.code = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("main", "svg", "pre", "script"):
            self.inside.append(tag)
        elif tag in ("td", "th"):
            self.prose.append(" ")  # cells stand right beside each other
        elif tag == "code":
            self.copied = bool(COPIED & set((dict(attributes).get("class") or "").split()))

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        inside = set(self.inside)
        if inside == {"main"}:
            self.prose.append(data)
        elif inside == {"main", "pre"} and not self.copied:
            self.code.append(data)


def check(book):
    """The pages that take too long, a sentence each, and how many minutes the longest takes."""
    took = {file: minutes(file) for tree in ("en", "zh") for file in pages(book / tree)}
    wrong = [
        f"{file.relative_to(book)}: {time:.1f} minutes to read, {most} at most: say it shorter, or on two pages"
        for file, (time, most) in took.items()
        if time > most
    ]
    return wrong, max(time for time, _ in took.values())


def pages(tree):
    """The pages of a language that are read."""
    return [
        file
        for file in sorted(tree.rglob("*.html"))
        if file.name not in NO_PAGES and file.relative_to(tree).parts[0] not in LOOKED_UP
    ]


def minutes(file):
    """How long a page takes, and how long it may."""
    page = Page(file.read_text(encoding="utf-8"))
    chinese = file.parent.name == "zh"
    text = "".join(page.prose)
    han = len(HAN.findall(text))
    others = len(WORD.findall(HAN.sub(" ", text)))
    code = "".join(page.code)
    lines = sum(any(map(str.isalnum, line)) for line in code.splitlines())
    most = WITH_A_PROGRAM if "fn main()" in code else MINUTES
    return (han + others) / (CHARACTERS if chinese else WORDS) + lines / LINES, most
