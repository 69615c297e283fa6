"""Speed of the simulator, for docs/results: see scripts/speed."""

from .. import flags as shared, records, tables
from . import measure
from .pages import CHECK_TABLES, TABLES


def main(doc):
    flags = parse(doc)
    if flags.source:
        lines = records.read(flags.source)
    else:
        lines = measure.measure_checks(flags) if flags.checks else measure.measure(flags)
    records.save(flags.save, lines)
    selected = CHECK_TABLES if flags.checks else TABLES
    parts = {name: make(lines) for name, make in selected.items()}
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "the tables of the records")
    else:
        print("\n\n".join(filter(None, parts.values())))


def parse(doc):
    parser = shared.parser(doc, "--save", "--from", "--into", "--check")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--only", metavar="NAME", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeat", metavar="TIMES", type=int, default=7)
    flags = shared.parse(parser)
    if flags.source and (flags.save or flags.only or flags.quick):
        parser.error("--from prints recorded results and measures nothing: it allows only --into and --checks")
    if flags.into and (flags.only or flags.quick):
        parser.error("--into needs all measurements, because the page has one date: leave out --only and --quick")
    if flags.repeat < 1:
        parser.error("--repeat must be at least 1")
    if flags.quick:
        flags.repeat = 1
    return flags
