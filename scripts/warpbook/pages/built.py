"""Checks of the built book: the targets and anchors of its links exist, and no emphasis is shown as `**`."""

import html.parser
import os
import urllib.parse

# Elements whose text is not prose.
VERBATIM = {"code", "pre", "script", "style"}


class Page(html.parser.HTMLParser):
    """The ids of a page, its links, and its texts with literal asterisks."""

    def __init__(self, file):
        super().__init__()
        self.ids, self.duplicates, self.links, self.starred = set(), set(), [], []
        self.verbatim = 0
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.verbatim += tag in VERBATIM
        for name, value in attributes:
            if name == "id":
                (self.duplicates if value in self.ids else self.ids).add(value)
            elif name in ("href", "src", "xlink:href") and value is not None:
                self.links.append(value)
            elif name == "aria-labelledby":
                self.links += [f"#{name}" for name in value.split()]

    def handle_endtag(self, tag):
        self.verbatim -= tag in VERBATIM

    def handle_data(self, data):
        if "**" in data and not self.verbatim:
            self.starred.append(data.strip()[:60])


def check(book):
    """Returns a sentence per problem of the built book's links, and the number of links."""
    pages = {file: Page(file) for file in sorted(book.rglob("*.html"))}
    wrong, count = [], 0
    for file, page in pages.items():
        path_in_book = file.relative_to(book)
        wrong += [f"{path_in_book}: duplicate id {name}" for name in sorted(page.duplicates)]
        wrong += [f"{path_in_book}: emphasis is not recognized: {text}" for text in page.starred]
        for link in page.links:
            count += 1
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.scheme not in ("https", "data"):
                    wrong.append(f"{path_in_book}: {link}: neither in the book nor https")
                continue
            path = urllib.parse.unquote(parts.path)
            target = file.parent / path if path else file
            target = book.__class__(os.path.normpath(target))
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file() or not target.is_relative_to(book):
                wrong.append(f"{path_in_book}: broken link {link}: no such file")
            elif anchor and target in pages and anchor not in pages[target].ids:
                wrong.append(f"{path_in_book}: broken link {link}: the page has no such anchor")
    return sorted(set(wrong)), count
