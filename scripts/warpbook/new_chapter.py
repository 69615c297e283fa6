"""Creates a new chapter from the template: see scripts/new-chapter."""

import re
import sys

from . import ROOT, flags, programs
from .chapters import CHAPTERS, LIST

TEMPLATE = ROOT / "scripts" / "chapter-template"

# The chapter's name in the template.
PLACEHOLDER = "new-chapter"

# The workspace includes the folders of crates/ whose name has a hyphen.
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")


def main(doc):
    parser = flags.parser(doc)
    parser.add_argument("name", metavar="NAME")
    name = parser.parse_args().name
    validate(parser, name)
    created = files(name)
    existing = [path for path in created if path.exists()]
    if existing:
        sys.exit(f"error: {existing[0].relative_to(ROOT)} exists already; choose another name, or remove it")
    changed = {LIST: listed(name)} | {summary: contents(summary, name) for summary in summaries()}
    for path, text in (created | changed).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # The name's length and spelling affect line breaks and the order of imports.
    manifest = ["--manifest-path", str(ROOT / "Cargo.toml")]
    programs.output(["cargo", "fmt", *manifest, "-p", name])
    for path in created:
        print(f"created  {path.relative_to(ROOT)}")
    for path in changed:
        print(f"changed  {path.relative_to(ROOT)}")
    print(f"\nscripts/ptx --write              compiles its kernel\ncargo run -p {name}")


def validate(parser, name):
    """Exits with an error if a chapter cannot have this name."""
    if not NAME.fullmatch(name):
        parser.error(
            f"'{name}' is not a valid chapter name: use lowercase letters, digits and at least one hyphen, "
            "for example scan-shared"
        )
    crates = ROOT / "crates"
    if (crates / name).exists() or any((crates / "machinery").glob(f"*/{name}")):
        parser.error(f"the crate {name} exists already; choose another name")


def files(name):
    """Returns the new files with their texts."""
    targets = {
        "kernel.cu": f"kernels/{name}.cu",
        "schema.json": f"docs/records/{name}.schema.json",
        "docs/en.md": f"docs/en/{name}.md",
        "docs/zh.md": f"docs/zh/{name}.md",
    }
    crate = TEMPLATE / "crate"
    for path in sorted(crate.rglob("*")):
        if path.is_file():
            inside = path.relative_to(crate).as_posix()
            targets[f"crate/{inside}"] = f"crates/{name}/{inside}"
    return {ROOT / target: text(TEMPLATE / source, name) for source, target in targets.items()}


def text(path, name):
    """Returns a template file with the chapter's name in each of its spellings."""
    text = path.read_text(encoding="utf-8")
    for spelling in (str, lambda name: name.replace("-", "_"), lambda name: name.replace("-", "_").upper()):
        text = text.replace(spelling(PLACEHOLDER), spelling(name))
    return text


def listed(name):
    """Returns chapters.toml with the chapter appended."""
    return LIST.read_text(encoding="utf-8") + text(TEMPLATE / "entry.toml", name)


def summaries():
    """Returns the files with the book's contents in both languages."""
    return [ROOT / "docs" / language / "SUMMARY.md" for language in ("en", "zh")]


def contents(summary, name):
    """Returns the book's contents with the new chapter after the last one."""
    page = summary.with_name(f"{name}.md")
    title = text(TEMPLATE / "docs" / f"{summary.parent.name}.md", name).splitlines()[0].removeprefix("# ")
    lines = summary.read_text(encoding="utf-8").splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if any(f"({chapter}.md)" in line for chapter in CHAPTERS))
    lines.insert(last + 1, f"- [{title}]({page.name})\n")
    return "".join(lines)
