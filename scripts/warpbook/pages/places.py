"""Links to a line of a file, which moves when the file is edited.

The text of such a link has a name, the file and the line:

    [`add`, kernels/vector-add.cu:18](../../kernels/vector-add.cu#L18)

The line must declare `add`, or otherwise be the only line that contains it. Comments do not count. scripts/book
--update corrects the number, and leaves links whose name it does not find.
"""

import os
import re

LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s#]+)#L(\d+)\)")
TEXT = re.compile(r"`(?P<what>[^`]+)`[,，]\s*(?P<file>\S+):(?P<line>\d+)")
COMMENT = re.compile(r"\s*(//|#\s|\*)")
# The text before a declared name in Rust and in CUDA C++.
RUST = re.compile(r".*\b(fn|struct|enum|const|static|type|trait|mod) ")
CUDA = re.compile(
    r"\s*(extern \"C\" )?"
    r"(__global__|__device__|__constant__|struct|union|enum|constexpr|const|inline)\b[^=(;{\[]*"
)
BEHIND = re.compile(r"\s*([(\[{;=]|$)")


def check(pages, root, write=False):
    """Returns a sentence per problem with the links of all pages, and the number of links."""
    wrong, count = [], 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        errors = []

        def corrected(link):
            correct, error = check_link(link, page, root)
            if error and not (write and correct):
                errors.append(f"{text.count(chr(10), 0, link.start()) + 1}: {error}")
            return correct if write and correct else link[0]

        new, links = LINK.subn(corrected, text)
        if new != text:
            page.write_text(new, encoding="utf-8")
        wrong += [f"{page.relative_to(root)}:{error}" for error in errors]
        count += links
    return wrong, count


def check_link(link, page, root):
    """Returns the correct link, or `None`, and the error of the given link, or `None`."""
    label = TEXT.fullmatch(link[1])
    if not label:
        return None, f"{link[0]}: a link to a line must have the form [`name`, path/of/the/file:line](file#Lline)"
    file = page.parent / link[2]
    path = os.path.relpath(file, root)
    if not file.is_file():
        return None, f"{link[2]}: there is no such file"
    if path.replace(os.sep, "/") != label["file"]:
        return None, f"the link's text names {label['file']}, but the link leads to {path}"
    found = lines(file, label["what"])
    if len(found) != 1:
        return None, f"`{label['what']}` is on {len(found)} lines of {path}: {found}; use a name that is on one line"
    line = found[0]
    if int(label["line"]) == int(link[3]) == line:
        return link[0], None
    correct = f"[{label[0][: label.start('line')]}{line}]({link[2]}#L{line})"
    return correct, f"`{label['what']}` is on line {line} of {path}: scripts/book --update corrects the link"


def lines(file, name):
    """Returns the lines that declare a name, or if there are none, the lines that contain it."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    rust = file.suffix == ".rs"
    containing, declaring = [], []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = None if COMMENT.match(line) else word.search(line)
        if match:
            containing.append(number)
            if declares(line[: match.start()], line[match.end() :], rust):
                declaring.append(number)
    return declaring or containing


def declares(before, behind, rust):
    """Returns true if a name between these two texts is declared."""
    if rust:
        return bool(RUST.fullmatch(before))
    return before == "#define " or bool(CUDA.fullmatch(before) and BEHIND.match(behind))
