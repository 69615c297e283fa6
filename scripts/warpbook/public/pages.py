"""The tables of docs/results/programs.md."""

import collections
import re

from .. import tables

RIGHT = ("says that it is right", "prints what the GPU prints")
ORDER = (
    *RIGHT,
    "runs, and says nothing of its results",
    "says that it is wrong",
    "ends with an error",
    "takes too long",
    "does not compile",
)


def parts(found):
    return {"collections": summary(found), "failures": failures(found), "left out": left_out(found)}


def summary(found):
    """A row a collection."""
    rows = []
    for name in dict.fromkeys(one["collection"] for one in found):
        own = [one for one in found if one["collection"] == name]
        asked = [one for one in own if one["result"] != "left out"]
        counts = collections.Counter(one["result"] for one in asked)
        right = sum(counts[kind] for kind in RIGHT)
        share = f"{100 * right / len(asked):.0f} %" if asked else ""
        rows.append([name, len(own), len(asked), *(counts[kind] or "" for kind in ORDER), share])
    header = ["collection", "programs", "without a library or data that is lacking", *ORDER, "right"]
    return tables.table(header, rows)


def failures(found):
    rows = [
        [one["collection"], f"`{one['program']}`", one["result"], escaped(one.get("why") or one.get("with", ""))]
        for one in found
        if one["result"] not in (*RIGHT, "left out")
    ]
    return tables.table(["collection", "program", "", "why"], rows)


def left_out(found):
    """How many need what."""
    counts = collections.Counter(one["why"] for one in found if one["result"] == "left out")
    rows = [[why, count] for why, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return tables.table(["needs", "programs"], rows)


def escaped(text):
    return "`" + re.sub(r"[`|]", "'", text) + "`" if text else ""
