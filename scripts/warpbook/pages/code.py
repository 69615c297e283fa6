"""Source files in the built book: a page each, with its lines numbered, so that links to a line arrive.

Only those to which a page leads are there, in target/book/sources.
"""

import html
import os
import re
import string

FOLDER = "sources"
SUFFIXES = {".cu", ".h", ".rs"}
LINK = re.compile(rf'href="(?:\.\./)+{FOLDER}/([^"#]+)\.html')


def write(book, docs, root):
    """Makes the page of each file that a page of the built book leads to."""
    template = string.Template((docs / "theme" / "source.html").read_text(encoding="utf-8"))
    pages = [file for tree in ("en", "zh") for file in (book / tree).rglob("*.html")]
    for path in sorted({path for file in pages for path in LINK.findall(file.read_text(encoding="utf-8"))}):
        page = book / FOLDER / f"{path}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        lines = (root / path).read_text(encoding="utf-8").splitlines()
        text = "\n".join(
            f'<span id="L{number}">{html.escape(line, quote=False)}</span>' for number, line in enumerate(lines, 1)
        )
        page.write_text(
            template.substitute(path=path, code=text, book=os.path.relpath(book, page.parent)), encoding="utf-8"
        )
