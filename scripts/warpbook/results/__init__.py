"""Measured and modelled times of every chapter, for docs/results: see scripts/results."""

from .. import ROOT, flags as shared, records, tables
from ..chapters import CHAPTERS
from . import judge, measure, pages


def main(doc):
    flags = parse(doc)
    lines = records.read(flags.source) if flags.source else measure.measure(flags)
    if flags.model:
        measure.model(flags, lines)
    records.save(flags.save, lines)
    machine, runs = lines[0], lines[1:]
    if flags.judge:
        judge.judge(runs)
    if flags.remodel:
        judge.remodel(flags, runs)
    if flags.judge or flags.remodel:
        return
    if flags.into:
        files = {flags.into: pages.page(machine, runs)}
        for chapter in pages.chapters(runs) if flags.readmes else []:
            part = pages.excerpt(chapter, machine, runs)
            files[ROOT / "crates" / chapter / "README.md"] = {"ladder": part}
        tables.insert(files, flags.check, "those of the records")
    else:
        print(pages.describe(machine))
        for chapter in pages.chapters(runs):
            print(f"\n## `{chapter}`\n\n{pages.section(chapter, runs)}")
        if pages.judged(runs):
            print(f"\n## How good the model is\n\n{pages.goodness(runs)}")


def parse(doc):
    parser = shared.parser(doc, "--programs", "--save", "--from", "--into", "--check")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--remodel", action="store_true")
    parser.add_argument("--no-model", action="store_true")
    parser.add_argument("--model", choices=["quick", "all"])
    parser.add_argument("--nvcc", action="store_true")
    parser.add_argument("--ladder", action="store_true")
    parser.add_argument("--readmes", action="store_true")
    parser.add_argument("--only", metavar="CHAPTER", choices=sorted(CHAPTERS))
    flags = shared.parse(parser)
    judging = flags.judge or flags.remodel
    running = flags.only or flags.save or flags.programs
    if judging and (flags.into or not flags.source):
        parser.error("--judge and --remodel need --from FILE, and print no tables")
    if flags.source and (flags.no_model or flags.nvcc):
        parser.error("--from prints kept records: it measures nothing")
    if flags.source and running and not (flags.model or flags.remodel):
        parser.error("--from prints kept records: without --model or --remodel it runs nothing")
    if flags.model and not flags.source:
        parser.error("--model needs --from FILE, to whose records it adds")
    if flags.ladder and (flags.nvcc or flags.judge):
        parser.error("--ladder goes without --nvcc and --judge, which are about the notes' kernels")
    if flags.ladder and flags.only and not CHAPTERS[flags.only].ladder:
        parser.error(f"{flags.only} has no ladder")
    if flags.readmes and not (flags.ladder and flags.into):
        parser.error("--readmes needs --ladder and --into FILE")
    if flags.only and flags.into:
        parser.error("--into wants all chapters: their date is one")
    return flags
