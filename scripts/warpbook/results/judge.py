"""Whether the model is as good as it was, and says what it said."""

import sys

from . import verdict
from .measure import quick, run
from .pages import disagreement, number

# A modelled time that differs by more is another.
SAME = 0.001


def judge(records):
    """Ends with an error where the model is further off than it may be."""
    if not all(map(verdict.twinned, records)):
        sys.exit(
            "error: --judge needs records of a GPU that the simulator models, with what it says: "
            "measure again, without --no-model"
        )
    wrong = [
        f"{verdict.command(pair)}: {pair}: modelled / measured is {pair.ratio:.2f}"
        for pair in verdict.too_far(records)
    ]
    rankings = verdict.rankings(records)
    for ranking in rankings:
        if not ranking.is_right and ranking.is_plain:
            where, first, second, measured, modelled = disagreement(ranking)
            wrong.append(f"{where}: {first}, {second}: measured {measured}, modelled {modelled} ms")
    if wrong:
        sys.exit("\n  ".join(["error: the model is too far from what was measured:", *wrong]))
    right = sum(ranking.is_right for ranking in rankings)
    print(f"The model is within 25 % at every large size, right in {right} of {len(rankings)} rankings.")


def remodel(flags, records):
    """Ends with an error where the simulator says another time than the records."""
    wrong = []
    for chapter, arguments in quick(flags):
        kept = [
            record["modelled"]["results"]
            for record in records
            if (record["measured"]["chapter"], record["arguments"]) == (chapter, arguments)
            and "modelled" in record
        ]
        if not kept:
            sys.exit(f"error: {flags.source} has no modelled times of {chapter} {arguments}")
        now = run(flags, chapter, arguments, "sim")["results"]
        if [one["variant"] for one in now] != [one["variant"] for one in kept[0]]:
            sys.exit(f"error: {chapter} {arguments} has other variants than {flags.source}")
        for one, was in zip(now, kept[0]):
            if abs(one["median_ms"] - was["median_ms"]) > SAME * was["median_ms"]:
                times = f"{number(one['median_ms'])} ms, kept {number(was['median_ms'])}"
                wrong.append(f"{chapter} {arguments}: {one['variant']}: {times}")
    if wrong:
        head = f"error: {flags.source} is out of date: measure again with --save; modelled now"
        sys.exit("\n  ".join([head, *wrong]))
    print(f"The simulator still says what {flags.source} says.")
