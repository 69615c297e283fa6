"""The tables of docs/results/clients.md."""

import re

from .. import tables


def parts(found):
    """Of the records of all runs, the parts of the page."""
    return {"clients": summary(found), "failures": failures(found), "left out": left_out(found)}


def summary(found):
    header = ["client", "version", "tests", "passed", "failed", "of these on its CPU back end too", "skipped by itself"]
    header += ["seconds", "command"]
    rows = []
    for one in found:
        too = sum(test.get("on CPU", False) for test in one["failed"])
        row = [one["client"], one["version"], one["suite"], one["passed"], len(one["failed"]) or "", too or ""]
        rows.append([*row, one["skipped"] or "", one["seconds"], f"`{one['command']}`"])
    return tables.table(header, rows)


def failures(found):
    rows = [
        [one["client"], f"`{test['test']}`", cause(test), escaped(test["why"])]
        for one in found
        for test in one["failed"]
    ]
    return tables.table(["client", "test", "why", "what it says"], rows)


def cause(test):
    if test.get("on CPU"):
        return "fails on the client's own CPU back end too"
    return test["known"] or "not known yet"


def left_out(found):
    rows = [[one["client"], f"`{test}`", why] for one in found for test, why in one["left out"].items()]
    return tables.table(["client", "test", "why"], rows)


def escaped(text):
    return "`" + re.sub(r"[`|]", "'", text) + "`" if text else ""
