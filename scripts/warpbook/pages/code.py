"""Source files and statements of exercises in the built book: one page per file with numbered lines, so that links
can lead to a line.

target/book/sources contains only the files to which a page links.
"""

import html
import os
import re
import string

FOLDER = "sources"
SUFFIXES = {".cu", ".h", ".md", ".rs"}
LINK = re.compile(rf'href="(?:\.\./)+{FOLDER}/([^"#]+)\.html')


def page_name(path):
    """Returns the page of a file. mdBook would replace `.md` within a link."""
    return f"{FOLDER}/{path.replace('.md', '-md')}.html"


def write(book, docs, root):
    """Writes the page of each source file to which a page of the built book links."""
    template = string.Template((docs / "theme" / "source.html").read_text(encoding="utf-8"))
    pages = [file for tree in ("en", "zh") for file in (book / tree).rglob("*.html")]
    linked = {link.replace("-md", ".md") for file in pages for link in LINK.findall(file.read_text(encoding="utf-8"))}
    for path in sorted(linked):
        page = book / page_name(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        lines = (root / path).read_text(encoding="utf-8").splitlines()
        text = "\n".join(
            f'<span id="L{number}">{html.escape(line, quote=False)}</span>' for number, line in enumerate(lines, 1)
        )
        page.write_text(
            template.substitute(path=path, code=text, book=os.path.relpath(book, page.parent)), encoding="utf-8"
        )
