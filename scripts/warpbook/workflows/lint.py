"""Lints the workflows and the action with jactionlint and shellcheck."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

from .. import ROOT
from ..pages import markdown
from . import tools

# Actions are pinned by their major version, and images by their tag: all are GitHub's, Debian's or Rust's own.
IN_REPOSITORY = ["--ignore=unpinned-uses", "--ignore=unpinned-images"]
# Workflows on pages are short: they rely on GitHub's defaults, which the rules on policy and security reject.
ON_PAGES = ["--profile=correctness"]

# The beginning of a workflow of which a page shows only steps.
STEPS = """\
on: push
jobs:
  test:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@v6
"""


def check():
    """Returns the linter's findings. Prints the number of files."""
    files = [ROOT / "action.yml", *sorted((ROOT / ".github/workflows").glob("*.yml"))]
    wrong = findings(files, IN_REPOSITORY)
    shown = list(workflows())
    with tempfile.TemporaryDirectory() as folder:
        # Like a user's repository, with a copy of the action.
        github = pathlib.Path(folder) / ".github"
        (github / "workflows").mkdir(parents=True)
        (github / "actions/warpbook").mkdir(parents=True)
        shutil.copy(ROOT / "action.yml", github / "actions/warpbook")
        for page, number, text in shown:
            file = github / "workflows" / f"{page.parent.name}-{page.stem}-{number}.yml"
            file.write_text(text, encoding="utf-8")
        wrong += findings([*sorted(github.glob("workflows/*"))], ON_PAGES, folder) if shown else []
    if version() != (expected := workspace_version()):
        wrong.append(f"action.yml: the default of version is {version()}, but Cargo.toml has {expected}")
    print(f"lint: {len(files)} files and {len(shown)} workflows on pages")
    return wrong


def pages():
    """Returns the READMEs and the pages of the book."""
    return [*sorted(ROOT.glob("README*.md")), *sorted(ROOT.glob("docs/*/*.md"))]


def workflows():
    """Yields the page, the line and the text of each workflow on a page, also of those that are only steps."""
    for page in pages():
        for block in markdown.blocks(page.read_text(encoding="utf-8").split("\n")):
            text = "\n".join([*block.lines, ""])
            if block.language != "yaml":
                continue
            if re.match("- (run|uses): ", text):
                text = STEPS + textwrap.indent(text, " " * 6)
            if re.search("^jobs:", text, re.MULTILINE):
                yield page, block.first + 1, text


def findings(files, options, folder=ROOT):
    library = tools.library(*tools.LINTER)
    words = [sys.executable, "-m", "jactionlint", "--format=oneline", "--no-color", "--strict-exit", *options]
    # The folder bin has shellcheck.
    search = f"{library / 'bin'}{os.pathsep}{os.environ['PATH']}"
    settings = {**os.environ, "PYTHONPATH": str(library), "PATH": search}
    ended = subprocess.run([*words, *files], cwd=folder, env=settings, capture_output=True, text=True, check=False)
    printed = (ended.stdout + ended.stderr).strip().split("\n")
    return printed if ended.returncode else []


def version():
    return tools.yaml((ROOT / "action.yml").read_text("utf-8"))["inputs"]["version"]["default"]


def workspace_version():
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text("utf-8"), re.MULTILINE)[1]
