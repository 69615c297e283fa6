"""Public collections of CUDA programs, run as they stand: see scripts/public-programs."""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib

from .. import tables
from . import collection, pages, runs


def main(doc):
    flags = parse(doc)
    found = [one for path in flags.source for one in read(path)] if flags.source else run(flags)
    if flags.nvcc:
        return
    parts = pages.parts(sorted(found, key=place))
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "those of the runs")
    else:
        tables.show(parts)


def place(record):
    return record["collection"], record["program"]


def parse(doc):
    summary, _, rest = doc.partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collections", nargs="*", metavar="NAME=FOLDER")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FILE", action="append")
    parser.add_argument("--beside", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--into", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", metavar="NAME", default="")
    parser.add_argument("--seconds", type=float, default=60, help="of the processor's time a program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--program", metavar="CUDA-RUN", help="a cuda-run that was built elsewhere")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--nvcc", action="store_true")
    where.add_argument("--gpu", action="store_true")
    flags = parser.parse_args()
    if not flags.collections and not flags.source:
        parser.error("a collection is wanted: NAME=FOLDER")
    return flags


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path else []


def run(flags):
    """All programs' results; those that are recorded already are not run again."""
    how = compiler(flags)
    programs = [
        program
        for words in flags.collections
        for program in collection.programs(*words.split("=", 1))
        if flags.only in program.name
    ]
    # Those that are not run come first, at once. The others come in no order of the collection's, so that what
    # is recorded is at any time a sample of it.
    programs.sort(key=lambda program: (not program.needs(), hashlib.sha256(program.name.encode()).digest()))
    beside = {place(one): one for one in read(flags.beside)}
    found = {place(one): one for one in read(flags.save if flags.save and flags.save.exists() else None)}
    for program in programs:
        found.setdefault(program.key, program.record("not run", on=how.on))
    waiting = [program for program in programs if flags.only or to_run(found[program.key], how.seconds)]
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        for one in pool.map(lambda program: runs.result(how, program, beside), waiting):
            print(f"{one['collection']} {one['program']}: {one['result']} {one.get('why', '')}", flush=True)
            # What is chosen is no sample.
            chosen = {"chosen": True} if flags.only and found[place(one)]["result"] == "not run" else {}
            found[place(one)] = one | {"on": how.on} | chosen
            if flags.save:
                save(flags.save, found)
    return list(found.values())


def compiler(flags):
    if flags.nvcc:
        return runs.Nvcc(flags.seconds)
    if flags.gpu:
        return runs.CudaRunOnGpu(flags.seconds, flags.program)
    return runs.CudaRun(flags.seconds, flags.program)


def to_run(record, seconds):
    """Whether a program waits to be run: for the first time, for the sample, or with more time than it had."""
    if record["result"] == "not run" or record.get("chosen"):
        return True
    return record["result"] == runs.TOO_LONG and record["seconds"] < seconds


def save(path, found):
    lines = (json.dumps(found[key], ensure_ascii=False) + "\n" for key in sorted(found))
    path.write_text("".join(lines), encoding="utf-8")
