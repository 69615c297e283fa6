"""Source files in the built book: one page per file with numbered lines, so that links can lead to a line.

target/book/sources contains only the files to which a page links.
"""

import html
import os
import re
import string

FOLDER = "sources"
SUFFIXES = {".cu", ".h", ".rs"}
LINK = re.compile(rf'href="(?:\.\./)+{FOLDER}/([^"#]+)\.html')


def write(book, docs, root):
    """Writes the page of each source file to which a page of the built book links."""
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
