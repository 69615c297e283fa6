"""Public collections of CUDA programs, run unchanged: see scripts/public-programs."""

import argparse
import concurrent.futures
import hashlib
import pathlib

from .. import records, tables
from . import collection, pages, runs


def main(doc):
    flags = parse(doc)
    if flags.source:
        programs = [record for path in flags.source for record in records.read(path)]
    else:
        programs = run(flags)
    if flags.nvcc:
        return
    parts = pages.parts(sorted(programs, key=identity))
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "the tables of the runs")
    else:
        tables.show(parts)


def identity(record):
    return record["collection"], record["program"]


def parse(doc):
    summary, _, rest = doc.partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", nargs="?", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("collections", nargs="*", metavar="NAME")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FILE", action="append")
    parser.add_argument("--beside", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--into", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", metavar="NAME", default="")
    parser.add_argument("--seconds", type=float, default=60, help="limit of processor time per program")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--program", metavar="CUDA-RUN", help="prebuilt cuda-run to use")
    backend = parser.add_mutually_exclusive_group()
    backend.add_argument("--nvcc", action="store_true")
    backend.add_argument("--gpu", action="store_true")
    flags = parser.parse_args()
    if not flags.clones and not flags.source:
        parser.error("name the FOLDER of the clones, or read records with --from FILE")
    listed = collection.listed().values()
    unknown = {*flags.collections} - {name for one in listed for name in (one.name, one.programs)}
    if unknown:
        parser.error(f"no such collection: {', '.join(unknown)}; {collection.LIST.name} lists them")
    return flags


def run(flags):
    """Returns the records of all programs. Programs with a recorded result are not run again."""
    toolchain = compiler(flags)
    listed = collection.listed().values()
    chosen = [one for one in listed if not flags.collections or {one.name, one.programs} & {*flags.collections}]
    programs = [program for one in chosen for program in one.find(flags.clones) if flags.only in program.name]
    # Programs that cannot run come first, since they take no time. The others are ordered by a hash, so that the
    # recorded ones are a random sample of the collection at any time.
    programs.sort(key=lambda program: (not program.needs(), hashlib.sha256(program.name.encode()).digest()))
    beside = records.read(flags.beside) if flags.beside else []
    reference = {identity(record): record for record in beside}
    results = {identity(record): record for record in records.read_if_any(flags.save)}
    for program in programs:
        results.setdefault(program.key, program.record("not run", on=toolchain.on))
    seconds = toolchain.seconds
    pending = [program for program in programs if flags.only or must_run(results[program.key], program, seconds)]
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        for record in pool.map(lambda program: runs.result(toolchain, program, reference), pending):
            outcome = f"{record['result']} {record.get('why', '')}"
            print(f"{record['collection']} {record['program']}: {outcome}", flush=True)
            # A program selected with --only does not belong to the random sample.
            key = identity(record)
            chosen = {"chosen": True} if flags.only and results[key]["result"] == "not run" else {}
            results[key] = record | {"on": toolchain.on} | chosen
            saved = [results[key] for key in sorted(results)]
            records.save(flags.save, saved, ensure_ascii=False)
    return list(results.values())


def compiler(flags):
    if flags.nvcc:
        return runs.Nvcc(flags.seconds)
    if flags.gpu:
        return runs.CudaRunOnGpu(flags.seconds, flags.program)
    return runs.CudaRun(flags.seconds, flags.program)


def must_run(record, program, seconds):
    """Returns true if a program has no result yet, none for the sample, or exceeded a lower time limit."""
    if record["result"] == "not run" or record.get("chosen"):
        return True
    if record["result"] == "left out":
        return not program.needs()
    return record["result"] == runs.TOO_LONG and record["seconds"] < seconds
