"""The whole pages in docs/pages: the book's pages for GitHub, with all their includes.

A page of docs/en or docs/zh includes code, tables and drawings, which mdBook inserts and GitHub does not. So
docs/pages has a generated version of each page, which contains the code and tables, shows drawings as pictures,
and links to other whole pages and to files of the repository. scripts/book --pages generates all of them from the
pages of SUMMARY.md. The appendix needs none, because docs/results has no includes.
"""

import os
import pathlib
import posixpath
import re

from . import comments, github, markdown, narrow

FOLDER = "pages"
LANGUAGES = ["en", "zh"]
WORDS = {
    "en": {
        "all": "All pages",
        "other": "[中文](../zh/{name})",
        "contents": "Warpbook, page by page",
        "about": "These pages are the book for reading on GitHub. The built book (`scripts/book serve`) also has a "
        "search and an interactive page for access patterns.",
    },
    "zh": {
        "all": "全部页面",
        "other": "[English](../en/{name})",
        "contents": "Warpbook 的各页",
        "about": "这里是供在 GitHub 上阅读的页面。构建出来的书（`scripts/book serve`）还可以搜索，并有一页可以交互地尝试各种访问模式。",
    },
}
FIGURE = re.compile(r"^\{\{#include ([^}:]+\.svg)\}\}$", re.MULTILINE)
TITLE = re.compile(r"<title[^>]*>([^<]*)</title>")
PART = re.compile(r"^( *)(?:- )?\[([^\]]+)\]\(([^)]+)\)|^# (.+)", re.MULTILINE)
# An element that needs a script is replaced by the text of the comment that follows it.
SCRIPT = re.compile(r'^<div id="\w+"[^>]*></div>\n<noscript>.*</noscript>\n\n(?=<!-- on GitHub: )', re.MULTILINE)
INSTEAD = re.compile(r"^<!-- on GitHub: (.*) -->$", re.MULTILINE)


def check(docs, root):
    """Returns a sentence per whole page that is out of date, and the number of whole pages."""
    made, folder = pages(docs, root), docs / FOLDER
    existing = {file for file in folder.rglob("*") if file.is_file()}
    stale = [file for file, text in made.items() if file not in existing or file.read_text(encoding="utf-8") != text]
    wrong = [f"{file.relative_to(root)} is out of date" for file in stale]
    wrong += [f"{file.relative_to(root)} is not generated from any page" for file in sorted(existing - made.keys())]
    return wrong + (["run scripts/book --pages to regenerate them"] if wrong else []), len(made)


def links_to_includes(files, root):
    """Yields an error per link of a Markdown file to a page whose includes GitHub does not show."""
    for file in files:
        for target in github.links(file.read_text(encoding="utf-8")):
            if github.ELSEWHERE.match(target) or (root / "docs" / FOLDER) in file.parents:
                continue
            path = os.path.relpath(os.path.normpath(file.parent / target.partition("#")[0]), root)
            if on_github(path.replace(os.sep, "/")) != path:
                yield f"{file.relative_to(root)}: {target} lacks its includes on GitHub: link to {on_github(path)}"


def write(docs, root):
    """Writes all whole pages, removes obsolete ones, and returns the changed files."""
    made, folder, changed = pages(docs, root), docs / FOLDER, []
    for file in {file for file in folder.rglob("*") if file.is_file()} - made.keys():
        file.unlink()
        changed.append(file)
    for file, text in made.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            changed.append(file)
    return changed


def pages(docs, root):
    """Returns the text of every whole page, by its file."""
    made = {}
    for language in LANGUAGES:
        tree, folder = docs / language, docs / FOLDER / language
        parts = contents(tree)
        own = [(title, name) for _, title, name in parts if name and not name.startswith("results/")]
        for number, (_, name) in enumerate(own):
            around = own[max(number - 1, 0) : number], own[number + 1 : number + 2]
            made[folder / name] = whole(tree / name, language, around, root)
        made[folder / "README.md"] = listing(parts, language)
    return made


