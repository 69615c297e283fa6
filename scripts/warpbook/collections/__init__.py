"""How fast the simulator is with kernels of public collections: see scripts/collections."""

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
        tables.insert({flags.into: parts}, flags.check, "that of the records")
    else:
        tables.show(parts)


def parse(doc):
    parser = shared.parser(doc, "--save", "--from", "--into", "--check")
    parser.add_argument("collections", nargs="*", type=clone, metavar="NAME=FOLDER")
    parser.add_argument("--only", metavar="NAME", default="")
    parser.add_argument("--repeat", metavar="TIMES", type=int, default=3)
    flags = shared.parse(parser)
    if flags.source and (flags.collections or flags.save or flags.only):
        parser.error("--from prints kept records: it measures nothing, and takes --into alone")
    if not flags.source and not flags.collections:
        parser.error("a collection is wanted: NAME=FOLDER")
    if flags.into and flags.only:
        parser.error("--into wants everything: the table's date is one")
    if flags.repeat < 1:
        parser.error("--repeat wants to be at least 1")
    flags.collections = dict(flags.collections)
    return flags


def clone(text):
    """A collection's name and its folder."""
    name, equals, folder = text.partition("=")
    if not equals or not pathlib.Path(folder).is_dir():
        sys.exit(f"error: {text} is no NAME=FOLDER")
    return name, pathlib.Path(folder).resolve()
