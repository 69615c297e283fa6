"""The tables of the launches."""

import collections

from ..counters.compare import number, size
from ..tables import table
from .compare import WORDS, pairs, reason


def sections(machine, launches, folder):
    found = [(launch, [*pairs(launch)]) for launch in launches]
    return {
        "machine": describe(machine, found, folder),
        "figures": figures(found, folder),
        "differ": differing(found, folder),
        "reasons": reasons(found, folder),
        "launches": listed(found),
    }


def unequal(found, folder):
    for launch, figures in found:
        for figure, name, ours, theirs in figures:
            if ours != theirs:
                yield launch, figure, ours, theirs, reason(launch, name, ours, theirs, folder)


def describe(machine, found, folder):
    every = sum(len(figures) for _, figures in found)
    differ = len([*unequal(found, folder)])
    return (
        f"{machine['gpu']}, driver {machine['driver']}, Nsight Compute {machine['ncu']}, "
        f"{machine['date']}: {number(len(found))} launches, drawn by seed {machine['seed']}. Of the "
        f"{number(every)} figures that are not zero on both sides {number(every - differ)} are equal, "
        f"and {number(differ)} differ for a reason."
    )


def figures(found, folder):
    """For each figure in how many launches there is one, and in how many it is equal."""
    there, equal = collections.Counter(), collections.Counter()
    for _, figures in found:
        for figure, _, ours, theirs in figures:
            there[figure] += 1
            equal[figure] += ours == theirs
    rows = [[figure, number(there[figure]), number(equal[figure])] for figure in there]
    return table(["figure", "launches that have it", "equal"], rows)


def differing(found, folder):
    rows, last = [], None
    for launch, figure, ours, theirs, why in unequal(found, folder):
        label = "" if launch is last else launch["label"]
        rows.append([label, figure, number(ours), number(theirs), WORDS.get(why, "**none**")])
        last = launch
    return table(["launch", "figure", "simulator", "GPU", "reason"], rows)


def reasons(found, folder):
    counts = collections.Counter(why for *_, why in unequal(found, folder))
    rows = [[WORDS[why], why, number(counts[why])] for why in WORDS if counts[why]]
    return table(["reason", "what it is", "figures"], rows)


def listed(found):
    rows = [
        [launch["label"].replace("|", r"\|"), size(launch), sum(one[2] == one[3] for one in figures),
         len(figures)]
        for launch, figures in found
    ]  # fmt: skip
    return table(["launch", "blocks × threads", "figures equal", "of"], rows)
