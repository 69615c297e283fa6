"""The tables of docs/results/programs.md."""

import collections
import re

from .. import tables
from . import collection, runs, verdict

FAILED = (verdict.REPORTED_WRONG, verdict.ENDED_WITH_ERROR, runs.TOO_LONG, verdict.UNCOMPILED)
NOT_RUN = ("left out", "not run")


def parts(records):
    """Returns the parts of the page from the records of all runs."""
    on_gpu = [record for record in records if record.get("on") == "GPU"]
    simulated = [record for record in records if record.get("on") != "GPU"]
    listed = collection.listed()
    found = [record for record in simulated if listed[record["collection"]].programs == "sources"]
    records = [record for record in simulated if record not in found]
    return {
        "GPU": beside_nvcc(on_gpu),
        "GPU alone": failures([record for record in failing(on_gpu) if not also_by_nvcc(record)]),
        "GPU too": failures([record for record in failing(on_gpu) if also_by_nvcc(record)]),
        "collections": summary([sampled(record) for record in records]),
        "failures": failures(records, dated=True),
        "silent": silent(records),
        "left out": left_out(records),
        "source collections": by_group(found, "collection"),
        "source libraries": by_group([record for record in found if record.get("uses")], "uses"),
        "source failures": explained(found, listed),
        "source requirements": left_out(found),
    }


def by_group(records, key):
    """Returns a table with a row per value of `key` and a last row for all."""
    run = [record for record in records if record["result"] not in NOT_RUN]
    listed = collection.listed()
    rows = []
    groups = sorted(grouped(run, key), key=lambda group: group[0].lower())
    if key == "collection":
        groups.append(("all without a library", [record for record in run if not record.get("uses")]))
    for name, own in [*groups, ("all", run)]:
        failed = [record for record in own if record["result"] in FAILED]
        mistaken = [record for record in failed if mistake(record, listed)]
        excluded = [record for record in failed if record not in mistaken and also_by_nvcc(record)]
        counted = [record for record in failed if record not in mistaken and record not in excluded]
        good = [record for record in own if record not in failed]
        kinds = collections.Counter(record["result"] for record in [*good, *counted])
        smaller = sum(record["size"] != "own" for record in good)
        row = [name, len(own), *(kinds[kind] or "" for kind in (*verdict.GOOD, verdict.SILENT)), smaller or ""]
        row += [*(kinds[kind] or "" for kind in FAILED), len(mistaken) or "", len(excluded) or ""]
        rows.append([*row, share(len(good), len(good) + len(counted))])
    header = ["collection" if key == "collection" else "library", "run", *verdict.GOOD, verdict.SILENT]
    header += ["of these, with smaller sizes", *FAILED, "own bug", "fails with nvcc as well", "correct or no verdict"]
    return tables.table(header, rows)


def mistake(record, listed):
    return collection.about(listed[record["collection"]].mistakes, record["program"])


def explained(records, listed):
    """Returns a table of the failures with their reasons, without those that occur with nvcc as well."""
    rows = []
    for record in records:
        own = mistake(record, listed)
        if record["result"] not in FAILED or (not own and also_by_nvcc(record)):
            continue
        reason = collection.about(listed[record["collection"]].reasons, record["program"])
        why = f"its own bug: {own}" if own else reason
        row = [record["collection"], f"`{record['program']}`", record["result"], escaped(record.get("why", ""))]
        rows.append([*row, why])
    return tables.table(["collection", "program", "result", "message", "reason"], rows)


def grouped(records, key="collection"):
    """Returns the values of `key` with their records."""
    groups = {}
    for record in records:
        groups.setdefault(record[key], []).append(record)
    return list(groups.items())


def sampled(record):
    """Returns a record as it counts for the sample, which excludes programs that were selected by hand."""
    return record | {"result": "not run"} if record.get("chosen") else record


