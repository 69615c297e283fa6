"""The built book in Chromium: each page, as wide as a phone and as a desktop, light and dark.

A page must not be wider than the window, nor log an error, nor ask for what is not there. Nothing but
code scrolls sideways, tables are within the column, and a figure fits the window. Text in figures must stand out from what is behind it and be large enough to read, and the switch between
the languages must arrive at the same heading of the page's twin. mdBook's own words must be
Chinese on a Chinese page.
"""

import concurrent.futures
import contextlib
import functools
import http.server
import pathlib
import re
import sys
import threading
import urllib.parse

from . import code

SIZES = [(390, 844), (1440, 900)]
THEMES = ["light", "navy"]
LOOK, WORDS = (
    (pathlib.Path(__file__).parent / name).read_text(encoding="utf-8")
    for name in ("look.js", "words.js")
)
# What is wrong with the page of a source file.
SOURCE = """() => document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []"""


def check(chromium, book):
    """What is wrong on the pages, a sentence each, and how many pages there are."""
    pages = sorted(file.relative_to(book / "en").as_posix() for file in (book / "en").rglob("*.html"))
    pages = [page for page in pages if page not in ("toc.html", "index.html")]
    sources = sorted(file.relative_to(book).as_posix() for file in (book / code.FOLDER).rglob("*.html"))
    with served(book) as address, concurrent.futures.ThreadPoolExecutor() as pool:
        at = functools.partial(visit, chromium, address, pages, sources)
        wrong = [one for found in pool.map(at, SIZES) for one in found]
    return wrong, 2 * len(pages) + len(sources)


def visit(chromium, address, pages, sources, size):
    """All pages, and the sources that they lead to, in a window of one size."""
    from playwright.sync_api import sync_playwright

    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        if size == SIZES[0]:
            wrong += entry(browser, address)
        width, height = size
        context = browser.new_context(viewport={"width": width, "height": height})
        tab = context.new_page()
        problems = listen(tab)
        for page in pages:
            tab.goto(f"{address}/en/{page}")
            found = [*looks(tab), *switch(tab, "zh", page), *looks(tab), *copies(tab)]
            found += switch(tab, "en", page)
            wrong += [f"{page}, {width} px: {what}" for what in [*found, *drain(problems)]]
        for page in sources:
            tab.goto(f"{address}/{page}")
            wrong += [f"{page}, {width} px: {what}" for what in [*tab.evaluate(SOURCE), *drain(problems)]]
        browser.close()
    return wrong


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing of each request."""

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """Says nothing of a browser that leaves a page before it is there."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def served(book, port=0):
    """The book on a port of this machine, for this machine alone; its address."""
    handler = functools.partial(Quiet, directory=book)
    server = Server(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def listen(tab):
    """What goes wrong in a tab, from now on."""
    problems = []
    tab.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("requestfailed", lambda asked: problems.append(f"{asked.url}: {asked.failure}"))
    return problems


def drain(problems):
    # A page that is left before all is there gives up the rest: that is no failure.
    found = [one for one in problems if "ERR_ABORTED" not in one]
    problems.clear()
    return found


def looks(tab):
    """What is wrong with how a page looks."""
    language = tab.evaluate("document.documentElement.lang")
    for theme in THEMES:
        tab.evaluate("theme => document.getElementById(`mdbook-theme-${theme}`).click()", theme)
        yield from (f"{language}, {theme}: {what}" for what in tab.evaluate(LOOK))
    if language != "en":
        yield from tab.evaluate(WORDS)


def copies(tab):
    """What is wrong with what a button says that has copied."""
    button = tab.locator("main .clip-button").first
    if button.count():
        button.evaluate("button => button.click()")
        tab.wait_for_function("document.querySelector('main .tooltipped')")
        yield from tab.evaluate(WORDS)


def switch(tab, there, page):
    """Goes over to the other language, from the last heading of the page."""
    ids = "[...document.querySelectorAll('main :is(h1, h2, h3, h4, h5, h6)[id]')].map(one => one.id)"
    left = tab.evaluate(ids)
    tab.evaluate("id => { location.hash = id; }", left[-1])
    # Not the mouse's click: on a phone it would first scroll to where the menu bar is.
    with tab.expect_navigation():
        tab.evaluate("document.querySelector('.right-buttons .language').click()")
    found = tab.evaluate(ids)
    path, _, place = tab.url.partition("#")
    if not path.endswith(f"/{there}/{page}"):
        yield f"the switch to {there} leads to {path}"
    elif len(left) != len(found):
        yield f"{len(left)} headings, and {len(found)} in {there}"
    elif len(left) > 1 and urllib.parse.unquote(place) != found[-1]:
        yield f"the switch from #{left[-1]} leads to #{urllib.parse.unquote(place)}"


def entry(browser, address):
    """The page before the book sends everybody to their own language."""
    for locale, tree in [("zh-CN", "zh"), ("en-GB", "en"), ("fr-FR", "en")]:
        context = browser.new_context(locale=locale)
        tab = context.new_page()
        problems = listen(tab)
        tab.goto(f"{address}/index.html")
        tab.wait_for_url(re.compile(rf"/{tree}/index\.html$"))
        yield from (f"index.html: {one}" for one in drain(problems))
        context.close()
