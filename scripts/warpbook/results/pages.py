"""The tables of times for the pages in docs/results and the chapters' READMEs."""

import itertools
import re
import sys

from ..tables import table
from . import verdict

# Values that only the simulator counts; on a GPU they need a profiler.
COUNTED = {"accesses_counted"}

# Fields of every result (docs/records/record.schema.json); other fields are specific to a chapter.
COMMON = {
    "variant", "median_ms", "min_ms", "max_ms", "samples", "launches_per_sample",
    "speedup", "limit", "verified", "differing", "launch", "counters", "model",
}  # fmt: skip

# Fields besides the name that distinguish a ladder's rungs. A column is shown if its values differ.
DISTINGUISHING = ["sums", "pattern", "block"]


def chapters(records):
    return list(dict.fromkeys(record["measured"]["chapter"] for record in records))


def page(machine, records):
    """Returns the page's generated parts by the names of their markers."""
    parts = {chapter: section(chapter, records) for chapter in chapters(records)}
    parts["machine"] = " ".join([describe(machine), *remeasured(records)])
    if is_judged(records):
        parts["model"] = accuracy(records)
    return parts


def describe(machine):
    parts = [f"driver {machine['driver']}", f"maximum clock {machine['clock']}"]
    details = ", ".join(parts) if "driver" in machine else "driver unknown"
    return f"Measured {machine['date']}, {details}."


def remeasured(records):
    """Returns a sentence per later date for chapters that were measured again: their records have their own date."""
    days = {}
    for record in records:
        if "date" in record:
            days.setdefault(record["date"], {})[f"`{record['measured']['chapter']}`"] = None
    return [f"Measured again {date}: {', '.join(names)}." for date, names in days.items()]


def section(chapter, records, anchored=True):
    """Returns a chapter's runs, each as its command and table. With `anchored`, the book's pages can include each."""
    parts = []
    for record in records:
        if record["measured"]["chapter"] != chapter:
            continue
        arguments = f" -- {record['arguments']}" if record["arguments"] else ""
        is_ladder = "limits" in record["measured"]
        run = [f"`cargo run -p {chapter}{arguments}`", ladder(record) if is_ladder else results(record)]
        if anchored:
            name = f"{chapter}-{re.sub('[ -]+', '-', record['arguments'].strip(' -')) or 'default'}"
            run = [f"<!-- ANCHOR: {name} -->", *run, f"<!-- ANCHOR_END: {name} -->"]
        parts += run if is_ladder else [*run, *tables(record["measured"])]
    return "\n\n".join(parts)


def excerpt(chapter, machine, records):
    """Returns the ladder tables for a chapter's README."""
    gpu = records[0]["measured"]["gpu"]["name"]
    first = next(record for record in records if record["measured"]["chapter"] == chapter)
    machine = machine | {"date": first.get("date", machine["date"])}
    page = f"[all ladders](../../docs/results/ladder-h200.md#{chapter})"
    return f"{gpu}. {describe(machine)} Explanation of the columns: {page}.\n\n{section(chapter, records, anchored=False)}"


def results(record):
    measured = record["measured"]
    modelled = record.get("modelled", {"results": [None] * len(measured["results"])})
    extra = [key for key in measured["results"][0] if key not in COMMON]
    counted = [key for key in extra if key in COUNTED and modelled["results"][0] is not None]
    speed = f"speed, {measured['baseline']} = 1"
    header = ["variant", *map(words, extra), "measured, ms", "fastest–slowest", speed]
    header += ["modelled, ms"] * ("modelled" in record)
    header += ["modelled / measured", "bound by"] * verdict.is_modelled(record)
    header += ["by nvcc, ms"] * ("nvcc" in record)
    rows = []
    for result, twin in zip(measured["results"], modelled["results"]):
        require_verified(measured, result)
        spread = f"{number(result['min_ms'])}–{number(result['max_ms'])}"
        times = [number(result["median_ms"]), spread, number(result["speedup"], ".2f")]
        extra_cells = [number((twin if key in counted else result)[key]) for key in extra]
        row = [result["variant"], *extra_cells, *times]
        if "modelled" in record:
            row.append(number(twin["median_ms"]))
        if verdict.is_modelled(record):
            ratio = twin["median_ms"] / result["median_ms"]
            row += [number(ratio, ".2f"), number(verdict.bound_by(twin))]
        if "nvcc" in record:
            row.append(number(nvcc_time(record["nvcc"], result)))
        rows.append(row)
    return table(header, rows)


