"""mdBook preprocessor that adapts pages of the repository for the built book.

A page is written as a file of the repository. In the book, its links to docs/results lead to the appendix, and
those to the other language, to pictures, and to sources and exercises lead to the files that scripts/book generates. A link to
anything else, for example a folder, becomes text with the path. Tables are narrowed as on the whole pages
(narrow.py), and the comments of listings are translated (comments.py).
"""

import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True  # leave no __pycache__ next to the scripts
sys.path.insert(0, str(ROOT / "scripts"))
from warpbook.pages import code, comments, github, narrow, whole  # noqa: E402: mdBook runs this file directly

DOCS = ROOT / "docs"
LANGUAGES = ["en", "zh"]
PICTURES = [".png", ".svg"]


def main():
    if sys.argv[1:2] == ["supports"]:
        sys.exit(0 if sys.argv[2] == "html" else 1)
    context, book = json.load(sys.stdin)
    tree = pathlib.PurePath(context["config"]["book"]["src"]).name
    missing = []
    for chapter in chapters(book["items"]):
        if chapter["path"]:
            chapter["content"] = rewrite(chapter["content"], tree, chapter["path"], missing)
    if missing:
        sys.exit("\n".join(f"error: {problem}" for problem in missing))
    json.dump(book, sys.stdout)


def chapters(items):
    """Yields all chapters and subchapters."""
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def rewrite(content, tree, page, missing):
    """Returns a page's text with its links adapted to the book, and adds the broken ones to `missing`."""
    # A page of the appendix is an unchanged file of docs/results, with links relative to that file.
    appendix = page.startswith("results/")
    source = DOCS / page if appendix else DOCS / tree / page
    content = whole.INSTEAD.sub("", content)
    if not appendix:
        content = comments.translated(narrow.narrowed(content, source.stem, tree), tree)

    def adapted(piece):
        target = piece["target"]
        if target is None or re.match(r"[a-z]+:|#", target):
            return piece[0]
        path, _, anchor = target.partition("#")
        file = pathlib.Path(os.path.normpath(source.parent / path))
        if not file.exists():
            missing.append(f"docs/{tree}/{page}: {target}: there is no {file.relative_to(ROOT)}")
        destination = in_book(file, tree)
        if destination:
            if destination.startswith(code.FOLDER) and not github.LINE.fullmatch(anchor):
                anchor = ""
            link = os.path.relpath(destination, os.path.dirname(f"{tree}/{page}"))
            return f"{piece['mark']}[{piece['text']}]({link}{'#' if anchor else ''}{anchor})"
        if piece["mark"]:
            missing.append(f"docs/{tree}/{page}: {target}: pictures must be in docs")
        return named(piece["text"], file.relative_to(ROOT).as_posix(), tree)

    return github.PIECES.sub(adapted, content)


def in_book(file, tree):
    """Returns the path of a file in the built book, or `None` if the book does not contain it."""
    if not file.is_relative_to(DOCS):
        is_source = file.suffix in code.SUFFIXES and file.is_relative_to(ROOT)
        return code.page_name(file.relative_to(ROOT).as_posix()) if is_source else None
    path = file.relative_to(DOCS).as_posix()
    if path.startswith("results/") and file.suffix == ".md":
        return f"{tree}/{path}"
    is_picture = file.suffix in PICTURES and file.parent == DOCS
    return path if path.split("/")[0] in LANGUAGES or is_picture else None


def named(text, path, tree):
    """Returns a link's text, with the path of its target unless the text contains the file's name."""
    if pathlib.PurePath(path).name in text:
        return text
    return f"{text}（`{path}`）" if tree == "zh" else f"{text} (`{path}`)"


main()
