"""The tables of docs/results/programs.md."""

import collections
import re

from .. import tables
from . import runs, verdict

FAILED = ("says that it is wrong", "ends with an error", runs.TOO_LONG, verdict.UNCOMPILED)
NOT_ASKED = ("left out", "not run")


def parts(found):
    """Of the records of all runs, wherever they were, the parts of the page."""
    on_gpu = [one for one in found if one.get("on") == "GPU"]
    found = [one for one in found if one.get("on") != "GPU"]
    return {
        "GPU": beside_nvcc(on_gpu),
        "GPU alone": failures([one for one in failing(on_gpu) if not also_by_nvcc(one)]),
        "GPU too": failures([one for one in failing(on_gpu) if also_by_nvcc(one)]),
        "collections": summary([sampled(one) for one in found]),
        "failures": failures(found, dated=True),
        "silent": silent(found),
        "left out": left_out(found),
    }


def sampled(record):
    """A record as the sample has it: what somebody chose to run is none of it."""
    return record | {"result": "not run"} if record.get("chosen") else record


def summary(found):
    """A row a collection."""
    rows = []
    for name in dict.fromkeys(one["collection"] for one in found):
        own = [one for one in found if one["collection"] == name]
        counts = collections.Counter(one["result"] for one in own)
        asked = len(own) - sum(counts[kind] for kind in NOT_ASKED)
        right = [one for one in own if one["result"] in verdict.GOOD]
        at_own = sum(one["size"] == "own" for one in right)
        speak = asked - counts[verdict.SILENT]
        row = [name, len(own), *(counts[kind] or "" for kind in NOT_ASKED), asked]
        row += [at_own or "", len(right) - at_own or "", *(counts[kind] or "" for kind in FAILED)]
        rows.append([*row, counts[verdict.SILENT] or "", share(len(right), speak), share(len(right), asked)])
    header = ["collection", "programs", *NOT_ASKED, "run", "right, own size", "right, smaller", *FAILED]
    header += ["say nothing", "right of those that do not keep silent", "right of all run"]
    return tables.table(header, rows)


def beside_nvcc(found):
    """A row a collection: what cuda-run's programs do on a GPU, and how far nvcc's do the same."""
    rows = []
    for name in dict.fromkeys(one["collection"] for one in found):
        own = [one for one in found if one["collection"] == name]
        counts = collections.Counter(one["result"] for one in own)
        ended = [one for one in own if one["result"] not in (*NOT_ASKED, runs.TOO_LONG)]
        right = sum(one["result"] in verdict.GOOD for one in own)
        failed = failing(own)
        too = sum(also_by_nvcc(one) for one in failed)
        row = [name, len(own), *(counts[kind] or "" for kind in (*NOT_ASKED, runs.TOO_LONG)), len(ended)]
        row += [share(len(ended) - counts[verdict.UNCOMPILED], len(ended)), right]
        row += [len(failed) - too or "", too or "", counts[verdict.SILENT] or ""]
        rows.append([*row, share(right, right + len(failed)), share(right, right + len(failed) - too)])
    header = ["collection", "programs", *NOT_ASKED, runs.TOO_LONG, "ended", "of these compile", "right"]
    header += ["fail with cuda-run alone", "fail with nvcc, too", "say nothing", "right of those that speak"]
    header += ["of those that do not fail with nvcc"]
    return tables.table(header, rows)


def failing(found):
    """Those that came to an end, and not a good one."""
    return [one for one in found if one["result"] in FAILED and one["result"] != runs.TOO_LONG]


def also_by_nvcc(record):
    """Whether the program fails as nvcc compiles it, too."""
    return record.get("nvcc") in FAILED


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else ""


def failures(found, dated=False):
    """A row a program; `dated` says of each when it was run."""
    rows = []
    for one in found:
        if one["result"] in FAILED:
            row = [one["collection"], f"`{one['program']}`", one["result"]]
            row += [escaped(one.get("with", "")), escaped(one.get("why", ""))]
            rows.append(row + [one["date"]] if dated else row)
    header = ["collection", "program", "", "with", "what it says"]
    return tables.table(header + ["run on"] if dated else header, rows)


def silent(found):
    """Names, a line a collection."""
    rows = []
    for name in dict.fromkeys(one["collection"] for one in found):
        names = [f"`{one['program']}`" for one in found if (one["collection"], one["result"]) == (name, verdict.SILENT)]
        rows.append([name, ", ".join(names)])
    return tables.table(["collection", "programs"], rows)


def left_out(found):
    """How many need what."""
    missing = [one for one in found if one["result"] == "left out"]
    counts = collections.Counter((one["collection"], need(one)) for one in missing)
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], -item[1], item[0]))
    rows = [[name, why, count] for (name, why), count in ordered]
    return tables.table(["collection", "needs", "programs"], rows)


def need(record):
    return "data that is not in the collection" if record["why"].startswith("data:") else record["why"]


def escaped(text):
    return "`" + re.sub(r"[`|]", "'", text) + "`" if text else ""
