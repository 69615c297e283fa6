"""Public collections of CUDA programs, run as they stand: see scripts/public-programs."""

import argparse
import concurrent.futures
import json
import pathlib

from .. import tables
from . import collection, pages, runs


def main(doc):
    flags = parse(doc)
    beside = {(one["collection"], one["program"]): one for one in read(flags.beside)}
    if flags.source:
        found = list(read(flags.source))
    else:
        found = list(run(flags, beside))
    if flags.save:
        flags.save.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found))
    parts = pages.parts(found)
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "those of the runs")
    else:
        tables.show(parts)


def parse(doc):
    summary, _, rest = doc.partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collections", nargs="*", metavar="NAME=FOLDER")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--beside", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--into", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", metavar="NAME", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--program", metavar="CUDA-RUN", help="a cuda-run that was built elsewhere")
    parser.add_argument("--nvcc", action="store_true")
    flags = parser.parse_args()
    if not flags.collections and not flags.source:
        parser.error("a collection is wanted: NAME=FOLDER")
    return flags


def read(path):
    if path:
        for line in path.read_text().splitlines():
            yield json.loads(line)


def run(flags, beside):
    """Each program's result, as it comes; in the order of their names in the end."""
    how = runs.Nvcc(flags.seconds) if flags.nvcc else runs.CudaRun(flags.seconds, flags.program)
    programs = [
        program
        for words in flags.collections
        for program in collection.programs(*words.split("=", 1))
        if flags.only in program.name
    ]
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        for one in pool.map(lambda program: runs.result(how, program, beside), programs):
            print(f"{one['collection']} {one['program']}: {one['result']} {one.get('why', '')}", flush=True)
            yield one
