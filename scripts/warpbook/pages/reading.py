"""Reading time of each page of the built book: at most twenty minutes.

Prose and tables count at 220 words per minute, or in Chinese at 400 characters per minute, where a word or a
number in Latin script counts as one character. Code and command output count at 15 lines per minute. Figures,
folded code (inside `<details>`) and blocks that readers copy instead of reading (COPIED) do not count.

Reference pages may have any length: the appendix and the glossary.
"""

import html.parser
import re

MAX_MINUTES = 20
WORDS, CHARACTERS, LINES = 220, 400, 15
REFERENCE = {"results", "glossary.html"}
COPIED = {"language-sh", "language-yaml"}
# Files that mdBook generates in addition to the pages: a copy of the first page, and the table of contents.
GENERATED = {"index.html", "toc.html"}

HAN = re.compile(r"[\u3400-\u9fff]")
WORD = re.compile(r"[^\W_]+(?:[-_.,'’:/×–][^\W_]+)*")


class Page(html.parser.HTMLParser):
    """The text and the code of a page."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.copied = [], False
        self.prose, self.code = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("main", "svg", "pre", "script", "details"):
            self.inside.append(tag)
        elif tag in ("td", "th"):
            self.prose.append(" ")  # no white space separates two cells
        elif tag == "code":
            self.copied = bool(COPIED & set((dict(attributes).get("class") or "").split()))

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        inside = set(self.inside)
        if inside - {"details"} == {"main"}:
            self.prose.append(data)
        elif inside == {"main", "pre"} and not self.copied:
            self.code.append(data)


def check(book):
    """Returns the pages that take too long to read, one line each, and the longest reading time in minutes."""
    times = {file: minutes(file) for tree in ("en", "zh") for file in pages(book / tree)}
    wrong = [
        f"{file.relative_to(book)}: {time:.1f} minutes to read, at most {MAX_MINUTES}: split the page"
        for file, time in times.items()
        if time > MAX_MINUTES
    ]
    return wrong, max(times.values())


def pages(tree):
    """Returns the pages of one language whose reading time is limited."""
    return [
        file
        for file in sorted(tree.rglob("*.html"))
        if file.name not in GENERATED and file.relative_to(tree).parts[0] not in REFERENCE
    ]


def minutes(file):
    """Returns the reading time of a page in minutes."""
    page = Page(file.read_text(encoding="utf-8"))
    chinese = file.parent.name == "zh"
    text = "".join(page.prose)
    han = len(HAN.findall(text))
    others = len(WORD.findall(HAN.sub(" ", text)))
    lines = sum(any(map(str.isalnum, line)) for line in "".join(page.code).splitlines())
    return (han + others) / (CHARACTERS if chinese else WORDS) + lines / LINES
