"""Links to a line of a file, which moves when the file is edited.

Such a link says what stands there, the file and the line, and leads to it:

    [`add`, kernels/vector-add.cu:18](../../kernels/vector-add.cu#L18)

The line has to be the one on which `add` is declared, or else the only one that has it. Comments do
not count. scripts/book --update mends the number; what is not found it leaves.
"""

import os
import re

LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s#]+)#L(\d+)\)")
TEXT = re.compile(r"`(?P<what>[^`]+)`[,，]\s*(?P<file>\S+):(?P<line>\d+)")
COMMENT = re.compile(r"\s*(//|#\s|\*)")
# How a line begins that declares what comes next in it, in Rust and in CUDA C++.
RUST = re.compile(r".*\b(fn|struct|enum|const|static|type|trait|mod) ")
CUDA = re.compile(
    r"\s*(extern \"C\" )?"
    r"(__global__|__device__|__constant__|struct|union|enum|constexpr|const|inline)\b[^=(;{\[]*"
)
BEHIND = re.compile(r"\s*([(\[{;=]|$)")


def check(pages, root, write=False):
    """What is wrong with the links of all pages, a sentence each, and how many there are."""
    wrong, count = [], 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        errors = []

        def mended(link):
            right, error = place(link, page, root)
            if error and not (write and right):
                errors.append(f"{text.count(chr(10), 0, link.start()) + 1}: {error}")
            return right if write and right else link[0]

        new, found = LINK.subn(mended, text)
        if new != text:
            page.write_text(new, encoding="utf-8")
        wrong += [f"{page.relative_to(root)}:{error}" for error in errors]
        count += found
    return wrong, count


def place(link, page, root):
    """A link as it has to be, or None; and what is wrong with it, or None."""
    said = TEXT.fullmatch(link[1])
    if not said:
        return None, f"{link[0]}: a link to a line is [`what`, path/of/the/file:line](file#Lline)"
    file = page.parent / link[2]
    path = os.path.relpath(file, root)
    if not file.is_file():
        return None, f"{link[2]}: there is no such file"
    if path.replace(os.sep, "/") != said["file"]:
        return None, f"{said['file']} is said, and the link leads to {path}"
    there = lines(file, said["what"])
    if len(there) != 1:
        return None, f"`{said['what']}` is on {len(there)} lines of {path}: {there}; name what is on one"
    line = there[0]
    if int(said["line"]) == int(link[3]) == line:
        return link[0], None
    right = f"[{said[0][: said.start('line')]}{line}]({link[2]}#L{line})"
    return right, f"`{said['what']}` is on line {line} of {path}: scripts/book --update says so"


def lines(file, what):
    """The lines on which something is declared; where it is not, those that have it."""
    word = re.compile(rf"(?<!\w){re.escape(what)}(?!\w)")
    rust = file.suffix == ".rs"
    having, declaring = [], []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        found = None if COMMENT.match(line) else word.search(line)
        if found:
            having.append(number)
            if declares(line[: found.start()], line[found.end() :], rust):
                declaring.append(number)
    return declaring or having


def declares(before, behind, rust):
    """Whether a name between these two is declared there."""
    if rust:
        return bool(RUST.fullmatch(before))
    return before == "#define " or bool(CUDA.fullmatch(before) and BEHIND.match(behind))