def summary(records):
    """Returns a table with a row per collection."""
    rows = []
    for name, own in grouped(records):
        counts = collections.Counter(record["result"] for record in own)
        run = len(own) - sum(counts[kind] for kind in NOT_RUN)
        correct = [record for record in own if record["result"] in verdict.GOOD]
        own_size = sum(record["size"] == "own" for record in correct)
        conclusive = run - counts[verdict.SILENT]
        row = [name, len(own), *(counts[kind] or "" for kind in NOT_RUN), run]
        row += [own_size or "", len(correct) - own_size or "", *(counts[kind] or "" for kind in FAILED)]
        shares = share(len(correct), conclusive), share(len(correct), run)
        rows.append([*row, counts[verdict.SILENT] or "", *shares])
    header = ["collection", "programs", *NOT_RUN, "run", "correct, own size", "correct, smaller"]
    header += [*FAILED, "no verdict", "correct of those with a verdict", "correct of all run"]
    return tables.table(header, rows)


def beside_nvcc(records):
    """Returns a row per collection: results of cuda-run's programs on a GPU, and how many fail with nvcc as well."""
    rows = []
    for name, own in grouped(records):
        counts = collections.Counter(record["result"] for record in own)
        ended = [record for record in own if record["result"] not in (*NOT_RUN, runs.TOO_LONG)]
        correct = sum(record["result"] in verdict.GOOD for record in own)
        failed = failing(own)
        also = sum(also_by_nvcc(record) for record in failed)
        row = [name, len(own), *(counts[kind] or "" for kind in (*NOT_RUN, runs.TOO_LONG)), len(ended)]
        row += [share(len(ended) - counts[verdict.UNCOMPILED], len(ended)), correct]
        row += [len(failed) - also or "", also or "", counts[verdict.SILENT] or ""]
        rows.append([*row, share(correct, correct + len(failed)), share(correct, correct + len(failed) - also)])
    header = ["collection", "programs", *NOT_RUN, runs.TOO_LONG, "ended", "of these compile", "correct"]
    header += ["fail with cuda-run only", "fail with nvcc as well", "no verdict", "correct of those with a verdict"]
    header += ["of those that do not fail with nvcc"]
    return tables.table(header, rows)


def failing(records):
    """Returns the records of programs that ended with a failure."""
    return [record for record in records if record["result"] in FAILED and record["result"] != runs.TOO_LONG]


def also_by_nvcc(record):
    """Returns true if the program also fails when nvcc compiles it. That it takes too long there explains only that it
    does here."""
    explained = record["result"] == runs.TOO_LONG or record.get("nvcc") != runs.TOO_LONG
    return record.get("nvcc") in FAILED and explained


def share(part, whole):
    if not whole:
        return ""
    # 99.7 % does not round to 100 %.
    digits = 1 if part < whole and part / whole > 0.995 else 0
    return f"{100 * part / whole:.{digits}f} %"


def failures(records, dated=False):
    """Returns a table with a row per failed program. `dated` adds the date of the run."""
    rows = []
    for record in records:
        if record["result"] in FAILED:
            row = [record["collection"], f"`{record['program']}`", record["result"]]
            row += [escaped(record.get("with", "")), escaped(record.get("why", ""))]
            rows.append(row + [record["date"]] if dated else row)
    header = ["collection", "program", "result", "with", "message"]
    return tables.table(header + ["run on"] if dated else header, rows)


def silent(records):
    """Returns a table of the programs without a verdict, with a row per collection."""
    rows = []
    for name, own in grouped(records):
        names = [f"`{record['program']}`" for record in own if record["result"] == verdict.SILENT]
        rows.append([name, ", ".join(names)])
    return tables.table(["collection", "programs"], rows)


def left_out(records):
    """Returns a table that counts the programs left out by their missing requirement."""
    missing = [record for record in records if record["result"] == "left out"]
    counts = collections.Counter((record["collection"], need(record)) for record in missing)
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0]))
    rows = [[name, why, count] for (name, why), count in ordered]
    return tables.table(["collection", "needs", "programs"], rows)


def need(record):
    return "data that is not in the collection" if record["why"].startswith("data:") else record["why"]


def escaped(text):
    return "`" + re.sub(r"[`|]", "'", text) + "`" if text else ""
