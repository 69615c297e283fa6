"""The tables of the launches for docs/results/held-out-h200.md."""

import collections

from ..counters.compare import number, size
from ..tables import table
from .compare import WORDS, pairs, reason


def sections(machine, launches, folder):
    compared = [(launch, [*pairs(launch)]) for launch in launches]
    return {
        "machine": describe(machine, compared, folder),
        "figures": figures(compared, folder),
        "differ": differing(compared, folder),
        "reasons": reasons(compared, folder),
        "launches": listed(compared),
    }


def unequal(compared, folder):
    """Yields each value that differs, with the reason."""
    for launch, figures in compared:
        for figure, name, ours, theirs in figures:
            if ours != theirs:
                yield launch, figure, ours, theirs, reason(launch, name, ours, theirs, folder)


def describe(machine, compared, folder):
    every = sum(len(figures) for _, figures in compared)
    differ = len([*unequal(compared, folder)])
    return (
        f"{machine['gpu']}, driver {machine['driver']}, Nsight Compute {machine['ncu']}, "
        f"{machine['date']}: {number(len(compared))} launches, drawn by seed {machine['seed']}. Of the "
        f"{number(every)} values that are not zero on both sides, {number(every - differ)} are equal and "
        f"{number(differ)} differ for a known reason."
    )


def figures(compared, folder):
    """Returns a table of each counter's number of launches that have it, and of those in which it is equal."""
    launches, equal = collections.Counter(), collections.Counter()
    for _, figures in compared:
        for figure, _, ours, theirs in figures:
            launches[figure] += 1
            equal[figure] += ours == theirs
    rows = [[figure, number(launches[figure]), number(equal[figure])] for figure in launches]
    return table(["counter", "launches with it", "equal"], rows)


def differing(compared, folder):
    rows, last = [], None
    for launch, figure, ours, theirs, why in unequal(compared, folder):
        label = "" if launch is last else launch["label"]
        rows.append([label, figure, number(ours), number(theirs), WORDS.get(why, "**none**")])
        last = launch
    return table(["launch", "counter", "simulator", "GPU", "reason"], rows)


def reasons(compared, folder):
    counts = collections.Counter(why for *_, why in unequal(compared, folder))
    rows = [[WORDS[why], why, number(counts[why])] for why in WORDS if counts[why]]
    return table(["reason", "explanation", "values"], rows)


def listed(compared):
    rows = [
        [launch["label"].replace("|", r"\|"), size(launch), sum(values[2] == values[3] for values in figures),
         len(figures)]
        for launch, figures in compared
    ]  # fmt: skip
    return table(["launch", "blocks × threads", "values equal", "of"], rows)
