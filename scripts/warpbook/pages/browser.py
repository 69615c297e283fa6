"""Layout checks of the built book in Chromium: each page at the width of a phone and a desktop, light and dark.

A page must not be wider than the window, log an error, or request a missing file. Only code may scroll sideways,
tables fit the column, and figures fit the window. Text in figures must have enough contrast and size to be
readable. The language switch must lead to the same heading of the translated page. mdBook's own labels must be
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
# Problems of the page of a source file.
SOURCE = """() => document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []"""


def check(chromium, book):
    """Returns a sentence per problem on the pages, and the number of pages."""
    pages = sorted(file.relative_to(book / "en").as_posix() for file in (book / "en").rglob("*.html"))
    pages = [page for page in pages if page not in ("toc.html", "index.html")]
    sources = sorted(file.relative_to(book).as_posix() for file in (book / code.FOLDER).rglob("*.html"))
    with served(book) as address, concurrent.futures.ThreadPoolExecutor() as pool:
        visit_all = functools.partial(visit, chromium, address, pages, sources)
        wrong = [problem for problems in pool.map(visit_all, SIZES) for problem in problems]
    return wrong, 2 * len(pages) + len(sources)


def visit(chromium, address, pages, sources, size):
    """Visits all pages and the linked sources in a window of one size, and returns the problems."""
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
            errors = [*layout_problems(tab), *switch(tab, "zh", page), *layout_problems(tab), *copies(tab)]
            errors += switch(tab, "en", page)
            wrong += [f"{page}, {width} px: {problem}" for problem in [*errors, *drain(problems)]]
        for page in sources:
            tab.goto(f"{address}/{page}")
            errors = [*tab.evaluate(SOURCE), *drain(problems)]
            wrong += [f"{page}, {width} px: {problem}" for problem in errors]
        browser.close()
    return wrong


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A request handler without a log."""

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server that ignores browsers leaving a page before it is loaded."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def served(book, port=0):
    """Serves the book on a local port and yields its address."""
    handler = functools.partial(Quiet, directory=book)
    server = Server(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def listen(tab):
    """Returns a list to which the tab's errors are added as they occur."""
    problems = []
    tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("requestfailed", lambda request: problems.append(f"{request.url}: {request.failure}"))
    return problems


def drain(problems):
    """Returns and clears the problems."""
    # Leaving a page cancels its pending requests, which is no error.
    remaining = [problem for problem in problems if "ERR_ABORTED" not in problem]
    problems.clear()
    return remaining


def layout_problems(tab):
    """Yields the problems of a page's layout."""
    language = tab.evaluate("document.documentElement.lang")
    for theme in THEMES:
        tab.evaluate("theme => document.getElementById(`mdbook-theme-${theme}`).click()", theme)
        yield from (f"{language}, {theme}: {problem}" for problem in tab.evaluate(LOOK))
    if language != "en":
        yield from tab.evaluate(WORDS)


def copies(tab):
    """Yields the problems of the label that a copy button shows after copying."""
    # Not in an answer that is folded: nothing is copied from there.
    button = tab.locator("main .clip-button:not(details:not([open]) *)").first
    if button.count():
        button.evaluate("button => button.click()")
        tab.wait_for_function("document.querySelector('main .tooltipped')")
        yield from tab.evaluate(WORDS)


def switch(tab, target, page):
    """Switches to the other language at the last heading of the page, and yields the problems."""
    ids = "[...document.querySelectorAll('main :is(h1, h2, h3, h4, h5, h6)[id]')].map(heading => heading.id)"
    before = tab.evaluate(ids)
    tab.evaluate("id => { location.hash = id; }", before[-1])
    # Click by script: on a phone, the mouse's click would first scroll to the menu bar.
    with tab.expect_navigation():
        tab.evaluate("document.querySelector('.right-buttons .language').click()")
    after = tab.evaluate(ids)
    path, _, anchor = tab.url.partition("#")
    if not path.endswith(f"/{target}/{page}"):
        yield f"the switch to {target} leads to {path}"
    elif len(before) != len(after):
        yield f"{len(before)} headings, but {len(after)} in {target}"
    elif len(before) > 1 and urllib.parse.unquote(anchor) != after[-1]:
        yield f"the switch from #{before[-1]} leads to #{urllib.parse.unquote(anchor)}"


def entry(browser, address):
    """Checks that the start page redirects to the reader's language, and yields the problems."""
    for locale, tree in [("zh-CN", "zh"), ("en-GB", "en"), ("fr-FR", "en")]:
        context = browser.new_context(locale=locale)
        tab = context.new_page()
        problems = listen(tab)
        tab.goto(f"{address}/index.html")
        tab.wait_for_url(re.compile(rf"/{tree}/index\.html$"))
        yield from (f"index.html: {problem}" for problem in drain(problems))
        context.close()
