"""Adds to a chapter's plot what its program does not know: the times and the bandwidth measured on a GPU, from
docs/results.
"""

import json
import math
import re

from .. import ROOT

RESULTS = ROOT / "docs" / "results"
BANDWIDTH = "read, 1024 MB over again"
# The columns that identify a result.
COLUMNS = ["variant", "pattern", "sums", "block", "symbol", "bytes", "offset"]
LEFT, RIGHT = 10, 396
BAR = re.compile(r'<rect x="10" y="(\d+)" width="\d+" height="9" opacity="1"[^>]*/>\n')
TICK = re.compile(r'points="(\d+),\d+ \1,\d+ "/>\n<text [^>]*>\n([\d.]+)\n')
# The x coordinates of bars, hatching, ticks and their labels.
ACROSS = re.compile(
    r'(?P<width>(?<= width=")\d+(?=" height="9"))|(?P<label>(?<=<text x=")\d+(?=" [^>]*"middle"))'
    r'|(?<=[" ])\d+(?=,)'
)
LEGEND = re.compile(r'(<text x="46" y=")44("[^>]*>\n)[^<]*</text>\n')
ROOF = re.compile(r'stroke-width="2" points="(\d+),(\d+) (\d+),(\d+) ')
MEMORY = re.compile(r'(<text x=")(\d+)(" y=")(\d+)("[^>]*>\n)device memory, [\d.]+ TB/s\n</text>\n')


def with_measured_times(svg, record):
    """Returns a plot with a mark on the bar of each time that was also measured on this GPU."""
    first, *lines = (RESULTS / "h200.jsonl").read_text(encoding="utf-8").splitlines()
    runs = [json.loads(line)["measured"] for line in lines if line]
    runs = [run for run in runs if comparable(run, record)]
    known = {key(result): result["median_ms"] for run in runs for result in run["results"]}
    times = [known.get(key(result)) for result in record["results"]]
    if not any(times):
        return svg
    start, end = svg.index("Time by variant"), svg.index("ms per launch or copy")
    chart = marked(svg[start:end], times, "log scale" in svg[end : svg.index("\n", end)])
    legend, source = LEGEND.search(svg), json.loads(first)
    text = f"measured: {record['gpu']['name']}, {source['date']}"
    text = f"{mark(24, 55)}{legend[1]}63{legend[2]}{text}\n</text>\n"
    return svg[: legend.end()] + text + svg[legend.end() : start] + chart + svg[end:]


def comparable(run, record):
    """Returns true if two runs share their inputs, except those that are lists: the values of a column."""
    inputs = run["inputs"].keys() & record["inputs"].keys()
    pairs = [(run["inputs"][name], record["inputs"][name]) for name in inputs]
    same = all(one == other or isinstance(one, list) for one, other in pairs)
    return same and run["chapter"] == record["chapter"] and run["gpu"]["name"] == record["gpu"]["name"]


def key(result):
    return tuple(result.get(column) for column in COLUMNS)


def marked(chart, times, logarithmic):
    """Returns the chart of times with marks, and narrower if a mark would be right of it."""
    scale = math.log if logarithmic else float
    ticks = [(int(x), scale(float(label))) for x, label in TICK.findall(chart)]
    (first, low), (last, high) = ticks[0], ticks[-1]
    across = [time and first + (last - first) * (scale(time) - low) / (high - low) for time in times]
    factor = min(1, (RIGHT - LEFT) / (max(filter(None, across)) - LEFT))

    def narrower(match):
        origin = 0 if match["width"] else LEFT
        return str(round(origin + (int(match[0]) - origin) * factor))

    axis = re.search(r'<polyline [^>]*points="10,(\d+) 398,\1 "/>\n', chart)
    chart = ACROSS.sub(narrower, chart[: axis.start()]) + axis[0] + ACROSS.sub(narrower, chart[axis.end() :])
    remaining = iter(across)

    def with_mark(bar):
        x = next(remaining)
        return bar[0] + (mark(round(LEFT + (x - LEFT) * factor), int(bar[1]) - 3) if x else "")

    chart = BAR.sub(with_mark, chart)
    if next(remaining, None) is not None:
        raise ValueError("the plot has fewer bars than the record has results")
    return chart


def mark(x, y):
    return f'<rect x="{x - 1}" y="{y}" width="3" height="15" opacity="1" fill="#D55E00" stroke="none"/>\n'


def with_measured_bandwidth(svg):
    """Returns a plot whose roof also names the measured bandwidth, next to the theoretical one."""
    rates = (RESULTS / "rates-h200.txt").read_text(encoding="utf-8")
    measured = float(re.search(rf"{BANDWIDTH} +([\d.]+)", rates)[1])
    memory, roof = MEMORY.search(svg), ROOF.search(svg)
    if not memory:
        return svg
    left, low, right, high = map(int, roof.groups())
    lines = []
    for number, text in enumerate(["theoretical;", f"measured: {measured:.1f} TB/s"], 1):
        # Left of the slope, as the line above.
        x, y = int(memory[2]) - round(16 * number * (right - left) / (low - high)), int(memory[4]) + 16 * number
        lines.append(f"{memory[1]}{x}{memory[3]}{y}{memory[5]}{text}\n</text>\n")
    return svg[: memory.end()] + "".join(lines) + svg[memory.end() :]
