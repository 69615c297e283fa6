"""The tables of times, and the pages that they stand in."""

import itertools
import re
import sys

from ..tables import table
from . import verdict

# What only the simulator counts; a GPU takes a profiler.
COUNTED = {"accesses_counted"}

# What every result has (docs/records/record.schema.json); the rest is a chapter's own.
COMMON = {
    "variant", "median_ms", "min_ms", "max_ms", "samples", "launches_per_sample",
    "speedup", "limit", "verified", "differing", "launch", "counters", "model",
}  # fmt: skip

# What tells a ladder's rungs apart beside their names, where it differs.
APART = ["sums", "pattern", "block"]


def chapters(records):
    return list(dict.fromkeys(record["measured"]["chapter"] for record in records))


def page(machine, records):
    """What stands between which markers."""
    parts = {chapter: section(chapter, records) for chapter in chapters(records)}
    parts["machine"] = " ".join([describe(machine), *later(records)])
    if judged(records):
        parts["model"] = goodness(records)
    return parts


def describe(machine):
    parts = [f"driver {machine['driver']}", f"at most {machine['clock']}"]
    known = ", ".join(parts) if "driver" in machine else "driver unknown"
    return f"Measured {machine['date']}, {known}."


def later(records):
    """Which chapters were measured again, on what day: their records have a date of their own."""
    days = {}
    for record in records:
        if "date" in record:
            days.setdefault(record["date"], {})[f"`{record['measured']['chapter']}`"] = None
    return [f"{date}: {' and '.join(names)}." for date, names in days.items()]


def section(chapter, records, anchored=True):
    """A chapter's runs: the command, then its table; anchored, the book's pages may include one."""
    parts = []
    for record in records:
        if record["measured"]["chapter"] != chapter:
            continue
        arguments = f" -- {record['arguments']}" if record["arguments"] else ""
        climbs = "limits" in record["measured"]
        run = [f"`cargo run -p {chapter}{arguments}`", ladder(record) if climbs else results(record)]
        if anchored:
            name = f"{chapter}-{re.sub('[ -]+', '-', record['arguments'].strip(' -')) or 'default'}"
            run = [f"<!-- ANCHOR: {name} -->", *run, f"<!-- ANCHOR_END: {name} -->"]
        parts += run if climbs else [*run, *tables(record["measured"])]
    return "\n\n".join(parts)


def excerpt(chapter, machine, records):
    """What a chapter's README has of its ladder."""
    gpu = records[0]["measured"]["gpu"]["name"]
    own = next(record for record in records if record["measured"]["chapter"] == chapter)
    machine = machine | {"date": own.get("date", machine["date"])}
    page = f"[all ladders](../../docs/results/ladder-h200.md#{chapter})"
    return f"{gpu}. {describe(machine)} What the columns say: {page}.\n\n{section(chapter, records, anchored=False)}"


def results(record):
    measured = record["measured"]
    modelled = record.get("modelled", {"results": [None] * len(measured["results"])})
    own = [key for key in measured["results"][0] if key not in COMMON]
    counted = [key for key in own if key in COUNTED and modelled["results"][0] is not None]
    speed = f"speed, {measured['baseline']} = 1"
    header = ["variant", *map(words, own), "measured, ms", "fastest–slowest", speed]
    header += ["modelled, ms"] * ("modelled" in record)
    header += ["modelled / measured", "bound by"] * verdict.twinned(record)
    header += ["by nvcc, ms"] * ("nvcc" in record)
    rows = []
    for one, twin in zip(measured["results"], modelled["results"]):
        right(measured, one)
        spread = f"{number(one['min_ms'])}–{number(one['max_ms'])}"
        times = [number(one["median_ms"]), spread, number(one["speedup"], ".2f")]
        own_cells = [number((twin if key in counted else one)[key]) for key in own]
        row = [one["variant"], *own_cells, *times]
        if "modelled" in record:
            row.append(number(twin["median_ms"]))
        if verdict.twinned(record):
            ratio = twin["median_ms"] / one["median_ms"]
            row += [number(ratio, ".2f"), number(verdict.bound_by(twin))]
        if "nvcc" in record:
            row.append(number(same_kernel(record["nvcc"], one)))
        rows.append(row)
    return table(header, rows)


