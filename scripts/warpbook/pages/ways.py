"""Navigation for a reader who has a note open: one click from each of its listings to the kernel, to the host code
and to the counters, and one click from a chapter's page to its listings.

The links must exist in both languages, on GitHub (docs/pages) and in the built book. github.py and built.py check
that their targets exist.
"""

import html.parser
import re
import urllib.parse

from . import github, markdown
from ..chapters import CHAPTERS

LISTINGS = "listings"
WAYS = {
    "kernel": r"(?:.*/)?kernels/(?!notes/)[\w./-]+\.cu(\.html)?#L\d+",
    "host code": r"(?:.*/)?crates/{chapter}/src/[\w/]+\.rs(\.html)?#L\d+",
    "counters": r"{chapter}\.(md|html)#(reading-the-counters|从计数器看访存行为)",
}


def on_github(docs, root):
    """Yields the links that are missing on GitHub."""
    for language, readme in (("en", "README.md"), ("zh", "README.zh-CN.md")):
        folder = docs / "pages" / language
        listings = folder / f"{LISTINGS}.md"
        first = listings.relative_to(root).as_posix()
        if first not in github.links((root / readme).read_text(encoding="utf-8")):
            yield f"{readme}: no link to {first}"
        pages = {name: list(github.links((folder / f"{name}.md").read_text(encoding="utf-8"))) for name in CHAPTERS}
        errors = missing(of_markdown(listings), pages)
        yield from (f"{first}: {error}" for error in errors)


def in_book(book):
    """Yields the links that are missing in the built book."""
    for language in ("en", "zh"):
        listings = book / language / f"{LISTINGS}.html"
        pages = {name: sum(of_html(book / language / f"{name}.html").values(), []) for name in CHAPTERS}
        errors = missing(of_html(listings), pages)
        yield from (f"{listings.relative_to(book)}: {error}" for error in errors)


def missing(sections, pages):
    """Yields the links that the page of listings lacks, given the links of its sections and of the chapters' pages."""
    for chapter in CHAPTERS:
        name = next((section for section in sections if section.startswith(chapter)), None)
        if name is None:
            yield f"{chapter} has no section"
            continue
        for target, pattern in WAYS.items():
            link_pattern = re.compile(pattern.format(chapter=chapter))
            if not any(link_pattern.fullmatch(link) for link in sections[name]):
                yield f"{name}: no link to {'its' if target == 'counters' else 'a line of its'} {target}"
        back = re.compile(rf"(?:.*/)?{LISTINGS}\.(md|html)#{re.escape(name)}")
        if not any(back.fullmatch(link) for link in pages[chapter]):
            yield f"{name}: no link to it on the page of {chapter}"


def of_markdown(file):
    """Returns the links of each section of a Markdown page, by the section's anchor."""
    sections, inside = {}, []
    for line in file.read_text(encoding="utf-8").split("\n"):
        heading = markdown.HEADING.match(line)
        if heading and len(heading[1]) <= 2:
            inside = sections.setdefault(github.anchor(heading[2]), [])
        inside += map(urllib.parse.unquote, github.links(line))
    return sections


def of_html(file):
    """Returns the links of each section of a page in the built book, by the section's anchor."""
    page = Sections()
    page.feed(file.read_text(encoding="utf-8"))
    return page.sections


class Sections(html.parser.HTMLParser):
    """Parser that collects the links of each section."""

    def __init__(self):
        super().__init__()
        self.sections = {"": []}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "h2" and attributes.get("id"):
            self.sections[attributes["id"]] = []
        if tag == "a" and attributes.get("href"):
            list(self.sections.values())[-1].append(urllib.parse.unquote(attributes["href"]))