def ladder(record):
    """Returns a table of the rungs, with each limit above the rungs to which it applies."""
    measured, has_model = record["measured"], verdict.is_modelled(record)
    twins = dict(limits_and_rungs(record["modelled"])) if has_model else {}
    distinguishing = [key for key in DISTINGUISHING if len({result.get(key) for result in measured["results"]}) > 1]
    has_variants = any("variant" in limit for limit in measured["limits"])
    header = ["rung", *distinguishing, "measured, ms", "share of limit"]
    header += ["limit measured with"] * has_variants + ["modelled / measured"] * has_model
    rows = []
    for key, result in limits_and_rungs(measured):
        share = result["limit"]["share"] if "limit" in result else None
        percent = "*limit*" if "results_before" in result else number(share, ".0%").replace("%", " %")
        is_unknown = "median_ms" not in result
        time = "unknown" if is_unknown else number(result["median_ms"])
        row = [key[0], *(number(result.get(field)) for field in distinguishing), time, percent]
        if has_variants:
            row.append(number(result.get("variant") if "results_before" in result else None))
        if has_model:
            ratio = None if is_unknown or key not in twins else twins[key]["median_ms"] / result["median_ms"]
            row.append(number(ratio, ".2f"))
        rows.append(row)
    return table(header, rows)


def limits_and_rungs(record):
    """Yields the limits and rungs in table order, each with a key that identifies it."""
    for before, result in enumerate(record["results"]):
        for limit in record["limits"]:
            if limit["results_before"] == before:
                yield (f"*{limit['name']}*", before), limit
        require_verified(record, result)
        yield (result["variant"], before), result


def require_verified(record, result):
    """Exits with an error if a result is wrong, because its time is meaningless."""
    if not result["verified"]:
        sys.exit(f"error: {record['chapter']}: {result['variant']} computes a wrong result")


def is_judged(records):
    """Returns true if the records are for judging the model: the notes' kernels on the GPU that it models."""
    return all(verdict.is_modelled(result) and "limits" not in result["measured"] for result in records)


def accuracy(records):
    """Returns the ratios of modelled to measured times and the rankings that the model gets wrong."""
    runs = list(verdict.ratios(records))
    spans = [[f"`{name}`", *map(span, kinds)] for name, kinds in runs]
    for_all = [itertools.chain(*filter(None, kind)) for kind in zip(*(kinds for _, kinds in runs))]
    spans.append(["all", *(span(verdict.extremes(list(kind))) for kind in for_all)])
    header = ["run", "kernels of 20 µs and more", "shorter kernels", "copies"]
    rankings = verdict.rankings(records)
    wrong = [ranking for ranking in rankings if not ranking.is_correct]
    correct = len(rankings) - len(wrong)
    parts = [
        "Smallest and largest ratio of modelled to measured time:",
        table(header, spans),
        f"Of {len(rankings)} pairs of kernels, the model ranks {correct} by speed as the GPU does"
        f"{', but not these:' if wrong else '.'}",
    ]
    if wrong:
        header = ["run", "first", "second", "measured, ms", "modelled, ms"]
        parts.append(table(header, map(disagreement, wrong)))
    return "\n\n".join(parts)


def span(extremes):
    return "–".join(dict.fromkeys(number(ratio, ".2f") for ratio in extremes or [None]))


def disagreement(ranking):
    """Returns a row: the run, two kernels, and the comparison of their times, measured and modelled."""
    signs = {-1: "<", 0: "≈", 1: ">"}
    first, second = ranking[:2]

    def compare(times, which):
        one, other = (number(getattr(pair, times)["median_ms"]) for pair in (first, second))
        return f"{one} {signs[which]} {other}"

    times = compare("measured", ranking.measured), compare("modelled", ranking.modelled)
    return [verdict.command(first), str(first), str(second), *times]


def nvcc_time(lines, result):
    """Returns the milliseconds of the line whose fields match `result`, or `None` if there is none."""
    for line in lines:
        if all(result.get(key) == value for key, value in line.items() if key != "ms"):
            return line["ms"]
    return None


def tables(record):
    """Yields a title and a table for each further list of objects in a record."""
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
    """Formats a number for a table, with four significant digits by default."""
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if form == "#.4g" and abs(value) >= 1000 else format(value, form)
