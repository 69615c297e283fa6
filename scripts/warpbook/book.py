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

# What docs/book.toml has for English, and the other language otherwise.
LANGUAGES = {
    "en": {},
    "zh": {
        "MDBOOK_BOOK__SRC": "zh",
        "MDBOOK_BOOK__LANGUAGE": "zh-CN",
        "MDBOOK_BOOK__DESCRIPTION": "CUDA 的各种内存，逐章讲解，用 Rust 编写",
    },
}


def main(doc):
    """Does what the flags say, or ends with an error."""
    try:
        command(parse(doc))
    except FileNotFoundError as error:
        sys.exit(f"error: {error.filename} is not there")
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
        parser.error("serve goes by itself")
    if flags.pages and (flags.check or flags.browser or flags.update):
        parser.error("--pages goes by itself")
    if not 0 <= flags.port < 65536:
        parser.error(f"--port {flags.port}: there are ports from 0 to 65535")
    return flags


def build():
    """Both languages, and the page before them that chooses one."""
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
    """Ends with an error where a page is wrong as it is written."""
    unknown, known = figures.check(DOCS, ROOT)
    moved, places_known = places.check(written(), ROOT)
    stale, made = whole.check(DOCS, ROOT)
    dead, links = github.check(shown_on_github(), ROOT)
    dead += [*whole.unwhole(shown_on_github(), ROOT), *ways.on_github(DOCS, ROOT)]
    wide = [f"{file.relative_to(ROOT)}: {one}" for file in whole.files(DOCS) for one in narrow.wide(file)]
    wrong = sources.check(DOCS, ROOT) + unknown + moved + terms.check(DOCS, ROOT) + comments.check(DOCS)
    report(wrong + (stale or dead + wide))
    print(f"{known} figures have a source, {places_known} links lead to the line they name.")
    print(f"{made} whole pages are up to date, and {links} links on GitHub arrive.")


def check(programs):
    """Ends with an error where the built book or what its commands print is wrong."""
    wrong, links = built.check(BOOK)
    wrong += ways.in_book(BOOK)
    long, minutes = reading.check(BOOK)
    unlike, commands = console.check(DOCS, ROOT, programs.resolve(), write=False)
    report(wrong + long + unlike + (["if the commands are right: scripts/book --update"] if unlike else []))
    print(f"{links} links arrive, {commands} commands print what is shown.")
    print(f"Every page is read in {minutes:.1f} minutes or less.")


def look(programs):
    """Ends with an error where a page does not look as it should, or does not answer right."""
    library = TARGET / "tools" / f"playwright-{PLAYWRIGHT}"
    if not (library / "playwright").is_dir():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--root-user-action", "ignore"]
        run([*install, "--target", library, f"playwright=={PLAYWRIGHT}"])
    sys.path.insert(0, str(library))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        sys.exit("error: there is no Chromium: sudo apt-get install chromium fonts-wqy-microhei")
    wrong, pages = browser.check(chromium, BOOK)
    lost, searches = search.check(chromium, BOOK)
    other, answers = explorer.check(chromium, BOOK, programs.resolve() / "patterns")
    report(wrong + lost + other)
    print(f"{pages} pages look as they should in Chromium, and {searches} searches find their page.")
    print(f"{answers} answers of the interactive page are the simulator's.")


def report(wrong):
    if wrong:
        sys.exit("\n  ".join(["error: the book:", *wrong]))


def written():
    """The pages as they are written, and what leads to them."""
    trees = [DOCS / "en", DOCS / "zh"]
    return [*sorted(ROOT.glob("README*.md")), *(file for tree in trees for file in sorted(tree.glob("*.md")))]


def shown_on_github():
    """The Markdown that a reader of the repository comes to."""
    folders = [DOCS / "results", DOCS / "records", DOCS / whole.FOLDER, ROOT / "crates", ROOT / "kernels"]
    return [*sorted(ROOT.glob("*.md")), *(file for one in folders for file in sorted(one.rglob("*.md")))]


def whole_pages():
    """Makes the pages that GitHub shows whole."""
    for file in whole.write(DOCS, ROOT):
        print(f"made     {shown(file)}" if file.exists() else f"removed  {shown(file)}")
    for comment in comments.prune(DOCS):
        print(f"not in {comments.FILE.name}, and left out of the Chinese page: {comment}")


def update(programs):
    """Puts into the pages what their commands print, and the lines that their links name."""
    places.check(written(), ROOT, write=True)
    wrong, _ = console.check(DOCS, ROOT, programs.resolve(), write=True)
    if wrong:
        sys.exit("\n  ".join(["error: these are to be written by hand:", *wrong]))


def simulator(made):
    """What the interactive page runs, beside both languages."""
    if not made:
        run([ROOT / "scripts" / "figures", "--page"], stdout=subprocess.DEVNULL)
        made = TARGET / "patterns" / "simulator.js"
    (BOOK / "patterns").mkdir(parents=True, exist_ok=True)
    shutil.copy(made, BOOK / "patterns" / "simulator.js")


def installed():
    """The pinned mdBook, installed if it is not there."""
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
    """Builds the book, and serves it on this machine alone until interrupted."""
    with contextlib.ExitStack() as held:
        try:
            address = held.enter_context(browser.served(BOOK, port))
        except OSError as error:
            sys.exit(f"error: port {port}: {error.strerror}; take another with --port")
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
                        print("built again")
                    except subprocess.CalledProcessError:
                        print("the page is as it was: mend what is said above", file=sys.stderr)
        except KeyboardInterrupt:
            pass


def stamps():
    """When each file that a page may be made of was changed."""
    folders = [DOCS, ROOT / "kernels", *(ROOT / "crates").glob("*/src")]
    files = [file for folder in folders for file in folder.rglob("*.*")]
    files += (ROOT / "crates").glob("*/README.md")
    return {file: file.stat().st_mtime for file in files if file.exists()}


def run(command, **how):
    return subprocess.run(list(map(str, command)), check=True, text=True, **how)


def shown(path):
    """A path in words: from where the script runs, if it is below."""
    here = pathlib.Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
