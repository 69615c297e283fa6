"""The search in Chromium: what is looked for is found, marked, and gone to.

In both languages, on a phone and on a desktop, from the book's files alone; and the Chinese one
also in a page that is opened at a search, from a server. The page that is wanted must be among the
first three.
"""

import concurrent.futures
import functools
import time
import urllib.parse

from .browser import SIZES, drain, listen, looks, served

# What is looked for, the page that it must lead to, and what is marked there. The first is what
# the book has only in parts.
PARTS = ("矩阵乘法分块", "matmul-tiled.html", "矩阵")
QUERIES = {
    "en": [
        ("constant memory spheres", "raytrace-const.html", "constant"),
        ("coalesced", "patterns.html", "coalesced"),
        ("--check", "simulator.html", "--check"),
        ("__ldg coefficients", "stencil-readonly.html", "__ldg"),
    ],
    "zh": [
        ("常量内存", "add-constant.html", "常量内存"),
        ("合并访问", "patterns.html", "合并访问"),
        ("常量内存 cache", "raytrace-const.html", "cache"),
        ("计时cudaEvent", "timing.html", "计时"),
        PARTS,
        ("--check", "simulator.html", "--check"),
        ("__ldg", "stencil-readonly.html", "__ldg"),
    ],
}
NOTHING = {
    "en": ("zzyzx", "No search results for 'zzyzx'."),
    "zh": ("饕餮", "没有找到“饕餮”。"),
}
HEADER = "document.getElementById('mdbook-searchresults-header').textContent"
LISTED = "[...document.querySelectorAll('#mdbook-searchresults a')].map(one => one.href)"
# What a page that is opened at its search may meet.
KINDS = {
    "opened at a search": {},
    "opened at a search, the index first": {"slow": True},
    "without Intl.Segmenter": {"script": "delete Intl.Segmenter"},
}


def check(chromium, book):
    """What is wrong with the search, a sentence each, and how many searches were made."""
    with served(book) as address, concurrent.futures.ThreadPoolExecutor() as pool:
        at = functools.partial(visit, chromium, book, address)
        wrong = [one for found in pool.map(at, SIZES) for one in found]
    return wrong, len(SIZES) * (sum(len(one) + 1 for one in QUERIES.values()) + len(KINDS))


def visit(chromium, book, address, size):
    """All searches in a window of one size."""
    from playwright.sync_api import sync_playwright

    wrong = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        context = browser.new_context(viewport=dict(zip(("width", "height"), size)))
        for language, queries in QUERIES.items():
            tab = context.new_page()
            problems = listen(tab)
            page = (book / language / "introduction.html").resolve().as_uri()
            found = [*use(tab, page, language, queries), *drain(problems)]
            wrong += [f"search, {language}, {size[0]} px: {one}" for one in found]
        for kind, how in KINDS.items():
            found = opened(context.new_page(), address, **how)
            wrong += [f"search, {kind}, {size[0]} px: {one}" for one in found]
        browser.close()
    return wrong


def use(tab, page, language, queries):
    """Searches as a reader does; yields what is wrong."""
    tab.goto(page)
    box = tab.locator("#mdbook-searchbar")
    tab.keyboard.press("/")
    if not box.is_visible():
        yield "its key does not open it"
    tab.keyboard.press("Escape")
    if box.is_visible():
        yield "Escape does not close it"
    for query, wanted, marked in queries:
        tab.goto(page)
        tab.click("#mdbook-search-toggle")
        yield from ask(tab, language, query)
        yield from arrive(tab, query, wanted, marked)
    # How the list looks, and how it looks when it is empty.
    tab.goto(page)
    tab.keyboard.press("/")
    yield from ask(tab, language, queries[0][0])
    yield from looks(tab)
    tab.locator("#mdbook-searchbar").fill("")
    query, said = NOTHING[language]
    yield from ask(tab, language, query)
    yield from looks(tab)
    if tab.evaluate(HEADER) != said:
        yield f"{query}: says {tab.evaluate(HEADER)!r} and not {said!r}"


def ask(tab, language, query):
    """Puts a query into the box, and waits for the answer; yields that there is none."""
    if language == "zh":
        tab.keyboard.insert_text(query)  # as an input method does: without keys
    else:
        tab.keyboard.type(query)
    yield from answer(tab, query)


def answer(tab, query):
    """Waits for the answer to a query; yields that there is none."""
    from playwright.sync_api import TimeoutError

    try:
        tab.wait_for_function(f"query => {HEADER}.includes(query)", arg=query)
    except TimeoutError:
        yield f"{query}: no answer"


def arrive(tab, query, wanted, marked):
    """Goes to the page that is wanted; yields what is wrong."""
    first = tab.evaluate(LISTED)[:3]
    pages = [urllib.parse.urlsplit(one).path.rpartition("/")[2] for one in first]
    if wanted not in pages:
        yield f"{query}: {wanted} is not among the first, {', '.join(pages) or 'which are none'}"
        return
    place = pages.index(wanted)
    if not tab.locator("#mdbook-searchresults .teaser em").count():
        yield f"{query}: nothing is marked in the list"
    with tab.expect_navigation():
        tab.locator("#mdbook-searchresults a").nth(place).click()
    if tab.url.partition("?")[0].rpartition("/")[2] != wanted:
        yield f"{query}: leads to {tab.url}"
    marks = tab.locator("main mark").all_inner_texts()
    if marked not in marks:
        yield f"{query}: {wanted} has marked {sorted(set(marks))}"


def opened(tab, address, slow=False, script=""):
    """A Chinese page opened at a search, in one kind of browser; yields what is wrong."""
    query, wanted, marked = PARTS
    if slow:
        tab.route("**/theme/search-*.js", late)
    tab.add_init_script(script)
    tab.goto(f"{address}/zh/introduction.html?search={urllib.parse.quote(query)}")
    yield from answer(tab, query)
    yield from arrive(tab, query, wanted, marked)


def late(route):
    time.sleep(1)
    route.continue_()
