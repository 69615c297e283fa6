"""Pages of the book as they are there (a preprocessor of mdBook's).

A page is written as a file of the repository. In the book, its links to docs/results lead to the
appendix, those to the other language, to pictures and to sources lead to where scripts/book puts
them, and what is not in the book at all, as a folder, is no link there but named by its path.
Tables are as narrow as on the whole pages (narrow.py), and listings have their comments (comments.py).
"""

import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True  # leave no __pycache__ next to the scripts
sys.path.insert(0, str(ROOT / "scripts"))
from warpbook.pages import code, comments, github, narrow, whole  # noqa: E402: mdBook runs this file by itself

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
        sys.exit("\n".join(f"error: {one}" for one in missing))
    json.dump(book, sys.stdout)


def chapters(items):
    """All chapters, and those below them."""
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def rewrite(content, tree, page, missing):
    """A page's text with its links as the book has them; says which lead nowhere."""
    # A page of the appendix is a file of docs/results, whole: its links are that file's.
    appendix = page.startswith("results/")
    source = DOCS / page if appendix else DOCS / tree / page
    content = whole.INSTEAD.sub("", content)
    if not appendix:
        content = comments.translated(narrow.narrowed(content, source.stem, tree), tree)

    def one(piece):
        target = piece["target"]
        if target is None or re.match(r"[a-z]+:|#", target):
            return piece[0]
        path, _, anchor = target.partition("#")
        file = pathlib.Path(os.path.normpath(source.parent / path))
        if not file.exists():
            missing.append(f"docs/{tree}/{page}: {target}: there is no {file.relative_to(ROOT)}")
        place = in_book(file, tree)
        if place:
            if place.startswith(code.FOLDER) and not github.LINE.fullmatch(anchor):
                anchor = ""
            link = os.path.relpath(place, os.path.dirname(f"{tree}/{page}"))
            return f"{piece['mark']}[{piece['text']}]({link}{'#' if anchor else ''}{anchor})"
        if piece["mark"]:
            missing.append(f"docs/{tree}/{page}: {target}: pictures lie in docs")
        return named(piece["text"], file.relative_to(ROOT).as_posix(), tree)

    return github.PIECES.sub(one, content)


def in_book(file, tree):
    """Where a file of the repository is in the built book; None: it is not."""
    if file.suffix in code.SUFFIXES and file.is_relative_to(ROOT):
        return f"{code.FOLDER}/{file.relative_to(ROOT).as_posix()}.html"
    if not file.is_relative_to(DOCS):
        return None
    place = file.relative_to(DOCS).as_posix()
    if place.startswith("results/") and file.suffix == ".md":
        return f"{tree}/{place}"
    pictured = file.suffix in PICTURES and file.parent == DOCS
    return place if place.split("/")[0] in LANGUAGES or pictured else None


def named(text, path, tree):
    """A link's text, and the path of what it leads to if the text has it not."""
    if pathlib.PurePath(path).name in text:
        return text
    return f"{text}（`{path}`）" if tree == "zh" else f"{text} (`{path}`)"


main()
