"""Builds the book, checks it and serves it: see scripts/book."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

from . import ROOT, TARGET, flags as shared
from .pages import browser, built, code, comments, console, explorer, figures, github, narrow, places, reading
from .pages import search, sources, terms, ways, whole

DOCS = ROOT / "docs"
BOOK = TARGET / "book"
MDBOOK = "0.5.4"
PLAYWRIGHT = "1.65.2"  # drives Chromium

# Environment variables by language; docs/book.toml has the values for English.
LANGUAGES = {
    "en": {},
    "zh": {
        "MDBOOK_BOOK__SRC": "zh",
        "MDBOOK_BOOK__LANGUAGE": "zh-CN",
        "MDBOOK_BOOK__DESCRIPTION": "CUDA 的各种内存，逐章讲解，用 Rust 编写",
    },
}


def main(doc):
    """Runs the command that the flags select, or exits with an error."""
    try:
        command(parse(doc))
    except FileNotFoundError as error:
        sys.exit(f"error: {error.filename} does not exist")
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: {pathlib.Path(error.cmd[0]).name} failed; see above")


def command(flags):
    if flags.what == "serve":
        return serve(flags.port, flags.simulator)
    if flags.pages:
        return whole_pages()
    if flags.update:
        update(flags.programs)
        whole_pages()
    if flags.check:
        check_sources()
    simulator(flags.simulator)
    build()
    if flags.check:
        check(flags.programs)
    if flags.browser:
        look(flags.programs)
    print(f"The book: {shown(BOOK / 'index.html')}")


def parse(doc):
    parser = shared.parser(doc)
    parser.add_argument("what", nargs="?", choices=["build", "serve"], default="build")
    parser.add_argument("--port", type=int, default=3000)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("--simulator", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--programs", type=pathlib.Path, metavar="FOLDER", default=TARGET / "debug")
    flags = parser.parse_args()
    if flags.what == "serve" and (flags.check or flags.browser or flags.update or flags.pages):
        parser.error("serve cannot be combined with other actions")
    if flags.pages and (flags.check or flags.browser or flags.update):
        parser.error("--pages cannot be combined with other actions")
    if not 0 <= flags.port < 65536:
        parser.error(f"--port {flags.port}: a port is a number from 0 to 65535")
    return flags


def build():
    """Builds both languages, and the start page that chooses one."""
    mdbook = installed()
    for language, settings in LANGUAGES.items():
        run(
            [mdbook, "build", "--dest-dir", BOOK / language, DOCS],
            env={**os.environ, "MDBOOK_LOG": "warn", **settings},
        )
    shutil.copy(DOCS / "theme" / "index.html", BOOK / "index.html")
    for picture in DOCS.glob("*.png"):
        shutil.copy(picture, BOOK)
    code.write(BOOK, DOCS, ROOT)


def check_sources():
    """Checks the sources of the pages. Exits with an error if there are problems."""
    unknown, known = figures.check(DOCS, ROOT)
    moved, places_known = places.check(written(), ROOT)
    stale, made = whole.check(DOCS, ROOT)
    dead, links = github.check(shown_on_github(), ROOT)
    dead += [*whole.links_to_includes(shown_on_github(), ROOT), *ways.on_github(DOCS, ROOT)]
    wide = [f"{file.relative_to(ROOT)}: {error}" for file in whole.files(DOCS) for error in narrow.wide(file)]
    wrong = sources.check(DOCS, ROOT) + unknown + moved + terms.check(DOCS, ROOT) + comments.check(DOCS)
    report(wrong + (stale or dead + wide))
    print(f"{known} numbers have a source, {places_known} links point to the line they name.")
    print(f"{made} expanded pages are up to date, and {links} links on GitHub resolve.")


def check(programs):
    """Checks the built book and the output of its commands. Exits with an error if there are problems."""
    wrong, links = built.check(BOOK)
    wrong += ways.in_book(BOOK)
    long, minutes = reading.check(BOOK)
    outdated, commands = console.check(DOCS, ROOT, programs.resolve(), write=False)
    report(wrong + long + outdated + (["if the new output is correct, run scripts/book --update"] if outdated else []))
    print(f"{links} links resolve, {commands} commands print what the pages show.")
    print(f"The longest page takes {minutes:.1f} minutes to read.")


def look(programs):
    """Checks rendering, search and the interactive page in Chromium. Exits with an error if there are problems."""
    library = TARGET / "tools" / f"playwright-{PLAYWRIGHT}"
    if not (library / "playwright").is_dir():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--root-user-action", "ignore"]
        run([*install, "--target", library, f"playwright=={PLAYWRIGHT}"])
    sys.path.insert(0, str(library))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        sys.exit("error: Chromium is not installed: sudo apt-get install chromium fonts-wqy-microhei")
    wrong, pages = browser.check(chromium, BOOK)
    lost, searches = search.check(chromium, BOOK)
    other, answers = explorer.check(chromium, BOOK, programs.resolve() / "patterns")
    report(wrong + lost + other)
    print(f"{pages} pages render correctly in Chromium, and {searches} searches find their page.")
    print(f"{answers} results of the interactive page equal the simulator's.")


def report(wrong):
    if wrong:
        sys.exit("\n  ".join(["error: the book:", *wrong]))


def written():
    """Returns the hand-written pages, READMEs included."""
    trees = [DOCS / "en", DOCS / "zh"]
    return [*sorted(ROOT.glob("README*.md")), *(file for tree in trees for file in sorted(tree.glob("*.md")))]


def shown_on_github():
    """Returns the Markdown files that readers see on GitHub."""
    folders = [DOCS / "results", DOCS / "records", DOCS / whole.FOLDER, ROOT / "crates", ROOT / "kernels"]
    return [*sorted(ROOT.glob("*.md")), *(file for folder in folders for file in sorted(folder.rglob("*.md")))]


def whole_pages():
    """Writes the expanded pages for GitHub."""
    for file in whole.write(DOCS, ROOT):
        print(f"wrote    {shown(file)}" if file.exists() else f"removed  {shown(file)}")
    for comment in comments.prune(DOCS):
        print(f"not translated in {comments.FILE.name}, omitted from the Chinese page: {comment}")


def update(programs):
    """Writes the output of all commands and the line numbers of links into the pages."""
    places.check(written(), ROOT, write=True)
    wrong, _ = console.check(DOCS, ROOT, programs.resolve(), write=True)
    if wrong:
        sys.exit("\n  ".join(["error: these outputs must be edited by hand:", *wrong]))


def simulator(made):
    """Copies the simulator of the interactive page next to both languages, after building it if necessary."""
    if not made:
        run([ROOT / "scripts" / "figures", "--page"], stdout=subprocess.DEVNULL)
        made = TARGET / "patterns" / "simulator.js"
    (BOOK / "patterns").mkdir(parents=True, exist_ok=True)
    shutil.copy(made, BOOK / "patterns" / "simulator.js")


def installed():
    """Returns the pinned mdBook, after installing it if necessary."""
    tools = TARGET / "tools"
    mdbook = tools / "bin" / ("mdbook.exe" if os.name == "nt" else "mdbook")
    if not mdbook.exists() or MDBOOK not in run([mdbook, "--version"], stdout=subprocess.PIPE).stdout:
        install = ["cargo", "install", "--quiet", "--locked", "--version", MDBOOK, "mdbook"]
        features = ["--no-default-features", "--features", "search"]
        print(f"installing mdBook {MDBOOK} into {shown(tools)}: a few minutes, once", file=sys.stderr)
        run([*install, *features, "--root", tools, "--target-dir", tools / "build"])
        shutil.rmtree(tools / "build")
    return mdbook


def serve(port, made):
    """Builds the book, and serves it on the loopback interface until interrupted."""
    with contextlib.ExitStack() as stack:
        try:
            address = stack.enter_context(browser.served(BOOK, port))
        except OSError as error:
            sys.exit(f"error: port {port}: {error.strerror}; choose another with --port")
        simulator(made)
        build()
        print(f"{address}/ until you press Ctrl-C; reload after a change")
        seen = stamps()
        try:
            while True:
                time.sleep(1)
                if (now := stamps()) != seen:
                    seen = now
                    try:
                        build()
                        print("rebuilt")
                    except subprocess.CalledProcessError:
                        print("the book was not rebuilt: fix the error above", file=sys.stderr)
        except KeyboardInterrupt:
            pass


def stamps():
    """Returns the modification times of all files that a page may include."""
    folders = [DOCS, ROOT / "kernels", *(ROOT / "crates").glob("*/src")]
    files = [file for folder in folders for file in folder.rglob("*.*")]
    files += (ROOT / "crates").glob("*/README.md")
    return {file: file.stat().st_mtime for file in files if file.exists()}


def run(command, **options):
    return subprocess.run(list(map(str, command)), check=True, text=True, **options)


def shown(path):
    """Returns a path relative to the current folder if it is below it."""
    here = pathlib.Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
