"""The tables of docs/results/clients.md."""

import re

from .. import tables


def parts(records):
    """Returns the parts of the page from the records of all runs."""
    return {"clients": summary(records), "failures": failures(records), "left out": left_out(records)}


def summary(found):
    header = ["client", "version", "tests", "passed", "failed", "also fails on its CPU back end", "skipped"]
    header += ["seconds", "command"]
    rows = []
    for record in found:
        on_cpu = sum(test.get("on CPU", False) for test in record["failed"])
        row = [record["client"], record["version"], record["suite"], record["passed"], len(record["failed"]) or "", on_cpu or ""]
        rows.append([*row, record["skipped"] or "", record["seconds"], f"`{record['command']}`"])
    return tables.table(header, rows)


def failures(found):
    rows = [
        [record["client"], f"`{test['test']}`", cause(test), escaped(test["why"])]
        for record in found
        for test in record["failed"]
    ]
    return tables.table(["client", "test", "reason", "message"], rows)


def cause(test):
    if test.get("on CPU"):
        return "also fails on the client's own CPU back end"
    return test["known"] or "not yet known"


def left_out(found):
    rows = [[record["client"], f"`{test}`", why] for record in found for test, why in record["left out"].items()]
    return tables.table(["client", "test", "reason"], rows)


def escaped(text):
    return "`" + re.sub(r"[`|]", "'", text) + "`" if text else ""
