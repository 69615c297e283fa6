"""Randomly drawn launches, counted on the simulator and on a GPU: see scripts/held-out."""

import json
import pathlib
import sys
import tempfile

from .. import flags as shared, records, tables
from . import kernels, measure
from .compare import unexplained
from .pages import sections

# The launches in docs/results.
SEED, COUNT = 2, 100


def main(doc):
    flags = parse(doc)
    if flags.write:
        flags.write.mkdir(parents=True, exist_ok=True)
        kernels.write(flags.write, flags.clang, flags.seed, flags.count)
        return
    with tempfile.TemporaryDirectory() as folder:
        folder = flags.written or pathlib.Path(folder)
        machine, gpu = None, None
        if flags.source:
            machine, *gpu = records.read(flags.source)
            flags.seed, flags.count = machine["seed"], machine["count"]
        if not flags.written:
            kernels.write(folder, flags.clang, flags.seed, flags.count)
        plan = folder / "plan.json"
        if gpu is None:
            machine = {**measure.this_machine(), "seed": flags.seed, "count": flags.count}
            gpu = measure.on_gpu(flags, plan)
            records.save(flags.save, [machine, *gpu])
        launches = measure.paired(json.loads(plan.read_text()), measure.simulated(flags, plan), gpu)
        parts = sections(machine, launches, folder)
        wrong = list(unexplained(launches, folder))
    if not flags.into:
        tables.show(parts)
    if wrong:
        sys.exit("\n".join(["error: the simulator and the GPU count differently:", *wrong]))
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "the tables of the launches")


def parse(doc):
    parser = shared.parser(doc, "--programs", "--save", "--from", "--into", "--check")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--clang", default="clang-14")
    parser.add_argument("--write", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--written", type=pathlib.Path, metavar="FOLDER")
    return shared.parse(parser)
