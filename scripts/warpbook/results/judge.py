"""Checks that the model is still accurate and still estimates the recorded times."""

import sys

from . import verdict
from .measure import quick, run
from .pages import disagreement, number

# The largest relative difference between a recorded and a repeated modelled time.
TOLERANCE = 0.001


def judge(records):
    """Exits with an error if the model deviates from the measurements by more than the limits of `verdict`."""
    if not all(map(verdict.is_modelled, records)):
        sys.exit(
            "error: --judge needs records with modelled times, measured on a GPU that the simulator models: "
            "measure again without --no-model"
        )
    wrong = [
        f"{verdict.command(pair)}: {pair}: modelled / measured is {pair.ratio:.2f}"
        for pair in verdict.outliers(records)
    ]
    rankings = verdict.rankings(records)
    for ranking in rankings:
        if not ranking.is_correct and ranking.is_clear:
            where, first, second, measured, modelled = disagreement(ranking)
            wrong.append(f"{where}: {first}, {second}: measured {measured}, modelled {modelled} ms")
    if wrong:
        sys.exit("\n  ".join(["error: the model deviates too far from the measurements:", *wrong]))
    correct = sum(ranking.is_correct for ranking in rankings)
    print(f"The model is within 25 % at every large size and correct in {correct} of {len(rankings)} rankings.")


def remodel(flags, records):
    """Exits with an error if the simulator's modelled times differ from the recorded ones."""
    wrong = []
    for chapter, arguments in quick(flags):
        recorded = [
            record["modelled"]["results"]
            for record in records
            if (record["measured"]["chapter"], record["arguments"]) == (chapter, arguments)
            and "modelled" in record
        ]
        if not recorded:
            sys.exit(f"error: {flags.source} has no modelled times of {chapter} {arguments}: add them with --model")
        current = run(flags, chapter, arguments, "sim")["results"]
        if [result["variant"] for result in current] != [result["variant"] for result in recorded[0]]:
            sys.exit(f"error: {chapter} {arguments} has other variants than {flags.source}: measure again with --save")
        for new, old in zip(current, recorded[0]):
            if abs(new["median_ms"] - old["median_ms"]) > TOLERANCE * old["median_ms"]:
                times = f"{number(new['median_ms'])} ms, recorded {number(old['median_ms'])}"
                wrong.append(f"{chapter} {arguments}: {new['variant']}: {times}")
    if wrong:
        head = f"error: {flags.source} is out of date, measure again with --save; modelled times now:"
        sys.exit("\n  ".join([head, *wrong]))
    print(f"The simulator's modelled times agree with {flags.source}.")
