"""Times of memory accesses, measured and modelled: see scripts/curves."""

import json
import pathlib
import statistics
import sys
import tempfile

from . import ROOT, flags as shared, machine, programs, records

SOURCE = ROOT / "scripts/curves.cu"
RUNS = 3


def main(doc):
    parser = shared.parser(doc, "--save", "--from", "--check")
    parser.add_argument("--program", metavar="CUDA-RUN", type=pathlib.Path, help="a cuda-run that is already built")
    flags = shared.parse(parser)
    known = records.read(flags.source) if flags.source else None
    about, measured = (known[0], times(known[1:], "measured")) if known else measure()
    modelled = model(flags.program)
    if modelled.keys() != measured.keys():
        sys.exit(f"error: the points of {SOURCE.name} have changed: measure again")
    lines = [about]
    for curve, x in measured:
        point = (curve, x)
        lines.append({"curve": curve, "x": x, "measured": measured[point], "modelled": modelled[point]})
    if flags.check and lines != known:
        sys.exit(f"error: {flags.source} has other modelled times: run scripts/curves --from FILE --save FILE")
    records.save(flags.save, lines)
    if not (flags.save or flags.check):
        print("".join(f"{json.dumps(line)}\n" for line in lines), end="")


def measure():
    """Returns the machine, and the median time in ms of each point on its GPU."""
    name, driver = machine.gpu("name", "driver_version")
    about = {"gpu": name, "driver": driver, "date": machine.today(), "nvcc": machine.version("nvcc")}
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "curves"
        programs.output(["nvcc", "-O3", "-arch=native", SOURCE, "-o", program])
        runs = [points(programs.output([program])) for _ in range(RUNS)]
    return about, {point: statistics.median(run[point] for run in runs) for point in runs[0]}


def model(program):
    """Returns the modelled time in ms of each point, of one launch."""
    cargo = ["cargo", "run", "--quiet", "--locked", "--manifest-path", ROOT / "Cargo.toml", "-p", "cuda-run", "--"]
    command = [program.resolve()] if program else cargo
    return points(programs.output([*command, "--quiet", SOURCE, "--", "1"], CUDA_BACKEND="sim"))


def points(output):
    """Returns the time of each point that the program printed."""
    return times(map(json.loads, output.splitlines()), "ms")


def times(lines, field):
    return {(line["curve"], line["x"]): line[field] for line in lines}
