"""Tables in Markdown, and the places in a page where scripts put them."""

import re
import sys


def table(header, rows):
    """A table's lines; its cells may be anything that has a text."""
    lines = [header, ["---"] * len(header), *rows]
    text = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    return text.replace("__restrict__", r"\_\_restrict\_\_")  # as it is, and not bold


def show(parts):
    """Prints the parts of a page, each under its name."""
    for name, part in parts.items():
        print(f"## {name}\n\n{part}\n")


def insert(pages, check, source):
    """Puts into each page its parts, a page's text between <!-- NAME --> and <!-- end -->.

    With `check`, ends with an error where a page does not have them: it is out of step with `source`.
    """
    texts = {path: filled(path, parts) for path, parts in pages.items()}
    for path, (before, after) in texts.items():
        if not check:
            path.write_text(after, encoding="utf-8")
        elif before != after:
            sys.exit(f"error: the tables of {path} are not {source}")


def filled(path, parts):
    """The text of a page, and what it is with these parts."""
    try:
        before = text = path.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"error: {path} cannot be read: {error}")
    for name, part in parts.items():
        marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            sys.exit(f"error: {path} has no <!-- {name} --> … <!-- end -->")
        text = marked.sub(lambda found: f"{found[1]}\n{part}\n\n{found[2]}", text)
    return before, text
