"""Links of the built book: where they lead is there, and so is the place on the page."""

import html.parser
import os
import urllib.parse


class Page(html.parser.HTMLParser):
    """The places of a page, and what it refers to."""

    def __init__(self, file):
        super().__init__()
        self.ids, self.twice, self.links = set(), set(), []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                (self.twice if value in self.ids else self.ids).add(value)
            elif name in ("href", "src", "xlink:href") and value is not None:
                self.links.append(value)
            elif name == "aria-labelledby":
                self.links += [f"#{one}" for one in value.split()]


def check(book):
    """What is wrong in the built book: a sentence each. Also how many links there were."""
    pages = {file: Page(file) for file in sorted(book.rglob("*.html"))}
    wrong, count = [], 0
    for file, page in pages.items():
        named = file.relative_to(book)
        wrong += [f"{named}: two places are named #{one}" for one in sorted(page.twice)]
        for link in page.links:
            count += 1
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.scheme not in ("https", "data"):
                    wrong.append(f"{named}: {link}: neither in the book nor https")
                continue
            path = urllib.parse.unquote(parts.path)
            target = file.parent / path if path else file
            target = book.__class__(os.path.normpath(target))
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.is_file() or not target.is_relative_to(book):
                wrong.append(f"{named}: {link} leads nowhere")
            elif anchor and target in pages and anchor not in pages[target].ids:
                wrong.append(f"{named}: {link}: the page has no such place")
    return sorted(set(wrong)), count
