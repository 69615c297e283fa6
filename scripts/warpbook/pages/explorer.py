"""Tests of the interactive page in Chromium: its results must equal the simulator's.

The page runs the simulator as WebAssembly, from files, without a server. Its results are compared with those of
the same simulator as a native program (`patterns ask --json`). The tests use the page as a reader does: with its
form and the keyboard, in both languages, on a phone and on a desktop.
"""

import json
import subprocess

from .browser import SIZES, drain, layout_problems, listen

LANGUAGES = ["en", "zh"]

# The fields to set, one step after the other, with their new values.
STEPS = [
    {"stride": "2"},
    {"stride": "32"},
    {"stride": "1", "offset": "1"},
    {"offset": "0", "element": "16"},
    {"element": "4", "x": "16", "y": "4", "pitch": "1040", "warp": "1"},
    {"space": "shared", "order": "columns", "x": "32", "y": "1", "pitch": "128", "warp": "0"},
    {"pitch": "132"},
    {"space": "constant", "order": "rows"},
    {"order": "one"},
    # An invalid input shows a message, and the next valid input shows results again.
    {"space": "global", "order": "columns", "pitch": "130"},
    {"x": "0"},
    {"x": "32", "pitch": "512", "order": "random"},
]
SHOWN = """() => {
    const root = document.getElementById('patterns');
    const cell = (row, place) => row.cells[place].textContent;
    return {
        query: root.dataset.query,
        sums: root.dataset.sums,
        said: root.querySelector('.result').textContent,
        drawn: root.querySelectorAll('svg').length,
        counters: [...root.querySelectorAll('tbody tr')].map(row =>
            [row.querySelector('code').textContent, Number(cell(row, 1))]),
        wide: document.documentElement.scrollWidth > innerWidth,
    };
}"""


def check(chromium, book, program):
    """Returns a sentence per problem with the page, and the number of compared results."""
    from playwright.sync_api import sync_playwright

    wrong, answers = [], 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        for language in LANGUAGES:
            for width, height in SIZES:
                tab = browser.new_page(viewport={"width": width, "height": height})
                problems = listen(tab)
                tab.goto((book / language / "patterns.html").resolve().as_uri())
                errors = [*explore(tab, language, program), *drain(problems)]
                answers += len(STEPS) + 1
                wrong += [f"patterns, {language}, {width} px: {problem}" for problem in errors]
                tab.close()
        browser.close()
    return wrong, answers


def explore(tab, language, program):
    """Performs the steps and yields the problems."""
    tab.wait_for_function("document.getElementById('patterns').dataset.query", timeout=60_000)
    yield from compare(tab, language, program)
    for step in STEPS:
        for name, value in step.items():
            field = tab.locator(f"#pattern-{name}")
            if name in ("space", "order", "element"):
                field.select_option(value)
            else:
                # Type with the keyboard over the previous value.
                field.focus()
                tab.keyboard.press("Control+A")
                tab.keyboard.type(value)
        yield from compare(tab, language, program)
        yield from layout_problems(tab)
    if tab.evaluate("document.querySelectorAll('#patterns :is(input, select):not([id])').length"):
        yield "a field has no label"
    # Selecting an example sets all fields.
    tab.locator("#pattern-example").select_option("stride=2")
    yield from compare(tab, language, program)


def compare(tab, language, program):
    """Compares the page's results with the program's, and yields the differences."""
    query = tab.evaluate(
        "() => { const f = document.querySelector('#patterns form').elements; "
        "return ['space', 'order', 'element', 'pitch', 'stride', 'offset', 'warp']"
        ".map(n => `${n}=${f[n].value}`).join('&') + `&block=${f.x.value}x${f.y.value}`; }"
    )
    is_current = "query => document.getElementById('patterns').dataset.query === query"
    tab.wait_for_function(is_current, arg=query, timeout=60_000)
    shown = tab.evaluate(SHOWN)
    command = [program, "ask", "--json", f"lang={language}", *query.split("&")]
    native = json.loads(subprocess.run(command, check=True, text=True, capture_output=True).stdout)
    if shown["wide"]:
        yield f"{query}: wider than the window"
    if "problem" in native:
        if shown["said"] != native["problem"] or shown["drawn"]:
            yield f"{query}: shows {shown['said']!r}, expected {native['problem']!r}"
        return
    if json.loads(shown["sums"] or "{}") != native["sums"]:
        yield f"{query}: {shown['sums']}, expected {native['sums']}"
    if shown["counters"] != [[counter["name"], counter["value"]] for counter in native["counters"]]:
        yield f"{query}: counters {shown['counters']}, expected {native['counters']}"
    if native["result"] not in shown["said"] or shown["drawn"] != 1:
        yield f"{query}: shows {shown['said']!r}, with {shown['drawn']} drawings"
