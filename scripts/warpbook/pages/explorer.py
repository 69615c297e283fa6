"""The interactive page in Chromium: patterns are chosen, and its answers are the simulator's own.

The page runs the simulator as WebAssembly, from files alone, without a server; what it says is
compared with what the same simulator says as a program (`patterns ask --json`). The page is used
as a reader uses it: by its form, by keyboard, in both languages, on a phone and on a desktop.
"""

import json
import subprocess

from .browser import SIZES, drain, listen, looks

LANGUAGES = ["en", "zh"]

# What to set, one after the other: the fields' names and their new values.
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
    # What is wrong is said, and what is right is shown again afterwards.
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
    """What is wrong with the page, a sentence each, and how many answers were compared."""
    from playwright.sync_api import sync_playwright

    wrong, answers = [], 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        for language in LANGUAGES:
            for width, height in SIZES:
                tab = browser.new_page(viewport={"width": width, "height": height})
                problems = listen(tab)
                tab.goto((book / language / "patterns.html").resolve().as_uri())
                found = [*explore(tab, language, program), *drain(problems)]
                answers += len(STEPS) + 1
                wrong += [f"patterns, {language}, {width} px: {one}" for one in found]
                tab.close()
        browser.close()
    return wrong, answers


def explore(tab, language, program):
    """Goes through the steps; yields what is wrong."""
    tab.wait_for_function("document.getElementById('patterns').dataset.query", timeout=60_000)
    yield from compare(tab, language, program)
    for step in STEPS:
        for name, value in step.items():
            field = tab.locator(f"#pattern-{name}")
            if name in ("space", "order", "element"):
                field.select_option(value)
            else:
                # As by keyboard: over what was there.
                field.focus()
                tab.keyboard.press("Control+A")
                tab.keyboard.type(value)
        yield from compare(tab, language, program)
        yield from looks(tab)
    if tab.evaluate("document.querySelectorAll('#patterns :is(input, select):not([id])').length"):
        yield "a field has no label"
    # An example sets all fields, by keyboard alone.
    tab.locator("#pattern-example").select_option("stride=2")
    yield from compare(tab, language, program)


def compare(tab, language, program):
    """The page's answer beside the program's."""
    wanted = tab.evaluate(
        "() => { const f = document.querySelector('#patterns form').elements; "
        "return ['space', 'order', 'element', 'pitch', 'stride', 'offset', 'warp']"
        ".map(n => `${n}=${f[n].value}`).join('&') + `&block=${f.x.value}x${f.y.value}`; }"
    )
    answered = "wanted => document.getElementById('patterns').dataset.query === wanted"
    tab.wait_for_function(answered, arg=wanted, timeout=60_000)
    shown = tab.evaluate(SHOWN)
    asked = [program, "ask", "--json", f"lang={language}", *wanted.split("&")]
    native = json.loads(subprocess.run(asked, check=True, text=True, capture_output=True).stdout)
    if shown["wide"]:
        yield f"{wanted}: wider than the window"
    if "problem" in native:
        if shown["said"] != native["problem"] or shown["drawn"]:
            yield f"{wanted}: says {shown['said']!r} and not {native['problem']!r}"
        return
    if json.loads(shown["sums"] or "{}") != native["sums"]:
        yield f"{wanted}: {shown['sums']} and not {native['sums']}"
    if shown["counters"] != [[one["name"], one["value"]] for one in native["counters"]]:
        yield f"{wanted}: counters {shown['counters']} and not {native['counters']}"
    if native["result"] not in shown["said"] or shown["drawn"] != 1:
        yield f"{wanted}: says {shown['said']!r}, with {shown['drawn']} drawings"
