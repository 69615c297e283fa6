"""The simulator's counters compared with a GPU's, for docs/results: see scripts/counters."""

import sys

from .. import flags as shared, records, tables
from ..chapters import CHAPTERS
from . import measure
from .compare import differences
from .pages import sections


def main(doc):
    flags = parse(doc)
    if flags.source:
        machine, *runs = records.read(flags.source)
        measure.simulate_again(flags, runs)
    else:
        machine, runs = measure.this_machine(), measure.measure(flags)
    records.save(flags.save, [machine, *runs])
    parts = sections(machine, runs)
    if not flags.into:
        tables.show(parts)
    wrong = [line for record in runs for line in differences(record)]
    if wrong:
        sys.exit("\n".join(["error: the simulator and the GPU count differently:", *wrong]))
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "the tables of the counters")


def parse(doc):
    parser = shared.parser(doc, "--programs", "--save", "--from", "--into", "--check")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", metavar="CHAPTER", choices=sorted(CHAPTERS))
    flags = shared.parse(parser)
    if flags.only and (flags.into or flags.source):
        parser.error("--only needs a GPU and excludes --into, because the page covers all chapters")
    if flags.all and not flags.source:
        parser.error("--all needs --from FILE: without it, all chapters run anyway")
    return flags
