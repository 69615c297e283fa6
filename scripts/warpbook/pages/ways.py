"""The ways of a reader who has a note open: from each of its listings one click to the kernel, one to the
host's lines, one to the counters; and one click from a chapter's page to its listings.

In both languages, on GitHub (docs/pages) and in the built book. That a link arrives is looked at by
github.py and built.py; here, that it is there.
"""

import html.parser
import re
import urllib.parse

from . import github, markdown
from ..chapters import CHAPTERS

LISTINGS = "listings"
WAYS = {
    "kernel": r"(?:.*/)?kernels/(?!notes/)[\w./-]+\.cu(\.html)?#L\d+",
    "lines of the host": r"(?:.*/)?crates/{chapter}/src/[\w/]+\.rs(\.html)?#L\d+",
    "counters": r"{chapter}\.(md|html)#(what-the-counters-say|计数器说了什么)",
}


def on_github(docs, root):
    """The ways that are missing on GitHub, a sentence each."""
    for language, readme in (("en", "README.md"), ("zh", "README.zh-CN.md")):
        folder = docs / "pages" / language
        listings = folder / f"{LISTINGS}.md"
        first = listings.relative_to(root).as_posix()
        if first not in github.links((root / readme).read_text(encoding="utf-8")):
            yield f"{readme}: no link to {first}"
        pages = {name: list(github.links((folder / f"{name}.md").read_text(encoding="utf-8"))) for name in CHAPTERS}
        found = missing(of_markdown(listings), pages)
        yield from (f"{first}: {what}" for what in found)


def in_book(book):
    """The ways that are missing in the built book, a sentence each."""
    for language in ("en", "zh"):
        listings = book / language / f"{LISTINGS}.html"
        pages = {name: sum(of_html(book / language / f"{name}.html").values(), []) for name in CHAPTERS}
        found = missing(of_html(listings), pages)
        yield from (f"{listings.relative_to(book)}: {what}" for what in found)


def missing(sections, pages):
    """What the page of listings lacks, by its sections and their links; and the chapters' pages by theirs."""
    for chapter in CHAPTERS:
        name = next((one for one in sections if one.startswith(chapter)), None)
        if name is None:
            yield f"{chapter} has no section"
            continue
        for what, pattern in WAYS.items():
            way = re.compile(pattern.format(chapter=chapter))
            if not any(way.fullmatch(link) for link in sections[name]):
                yield f"{name}: no link to {'its' if what == 'counters' else 'a line of its'} {what}"
        back = re.compile(rf"(?:.*/)?{LISTINGS}\.(md|html)#{re.escape(name)}")
        if not any(back.fullmatch(link) for link in pages[chapter]):
            yield f"{name}: no link to it on the page of {chapter}"


def of_markdown(file):
    """The links of each section of a page, by the name that its heading has in an address."""
    sections, inside = {}, []
    for line in file.read_text(encoding="utf-8").split("\n"):
        heading = markdown.HEADING.match(line)
        if heading and len(heading[1]) <= 2:
            inside = sections.setdefault(github.anchor(heading[2]), [])
        inside += map(urllib.parse.unquote, github.links(line))
    return sections


def of_html(file):
    """The same of a page of the built book."""
    page = Sections()
    page.feed(file.read_text(encoding="utf-8"))
    return page.found


class Sections(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = {"": []}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "h2" and attributes.get("id"):
            self.found[attributes["id"]] = []
        if tag == "a" and attributes.get("href"):
            list(self.found.values())[-1].append(urllib.parse.unquote(attributes["href"]))
