"""The tables of docs/results/clients.md."""

import re

from .. import tables


def parts(records):
    """Returns the parts of the page from the records of all runs."""
    return {"clients": summary(records), "failures": failures(records), "left out": left_out(records)}


def summary(found):
    header = ["client", "version", "tests", "passed", "failed", "also on its CPU back end", "skipped by itself"]
    header += ["seconds", "command"]
    rows = []
    for one in found:
        on_cpu = sum(test.get("on CPU", False) for test in one["failed"])
        row = [one["client"], one["version"], one["suite"], one["passed"], len(one["failed"]) or "", on_cpu or ""]
        rows.append([*row, one["skipped"] or "", one["seconds"], f"`{one['command']}`"])
    return tables.table(header, rows)


def failures(found):
    rows = [
        [one["client"], f"`{test['test']}`", cause(test), escaped(test["why"])]
        for one in found
        for test in one["failed"]
    ]
    return tables.table(["client", "test", "reason", "message"], rows)


def cause(test):
    if test.get("on CPU"):
        return "also fails on the client's own CPU back end"
    return test["known"] or "not yet known"


def left_out(found):
    rows = [[one["client"], f"`{test}`", why] for one in found for test, why in one["left out"].items()]
    return tables.table(["client", "test", "reason"], rows)


def escaped(text):
    return "`" + re.sub(r"[`|]", "'", text) + "`" if text else ""
