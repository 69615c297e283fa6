"""Compares the simulator's checks with compute-sanitizer, for docs/results: see scripts/checks."""

import collections
import concurrent.futures
import json
import os
import pathlib
import sys

from .. import flags as shared, programs, records, tables
from .pages import sections
from .run import program
from .sanitizer import gpu_side
from .simulator import simulate
from .verdicts import missed


def main(doc):
    flags = parse(doc)
    cases = json.loads(programs.output([program(flags), "--list"]))
    names = [case["name"] for case in cases]
    for name in flags.only:
        if name not in names:
            sys.exit(f"error: unknown case {name}; planted-bugs --list prints all cases")
    machine, results = gpu_side(flags, cases)
    records.save(flags.save, [machine, *results])
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        runs = [(case, twin) for case in cases for twin in (False, True)]
        results += pool.map(lambda run: simulate(flags, *run), runs)
    reports = collections.defaultdict(list)
    for record in results:
        reports[record["case"], record["twin"]].append(record)
    parts = sections(machine, cases, reports)
    if not flags.into:
        tables.show(parts)
    wrong = list(missed(cases, reports))
    if wrong:
        sys.exit("\n".join(["error: the simulator's checks missed a bug or reported a correct twin:", *wrong]))
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "the tables of the checks")


def parse(doc):
    parser = shared.parser(doc, "--programs", "--save", "--from", "--into", "--check")
    logs = {"type": pathlib.Path, "metavar": "FOLDER", "help": "save the output of each run here"}
    parser.add_argument("--logs", **logs)
    parser.add_argument("--only", metavar="CASE,…")
    parser.add_argument("--jobs", type=int, metavar="N", default=os.cpu_count())
    flags = shared.parse(parser)
    flags.only = flags.only.split(",") if flags.only else []
    if flags.only and not flags.source:
        parser.error("--only needs --from FILE, for the other cases")
    return flags