def files(docs):
    """Returns the existing whole pages."""
    return sorted((docs / FOLDER).rglob("*.md"))


def contents(tree):
    """Returns the entries of SUMMARY.md in order, each as indentation, title and page; a part has no page."""
    text = (tree / "SUMMARY.md").read_text(encoding="utf-8").partition("\n")[2]
    return [(part[1], part[2] or part[4], part[3]) for part in PART.finditer(text)]


def listing(parts, language):
    """Returns the page that lists all pages."""
    words = WORDS[language]
    source = f"docs/{language}/SUMMARY.md"
    lines = [head(language, source, "README.md", first=True)]
    lines += [f"# {words['contents']}", "", words["about"], ""]
    for inward, title, name in parts:
        if name:
            lines.append(f"{inward}- [{title}]({'../../' if name.startswith('results/') else ''}{name})")
        else:
            lines += ["", f"## {title}", ""]
    return "\n".join(lines) + "\n"


def head(language, source, name, first=False):
    words = WORDS[language]
    links = [] if first else [f"[{words['all']}](README.md)"]
    links.append(words["other"].format(name=name))
    return f"<!-- Made by scripts/book --pages from {source}: edit that one. -->\n\n{' · '.join(links)}\n"


def whole(source, language, around, root):
    """Returns a page with its includes replaced."""
    docs = source.parents[1]
    text = FIGURE.sub(pictured(source), source.read_text(encoding="utf-8"))
    text = re.sub(r"^```rust,\w+$", "```rust", text, flags=re.MULTILINE)
    text = markdown.included(text, source.parent)
    text = without_comments(INSTEAD.sub(r"\1", SCRIPT.sub("", text)))
    text = comments.translated(narrow.narrowed(text, source.stem, language), language)
    here = f"docs/{FOLDER}/{language}"
    text = relinked(text, source, here, docs, root).strip()
    named = source.relative_to(root).as_posix()
    top = head(language, named, source.name)
    before, after = around
    links = [f"← [{title}]({name})" for title, name in before] + [f"[{title}]({name}) →" for title, name in after]
    return "\n".join([top, text, "", "---", "", " · ".join(links), ""])


def pictured(source):
    """Returns a substitution that replaces a drawing's include by a picture."""

    def picture(include):
        file = source.parent / include[1]
        title = TITLE.search(file.read_text(encoding="utf-8"))
        return f"![{title[1]}]({include[1]})"

    return picture


def without_comments(text):
    """Returns a page without comments for scripts, and with at most one empty line between paragraphs."""
    lines = text.split("\n")
    code = {
        number
        for block in markdown.blocks(lines)
        for number in range(block.first, block.first + len(block.lines))
    }
    result = []
    for number, line in enumerate(lines):
        if number in code:
            result.append(line)
        elif re.fullmatch(r"<!--.*-->", line):
            continue
        elif line.strip() or (result and result[-1].strip()):
            result.append(line.rstrip())
    return "\n".join(result)


def relinked(text, source, here, docs, root):
    """Returns a page's text with its links relative to the whole page."""

    def adapted(piece):
        target = piece["target"]
        if target is None or github.ELSEWHERE.match(target) or target.startswith("#"):
            return piece[0]
        path, hash, anchor = target.partition("#")
        there = pathlib.Path(os.path.normpath(source.parent / path)).relative_to(root).as_posix()
        return f"{piece['mark']}[{piece['text']}]({posixpath.relpath(on_github(there), here)}{hash}{anchor})"

    return github.PIECES.sub(adapted, text)


def on_github(path):
    """Returns the path that a reader on GitHub needs: of a page the whole one, of other files the same."""
    page = re.fullmatch(r"docs/(en|zh)/(.+\.md)", path)
    if not page:
        return path
    if page[2].startswith("results/"):
        return f"docs/{page[2]}"
    return f"docs/{FOLDER}/{page[1]}/{'README.md' if page[2] == 'SUMMARY.md' else page[2]}"
