"""Measured and modelled times of all chapters, for docs/results: see scripts/results."""

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
            excerpt = pages.excerpt(chapter, machine, runs)
            files[ROOT / "crates" / chapter / "README.md"] = {"ladder": excerpt}
        tables.insert(files, flags.check, "the tables of the records")
    else:
        print(pages.describe(machine))
        for chapter in pages.chapters(runs):
            print(f"\n## `{chapter}`\n\n{pages.section(chapter, runs)}")
        if pages.is_judged(runs):
            print(f"\n## Accuracy of the model\n\n{pages.accuracy(runs)}")


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
        parser.error("--judge and --remodel need --from FILE and print no tables")
    if flags.source and (flags.no_model or flags.nvcc):
        parser.error("--from prints recorded results and measures nothing: --no-model and --nvcc do not apply")
    if flags.source and running and not (flags.model or flags.remodel):
        parser.error("--from prints recorded results: --only, --save and --programs need --model or --remodel")
    if flags.model and not flags.source:
        parser.error("--model needs --from FILE, whose records it completes")
    if flags.ladder and (flags.nvcc or flags.judge):
        parser.error("--ladder excludes --nvcc and --judge, which concern the notes' kernels")
    if flags.ladder and flags.only and not CHAPTERS[flags.only].ladder:
        parser.error(f"{flags.only} has no ladder")
    if flags.readmes and not (flags.ladder and flags.into):
        parser.error("--readmes needs --ladder and --into FILE")
    if flags.only and flags.into:
        parser.error("--into needs all chapters, because the page has one date: leave out --only")
    return flags
