"""Tests of the book's search in Chromium: results are listed, marked, and lead to their pages.

The tests run in both languages, on a phone and on a desktop, from the book's files. The Chinese search is also
tested on a page that a server delivers with a search in its address. The expected page must be among the first
three results.
"""

import concurrent.futures
import functools
import time
import urllib.parse

from .browser import SIZES, drain, layout_problems, listen, served

# A query, the page it must lead to, and the text to be marked there. The book contains the first query only in
# parts.
PARTS = ("矩阵乘法分块", "matmul-tiled.html", "矩阵")
QUERIES = {
    "en": [
        ("constant memory spheres", "raytrace-const.html", "constant"),
        ("coalesced", "vector-add.html", "coalesced"),
        ("--check", "checks.html", "--check"),
        ("__ldg coefficients", "stencil-readonly.html", "__ldg"),
    ],
    "zh": [
        ("常量内存", "add-constant.html", "常量内存"),
        ("合并访问", "matmul-pitched.html", "合并访问"),
        ("常量内存 cache", "stencil-readonly.html", "cache"),
        ("计时cudaEvent", "timing.html", "计时"),
        PARTS,
        ("--check", "checks.html", "--check"),
        ("__ldg", "stencil-readonly.html", "__ldg"),
    ],
}
NOTHING = {
    "en": ("zzyzx", "No search results for 'zzyzx'."),
    "zh": ("饕餮", "没有找到“饕餮”。"),
}
HEADER = "document.getElementById('mdbook-searchresults-header').textContent"
LISTED = "[...document.querySelectorAll('#mdbook-searchresults a')].map(one => one.href)"
# Circumstances of a page with a search in its address.
KINDS = {
    "opened at a search": {},
    "opened at a search, the index first": {"slow": True},
    "without Intl.Segmenter": {"script": "delete Intl.Segmenter"},
}


def check(chromium, book):
    """Returns a sentence per problem with the search, and the number of searches."""
    with served(book) as address, concurrent.futures.ThreadPoolExecutor() as pool:
        visit_all = functools.partial(visit, chromium, book, address)
        wrong = [problem for problems in pool.map(visit_all, SIZES) for problem in problems]
    return wrong, len(SIZES) * (sum(len(queries) + 1 for queries in QUERIES.values()) + len(KINDS))


def visit(chromium, book, address, size):
    """Performs all searches in a window of one size, and returns the problems."""
    from playwright.sync_api import sync_playwright

    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        context = browser.new_context(viewport=dict(zip(("width", "height"), size)))
        for language, queries in QUERIES.items():
            tab = context.new_page()
            problems = listen(tab)
            page = (book / language / "introduction.html").resolve().as_uri()
            errors = [*use(tab, page, language, queries), *drain(problems)]
            wrong += [f"search, {language}, {size[0]} px: {problem}" for problem in errors]
        for kind, options in KINDS.items():
            errors = opened(context.new_page(), address, **options)
            wrong += [f"search, {kind}, {size[0]} px: {problem}" for problem in errors]
        browser.close()
    return wrong


def use(tab, page, language, queries):
    """Searches as a reader does, and yields the problems."""
    tab.goto(page)
    box = tab.locator("#mdbook-searchbar")
    tab.keyboard.press("/")
    if not box.is_visible():
        yield "the key / does not open the search"
    tab.keyboard.press("Escape")
    if box.is_visible():
        yield "Escape does not close the search"
    for query, expected, marked in queries:
        tab.goto(page)
        tab.click("#mdbook-search-toggle")
        yield from enter(tab, language, query)
        yield from arrive(tab, query, expected, marked)
    # Check the layout of the list, with results and empty.
    tab.goto(page)
    tab.keyboard.press("/")
    yield from enter(tab, language, queries[0][0])
    yield from layout_problems(tab)
    tab.locator("#mdbook-searchbar").fill("")
    query, message = NOTHING[language]
    yield from enter(tab, language, query)
    yield from layout_problems(tab)
    if tab.evaluate(HEADER) != message:
        yield f"{query}: shows {tab.evaluate(HEADER)!r}, expected {message!r}"


def enter(tab, language, query):
    """Enters a query and waits for the results. Yields a problem if there are none."""
    if language == "zh":
        tab.keyboard.insert_text(query)  # as an input method does, without key events
    else:
        tab.keyboard.type(query)
    yield from await_results(tab, query)


def await_results(tab, query):
    """Waits for the results of a query. Yields a problem if there are none."""
    from playwright.sync_api import TimeoutError

    try:
        tab.wait_for_function(f"query => {HEADER}.includes(query)", arg=query)
    except TimeoutError:
        yield f"{query}: no results"


def arrive(tab, query, expected, marked):
    """Goes to the expected page, and yields the problems."""
    first = tab.evaluate(LISTED)[:3]
    pages = [urllib.parse.urlsplit(link).path.rpartition("/")[2] for link in first]
    if expected not in pages:
        yield f"{query}: {expected} is not among the first results: {', '.join(pages) or 'there are none'}"
        return
    index = pages.index(expected)
    if not tab.locator("#mdbook-searchresults .teaser em").count():
        yield f"{query}: nothing is marked in the list"
    with tab.expect_navigation():
        tab.locator("#mdbook-searchresults a").nth(index).click()
    if tab.url.partition("?")[0].rpartition("/")[2] != expected:
        yield f"{query}: leads to {tab.url}"
    marks = tab.locator("main mark").all_inner_texts()
    if marked not in marks:
        yield f"{query}: {expected} has marked {sorted(set(marks))}"


def opened(tab, address, slow=False, script=""):
    """Opens a Chinese page with a search in its address, in one kind of browser, and yields the problems."""
    query, expected, marked = PARTS
    if slow:
        tab.route("**/theme/search-*.js", late)
    tab.add_init_script(script)
    tab.goto(f"{address}/zh/introduction.html?search={urllib.parse.quote(query)}")
    yield from await_results(tab, query)
    yield from arrive(tab, query, expected, marked)


def late(route):
    time.sleep(1)
    route.continue_()
