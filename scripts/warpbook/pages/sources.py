"""The two languages beside each other, and what the pages include."""

import collections
import re

from . import markdown, prose, whole
from ..chapters import CHAPTERS

# Code is the same whatever language is around it.
SHARED = {"cpp", "c", "rust", "toml", "sh", "yaml"}


def check(docs, root):
    """What is wrong with the pages of docs/en and docs/zh and with the READMEs: a sentence each."""
    trees = [docs / "en", docs / "zh"]
    names = [{file.relative_to(tree) for file in tree.rglob("*.md")} for tree in trees]
    wrong = [f"{trees[0].name}/{name} has no twin in zh" for name in names[0] - names[1]]
    wrong += [f"{trees[1].name}/{name} has no twin in en" for name in names[1] - names[0]]
    for name in sorted(names[0] & names[1]):
        english, chinese = (tree / name for tree in trees)
        wrong += [f"{name}: {what}" for what in differences(english, chinese)]
    for tree in trees:
        for file in sorted(tree.rglob("*.md")):
            wrong += [f"{tree.name}/{file.name}: {what}" for what in lost(file, root)]
    readmes = [root / "README.md", root / "README.zh-CN.md"]
    wrong += [f"{readmes[1].name}: {what}" for what in differences(*readmes)]
    wrong += [what for readme, tree in zip(readmes, trees) for what in unlisted(readme, tree, root)]
    listed = [listing(tree / "SUMMARY.md") for tree in trees]
    if listed[0] != listed[1]:
        wrong.append("SUMMARY.md: other pages, or another order")
    for tree, pages, files in zip(trees, listed, names):
        missing = {str(name) for name in files} - set(pages) - {"SUMMARY.md"}
        wrong += [f"{tree.name}/{name} is not in SUMMARY.md" for name in sorted(missing)]
    return wrong


def differences(english, chinese):
    """In what else than language two pages differ."""
    texts = [file.read_text(encoding="utf-8") for file in (english, chinese)]
    lines = [text.splitlines() for text in texts]
    kinds = {
        "headings": [[level for level, _ in markdown.headings(one)] for one in lines],
        "includes": [included(text) for text in texts],
        "commands": [commands(one) for one in lines],
        "code": [shared(one) for one in lines],
    }
    for kind, (here, there) in kinds.items():
        if here != there:
            yield f"other {kind}: {first_difference(here, there)}"
    for here, there in zip(*map(prose.sections, lines)):
        yield from unsaid(here, there, "Chinese")
        yield from unsaid(there, here, "English")


def included(text):
    """What a page includes; a figure by its name without the language."""
    return [
        (re.sub(r"\.(en|zh)\.svg$", ".svg", path), anchor)
        for path, anchor in markdown.includes(text)
    ]


def commands(lines):
    """The commands of a page, without the flag that chooses the language."""
    shown = [
        line
        for block in markdown.blocks(lines)
        if block.language == "console"
        for line in block.lines
        if line.startswith("$ ")
    ]
    return [re.sub(r" --lang (en|zh)\b", "", line).removesuffix(" --") for line in shown]


def shared(lines):
    """The code of a page."""
    return [
        (block.language, block.lines)
        for block in markdown.blocks(lines)
        if block.language in SHARED
    ]


def unsaid(section, twin, language):
    """The figures that a section claims and its twin does not say, in whatever order it does."""
    left = collections.Counter(figure.value for _, figure in twin)
    for line, figure in section:
        left[figure.value] -= 1
        if figure.claims() and left[figure.value] < 0:
            yield f"{figure.written} of line {line} is not in the same section in {language}"


def first_difference(here, there):
    for number, (one, other) in enumerate(zip(here, there), 1):
        if one != other:
            return f"number {number} is {one!r} in English, {other!r} in Chinese"
    return f"{len(here)} in English, {len(there)} in Chinese"


def lost(file, root):
    """Includes of a page that find nothing, or may be of something else."""
    for path, place in markdown.includes(file.read_text(encoding="utf-8")):
        source = (file.parent / path).resolve()
        if not source.is_file():
            yield f"there is no {path} to include"
            continue
        text = source.read_text(encoding="utf-8")
        if re.fullmatch(r"[\d:]+", place):
            if not apart(text.splitlines(), place):
                yield f"{path}:{place} begins or ends where no empty line does: have the lines moved?"
            continue
        for mark in ("ANCHOR", "ANCHOR_END") if place else ():
            count = len(re.findall(rf"\b{mark}:\s*{re.escape(place)}(?![\w-])", text))
            if count != 1:
                named = source.relative_to(root)
                yield f"{named} has {count} lines with `{mark}: {place}`, and should have one"


def apart(lines, place):
    """Whether lines included by their numbers have empty ones around them, or the file's ends."""
    first, _, last = place.partition(":")
    around = lines[int(first) - 2 : int(first) - 1] + lines[int(last or len(lines)) :][:1]
    return not any(line.strip() for line in around)


def unlisted(readme, tree, root):
    """Chapters whose page a README does not link."""
    text = readme.read_text(encoding="utf-8")
    for name in CHAPTERS:
        page = whole.place((tree / f"{name}.md").relative_to(root).as_posix())
        if f"]({page})" not in text:
            yield f"{readme.name}: no link to {page}, and chapters.toml has {name}"


def listing(summary):
    """The pages that a SUMMARY.md lists, in its order."""
    return re.findall(r"\]\(([^)]+)\)", summary.read_text(encoding="utf-8"))
