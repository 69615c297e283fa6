"""A chapter to start from: see scripts/new-chapter."""

import re
import sys

from . import ROOT, flags, programs
from .chapters import CHAPTERS, LIST

TEMPLATE = ROOT / "scripts" / "chapter-template"

# What the template calls its chapter.
PLACEHOLDER = "new-chapter"

# A folder of crates/ is a member of the workspace by the hyphen in its name.
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")


def main(doc):
    parser = flags.parser(doc)
    parser.add_argument("name", metavar="NAME")
    name = parser.parse_args().name
    refuse(parser, name)
    made = files(name)
    there = [path for path in made if path.exists()]
    if there:
        sys.exit(f"error: {there[0].relative_to(ROOT)} is there already; choose another name, or remove it")
    changed = {LIST: listed(name)} | {summary: contents(summary, name) for summary in summaries()}
    for path, text in (made | changed).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # Names of another length and letter break lines and sort imports otherwise.
    manifest = ["--manifest-path", str(ROOT / "Cargo.toml")]
    programs.output(["cargo", "fmt", *manifest, "-p", name])
    for path in made:
        print(f"made     {path.relative_to(ROOT)}")
    for path in changed:
        print(f"changed  {path.relative_to(ROOT)}")
    print(f"\nscripts/ptx --write              compiles its kernel\ncargo run -p {name}")


def refuse(parser, name):
    """Ends with an error where a chapter cannot have this name."""
    if not NAME.fullmatch(name):
        parser.error(
            f"'{name}' is no name for a chapter: small letters, digits and hyphens, and one hyphen at least, "
            "as scan-shared"
        )
    crates = ROOT / "crates"
    if (crates / name).exists() or (crates / "machinery" / name).exists():
        parser.error(f"there is a crate {name} already")


def files(name):
    """The new files and their texts."""
    places = {
        "kernel.cu": f"kernels/{name}.cu",
        "schema.json": f"docs/records/{name}.schema.json",
        "docs/en.md": f"docs/en/{name}.md",
        "docs/zh.md": f"docs/zh/{name}.md",
    }
    crate = TEMPLATE / "crate"
    for path in sorted(crate.rglob("*")):
        if path.is_file():
            inside = path.relative_to(crate).as_posix()
            places[f"crate/{inside}"] = f"crates/{name}/{inside}"
    return {ROOT / place: text(TEMPLATE / source, name) for source, place in places.items()}


def text(path, name):
    """A file of the template, with the chapter's name in it in each way it is written."""
    text = path.read_text(encoding="utf-8")
    for written in (str, lambda name: name.replace("-", "_"), lambda name: name.replace("-", "_").upper()):
        text = text.replace(written(PLACEHOLDER), written(name))
    return text


def listed(name):
    """chapters.toml with the chapter at its end."""
    return LIST.read_text(encoding="utf-8") + text(TEMPLATE / "entry.toml", name)


def summaries():
    """The book's contents, in both languages."""
    return [ROOT / "docs" / language / "SUMMARY.md" for language in ("en", "zh")]


def contents(summary, name):
    """The book's contents with the chapter's page behind the last chapter's."""
    page = summary.with_name(f"{name}.md")
    title = text(TEMPLATE / "docs" / f"{summary.parent.name}.md", name).splitlines()[0].removeprefix("# ")
    lines = summary.read_text(encoding="utf-8").splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if any(f"({known}.md)" in line for known in CHAPTERS))
    lines.insert(last + 1, f"- [{title}]({page.name})\n")
    return "".join(lines)
