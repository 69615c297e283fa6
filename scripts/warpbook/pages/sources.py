"""Comparison of the two languages' pages, and checks of their includes."""

import collections
import re

from . import markdown, prose, whole
from ..chapters import CHAPTERS

# Languages of code that must be the same in both translations.
SHARED = {"cpp", "c", "rust", "toml", "sh", "yaml"}


def check(docs, root):
    """Returns a sentence per problem with the pages of docs/en and docs/zh and with the READMEs."""
    trees = [docs / "en", docs / "zh"]
    names = [{file.relative_to(tree) for file in tree.rglob("*.md")} for tree in trees]
    wrong = [f"{trees[0].name}/{name} has no Chinese translation in docs/zh" for name in names[0] - names[1]]
    wrong += [f"{trees[1].name}/{name} has no English original in docs/en" for name in names[1] - names[0]]
    for name in sorted(names[0] & names[1]):
        english, chinese = (tree / name for tree in trees)
        wrong += [f"{name}: {error}" for error in differences(english, chinese)]
    for tree in trees:
        for file in sorted(tree.rglob("*.md")):
            wrong += [f"{tree.name}/{file.name}: {error}" for error in include_errors(file, root)]
    readmes = [root / "README.md", root / "README.zh-CN.md"]
    wrong += [f"{readmes[1].name}: {error}" for error in differences(*readmes)]
    wrong += [error for readme, tree in zip(readmes, trees) for error in unlisted(readme, tree, root)]
    listed = [listing(tree / "SUMMARY.md") for tree in trees]
    if listed[0] != listed[1]:
        wrong.append("SUMMARY.md: the two languages list other pages, or in another order")
    for tree, pages, files in zip(trees, listed, names):
        missing = {str(name) for name in files} - set(pages) - {"SUMMARY.md"}
        wrong += [f"{tree.name}/{name} is not in SUMMARY.md" for name in sorted(missing)]
    return wrong


def differences(english, chinese):
    """Yields the differences between two pages other than language."""
    texts = [file.read_text(encoding="utf-8") for file in (english, chinese)]
    lines = [text.splitlines() for text in texts]
    kinds = {
        "headings": [[level for level, _ in markdown.headings(page)] for page in lines],
        "includes": [included(text) for text in texts],
        "commands": [commands(page) for page in lines],
        "code": [shared(page) for page in lines],
    }
    for kind, (left, right) in kinds.items():
        if left != right:
            yield f"different {kind}: {first_difference(left, right)}"
    for left, right in zip(*map(prose.sections, lines)):
        yield from missing_figures(left, right, "Chinese")
        yield from missing_figures(right, left, "English")


def included(text):
    """Returns the includes of a page; those of figures without the language in their name."""
    return [
        (re.sub(r"\.(en|zh)\.svg$", ".svg", path), anchor)
        for path, anchor in markdown.includes(text)
    ]


def commands(lines):
    """Returns the commands of a page without the flag that selects the language."""
    shown = [
        line
        for block in markdown.blocks(lines)
        if block.language == "console"
        for line in block.lines
        if line.startswith("$ ")
    ]
    return [re.sub(r" --lang (en|zh)\b", "", line).removesuffix(" --") for line in shown]


def shared(lines):
    """Returns the code of a page."""
    return [
        (block.language, block.lines)
        for block in markdown.blocks(lines)
        if block.language in SHARED
    ]


def missing_figures(section, translation, language):
    """Yields the figures that a section claims and its translation lacks, in any order."""
    remaining = collections.Counter(figure.value for _, figure in translation)
    for line, figure in section:
        remaining[figure.value] -= 1
        if figure.claims() and remaining[figure.value] < 0:
            yield f"{figure.written} of line {line} is not in the same section in {language}"


def first_difference(english, chinese):
    for number, (left, right) in enumerate(zip(english, chinese), 1):
        if left != right:
            return f"number {number} is {left!r} in English, {right!r} in Chinese"
    return f"{len(english)} in English, {len(chinese)} in Chinese"


def include_errors(file, root):
    """Yields errors of a page's includes: missing files or anchors, and line numbers that may have moved."""
    for path, selection in markdown.includes(file.read_text(encoding="utf-8")):
        source = (file.parent / path).resolve()
        if not source.is_file():
            yield f"there is no {path} to include"
            continue
        text = source.read_text(encoding="utf-8")
        if re.fullmatch(r"[\d:]+", selection):
            if not is_separate(text.splitlines(), selection):
                yield f"{path}:{selection} does not begin and end at empty lines: the lines may have moved"
            continue
        for mark in ("ANCHOR", "ANCHOR_END") if selection else ():
            count = len(re.findall(rf"\b{mark}:\s*{re.escape(selection)}(?![\w-])", text))
            if count != 1:
                path_in_root = source.relative_to(root)
                yield f"{path_in_root} has {count} lines with `{mark}: {selection}`, but must have one"


def is_separate(lines, selection):
    """Returns true if lines included by number are surrounded by empty lines or the file's ends."""
    first, _, last = selection.partition(":")
    around = lines[int(first) - 2 : int(first) - 1] + lines[int(last or len(lines)) :][:1]
    return not any(line.strip() for line in around)


def unlisted(readme, tree, root):
    """Yields the chapters to whose page a README does not link."""
    text = readme.read_text(encoding="utf-8")
    for name in CHAPTERS:
        page = whole.on_github((tree / f"{name}.md").relative_to(root).as_posix())
        if f"]({page})" not in text:
            yield f"{readme.name}: no link to {page}, although chapters.toml lists {name}"


def listing(summary):
    """Returns the pages that a SUMMARY.md lists, in order."""
    return re.findall(r"\]\(([^)]+)\)", summary.read_text(encoding="utf-8"))