def ladder(record):
    """A table of the rungs, and of each limit above those that it is the limit of."""
    measured, twinned = record["measured"], verdict.twinned(record)
    twins = dict(limits_and_rungs(record["modelled"])) if twinned else {}
    apart = [key for key in APART if len({one.get(key) for one in measured["results"]}) > 1]
    header = ["rung", *apart, "measured, ms", "of the limit"] + ["modelled / measured"] * twinned
    rows = []
    for key, one in limits_and_rungs(measured):
        share = one["limit"]["share"] if "limit" in one else None
        percent = "*limit*" if "results_before" in one else number(share, ".0%").replace("%", " %")
        row = [key[0], *(number(one.get(way)) for way in apart), number(one["median_ms"]), percent]
        if twinned:
            ratio = twins[key]["median_ms"] / one["median_ms"] if key in twins else None
            row.append(number(ratio, ".2f"))
        rows.append(row)
    return table(header, rows)


def limits_and_rungs(record):
    """In their order, each with what it is known by."""
    for before, one in enumerate(record["results"]):
        for limit in record["limits"]:
            if limit["results_before"] == before:
                yield (f"*{limit['name']}*", before), limit
        right(record, one)
        yield (one["variant"], before), one


def right(record, result):
    """Ends with an error where a result is wrong: it has no place in a table."""
    if not result["verified"]:
        sys.exit(f"error: {record['chapter']}: {result['variant']} is wrong")


def judged(records):
    """Whether the model is judged by these: by the notes' kernels, on the GPU that it models."""
    return all(verdict.twinned(one) and "limits" not in one["measured"] for one in records)


def goodness(records):
    """The ratios of modelled to measured times, and where a ranking is wrong."""
    runs = list(verdict.ratios(records))
    spans = [[f"`{name}`", *map(span, kinds)] for name, kinds in runs]
    for_all = [itertools.chain(*filter(None, kind)) for kind in zip(*(kinds for _, kinds in runs))]
    spans.append(["all", *(span(verdict.extremes(list(kind))) for kind in for_all)])
    header = ["run", "kernels of 20 µs and more", "shorter kernels", "copies"]
    rankings = verdict.rankings(records)
    wrong = [ranking for ranking in rankings if not ranking.is_right]
    right = len(rankings) - len(wrong)
    parts = [
        "The smallest and the largest of modelled / measured:",
        table(header, spans),
        f"Of {len(rankings)} questions which of two kernels is faster, the model answers {right} "
        f"as the GPU does{', but not these:' if wrong else '.'}",
    ]
    if wrong:
        header = ["run", "one", "other", "measured, ms", "modelled, ms"]
        parts.append(table(header, map(disagreement, wrong)))
    return "\n\n".join(parts)


def span(extremes):
    return "–".join(dict.fromkeys(number(ratio, ".2f") for ratio in extremes or [None]))


def disagreement(ranking):
    """A row: the run, two kernels, and how their times compare, measured and modelled."""
    signs = {-1: "<", 0: "≈", 1: ">"}
    first, second = ranking[:2]

    def compare(times, which):
        one, other = (number(getattr(pair, times)["median_ms"]) for pair in (first, second))
        return f"{one} {signs[which]} {other}"

    times = compare("measured", ranking.measured), compare("modelled", ranking.modelled)
    return [verdict.command(first), str(first), str(second), *times]


def same_kernel(lines, result):
    """The milliseconds of the line that names what `result` names; None where there is none."""
    for line in lines:
        if all(result.get(key) == value for key, value in line.items() if key != "ms"):
            return line["ms"]
    return None


def tables(record):
    """What else a record has: lists of objects."""
    for key, value in record.items():
        if key != "results" and isinstance(value, list) and value:
            yield f"{words(key).capitalize()}:"
            header = [words(name) for name in value[0]]
            yield table(header, [[number(cell) for cell in row.values()] for row in value])


def words(key):
    if key in COUNTED:
        key += " on the simulator"
    return key.replace("_per_s", "/s").replace("gb/", "GB/").replace("gflop", "GFLOP").replace("_", " ")


def number(value, form="#.4g"):
    """Four digits, as a table shows them."""
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if form == "#.4g" and abs(value) >= 1000 else format(value, form)
