"""Markdown tables, and their insertion into pages."""

import re
import sys


def table(header, rows):
    """Returns a table as text. Cells may be of any type that converts to a string."""
    lines = [header, ["---"] * len(header), *rows]
    text = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    return text.replace("__restrict__", r"\_\_restrict\_\_")  # literally, not bold


def show(parts):
    """Prints the parts of a page, each under its name as a heading."""
    for name, part in parts.items():
        print(f"## {name}\n\n{part}\n")


def insert(pages, check, source):
    """Replaces the parts of each page, a part's text between <!-- NAME --> and <!-- end -->.

    With `check`, exits with an error if a page differs instead. `source` describes the data that the page should show.
    """
    texts = {path: filled(path, parts) for path, parts in pages.items()}
    for path, (before, after) in texts.items():
        if not check:
            path.write_text(after, encoding="utf-8")
        elif before != after:
            sys.exit(f"error: {path} is out of date: its tables are not {source}; run the same command without --check")


def filled(path, parts):
    """Returns the text of a page, and its text with these parts."""
    try:
        before = text = path.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"error: {path} cannot be read: {error}")
    for name, part in parts.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            sys.exit(f"error: {path} lacks the markers <!-- {name} --> and <!-- end -->")
        text = marked.sub(lambda match: f"{match[1]}\n{part}\n\n{match[2]}", text)
    return before, text
