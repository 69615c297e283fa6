"""Figures published in the notes compared with modelled ones, for docs/results: see scripts/notes."""

import sys

from . import ROOT, flags as shared, programs, records, tables

PUBLISHED = ROOT / "docs/results/notes.jsonl"

# A modelled figure that is off by a larger factor counts as wrong.
FACTOR = 2


def main(doc):
    published = records.read(PUBLISHED)
    flags = parse(doc, unique(published, "gpu"))
    figures = [figure for figure in published if flags.only in (None, figure["gpu"])]
    runs = {}
    for figure in figures:
        figure["ran"] = arguments(flags, figure)
        key = (figure["gpu"], figure["chapter"], figure["ran"])
        if key not in runs:
            runs[key] = run(flags, *key)
        compare(figure, runs[key])
    sections = {gpu: section(gpu, figures) for gpu in unique(figures, "gpu")}
    sections["summary"] = summary(figures)
    if flags.into:
        tables.insert({flags.into: sections}, flags.check, "the model's current figures")
    else:
        tables.show(sections)


def parse(doc, gpus):
    parser = shared.parser(doc, "--programs", "--into", "--check")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", metavar="GPU", choices=gpus)
    flags = shared.parse(parser)
    if flags.only and flags.into:
        parser.error("--into needs all GPUs, because the summary covers all of them: leave out --only")
    return flags


def arguments(flags, figure):
    """Returns the note's own inputs, or smaller ones if those take minutes."""
    return figure["arguments"] if flags.full else figure.get("smaller", figure["arguments"])


def run(flags, gpu, chapter, words):
    """Returns the record of a chapter's program on the simulator, modelling `gpu`."""
    settings = {"CUDA_BACKEND": "sim", "CUDA_SIM_DEVICE": gpu}
    return programs.record(flags.programs, chapter, words, gpu, **settings)


def compare(figure, record):
    """Adds the modelled value to a published figure."""
    figure["name"] = record["gpu"]["name"]
    milliseconds = time(figure, record, figure["variant"])
    if "published_ms" in figure:
        figure["published"], figure["modelled"] = figure["published_ms"], milliseconds
    else:
        against = time(figure, record, figure["against"])
        figure["published"], figure["modelled"] = figure["published_speed"], against / milliseconds


def time(figure, record, variant):
    """Returns a variant's time in milliseconds. Exits with an error unless one verified result matches."""
    selection = {"variant": variant, **figure.get("select", {})}
    matches = [
        result
        for result in record["results"]
        if all(result.get(key) == value for key, value in selection.items())
    ]
    if len(matches) != 1 or not matches[0]["verified"]:
        sys.exit(f"error: {figure['chapter']}: {len(matches)} results match {selection}; expected one correct result")
    return matches[0]["median_ms"]


def section(gpu, figures):
    """Returns a GPU's figures: the commands, then their table."""
    figures = [figure for figure in figures if figure["gpu"] == gpu]
    parts = [f"{figures[0]['name']}; {figures[0]['note']}."]
    for words in unique(figures, "ran"):
        chapter = figures[0]["chapter"]
        parts.append(f"`CUDA_BACKEND=sim CUDA_SIM_DEVICE={gpu} cargo run -p {chapter} -- {words}`")
    if "against" in figures[0]:
        unit = f"speed, {figures[0]['against']} = 1"
    else:
        unit = "ms"
    header = ["", "variant", f"published: {unit}", f"modelled: {unit}"]
    header += ["modelled ÷ published", "order"]
    rows = []
    for figure in figures:
        order = "as published" if agrees(figure, figures) else f"**{disorder(figure, figures)}**"
        values = [number(figure["published"]), number(figure["modelled"])]
        deviation = f"{ratio(figure):.2f}" if close(figure) else f"**{ratio(figure):.2f}**"
        rows.append([figure["comparison"], figure["variant"], *values, deviation, order])
    parts.append(tables.table(header, rows))
    if any(figure["ran"] != figure["arguments"] for figure in figures):
        note = figures[0]["arguments"]
        parts.append(f"The note's size is `{note}`; `scripts/notes --full` runs that.")
    return "\n\n".join(parts)


def agrees(figure, figures):
    """Returns true if the model ranks the variants of a comparison in the published order."""
    if "against" in figure:
        return (figure["modelled"] > 1) == (figure["published"] > 1)
    fastest_first = sorted(compared(figure, figures), key=lambda other: other["published"])
    modelled = [other["modelled"] for other in fastest_first]
    return all(faster < slower for faster, slower in zip(modelled, modelled[1:]))


def disorder(figure, figures):
    """Describes how the modelled order differs."""
    shown = {number(other["modelled"]) for other in compared(figure, figures)}
    return "no difference" if len(shown) == 1 and "against" not in figure else "not as published"


def compared(figure, figures):
    return [other for other in figures if other["comparison"] == figure["comparison"]]


def ratio(figure):
    return figure["modelled"] / figure["published"]


def close(figure):
    return 1 / FACTOR <= ratio(figure) <= FACTOR


def summary(figures):
    near = sum(close(figure) for figure in figures)
    orders = {(figure["gpu"], figure["comparison"]): agrees(figure, figures) for figure in figures}
    lines = [
        f"{near} of {len(figures)} figures are modelled within a factor of {FACTOR}.",
        f"{sum(orders.values())} of {len(orders)} comparisons have the published order.",
    ]
    return "\n".join(lines)


def unique(figures, key):
    return list(dict.fromkeys(figure[key] for figure in figures))


def number(value):
    """Formats a number with four significant digits for a table."""
    return format(value, "#.4g")
