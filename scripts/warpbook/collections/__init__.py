"""Speed of the simulator with kernels of public collections: see scripts/collections."""

import pathlib
import sys

from .. import flags as shared, records, tables
from . import measure, pages


def main(doc):
    flags = parse(doc)
    lines = records.read(flags.source) if flags.source else measure.measure(flags)
    records.save(flags.save, lines)
    parts = {"collections": pages.part(lines)}
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "the table of the records")
    else:
        tables.show(parts)


def parse(doc):
    parser = shared.parser(doc, "--save", "--from", "--into", "--check")
    parser.add_argument("collections", nargs="*", type=clone, metavar="NAME=FOLDER")
    parser.add_argument("--only", metavar="NAME", default="")
    parser.add_argument("--repeat", metavar="TIMES", type=int, default=3)
    flags = shared.parse(parser)
    if flags.source and (flags.collections or flags.save or flags.only):
        parser.error("--from prints recorded results and measures nothing: it allows only --into")
    if not flags.source and not flags.collections:
        parser.error("name a collection as NAME=FOLDER, or read records with --from FILE")
    if flags.into and flags.only:
        parser.error("--into needs all measurements, because the table has one date: leave out --only")
    if flags.repeat < 1:
        parser.error("--repeat must be at least 1")
    flags.collections = dict(flags.collections)
    return flags


def clone(text):
    """Parses a collection's name and folder."""
    name, equals, folder = text.partition("=")
    if not equals or not pathlib.Path(folder).is_dir():
        sys.exit(f"error: expected NAME=FOLDER with an existing folder, got {text}")
    return name, pathlib.Path(folder).resolve()
