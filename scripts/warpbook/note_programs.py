"""The notes' programs compiled by cuda-run and by nvcc: see scripts/note-programs."""

import pathlib
import shlex
import shutil
import statistics
import sys
import tempfile

from . import ROOT, flags as shared, machine, programs, records, tables
from .counters import ncu

NOTES = ROOT / "kernels/notes"
METRIC = "gpu__time_duration.sum"
RUNS = 3
# What is timed of each program. At their original size most kernels take less time than a launch varies, so some
# programs get arguments, and in others a size is replaced. ncu takes 0.1 s per launch, so there are fewer.
ARGUMENTS = {"add-constant": ["one_access_per_thread", "1024", "12800000"]}
FEWER = {"add-constant": ("num_repeats = 100, unsigned int num_warmups = 100", "num_repeats = 4, unsigned int num_warmups = 1")}
LARGER = {
    "matmul-pitched": ("M = 480, N = 640, P = 320", "M = 960, N = 1280, P = 640"),
    "matmul-tiled": ("M = 480, N = 640, P = 320", "M = 960, N = 1280, P = 640"),
    "raytrace-const": ("DIM 1024", "DIM 2048"),
    "vector-add": ("N = 1 << 20", "N = 1 << 24"),
}
# Their original sizes are large enough, or fixed.
ORIGINAL = {"device-symbols": "256", "stencil-readonly": "isize = 1 << 24"}
PROGRAMS = sorted([*ARGUMENTS, *LARGER, *ORIGINAL])


def main(doc):
    flags = parse(doc)
    lines = records.read(flags.source) if flags.source else measure(flags.program)
    records.save(flags.save, lines)
    part = {"notes": page(*lines)}
    if flags.into:
        tables.insert({flags.into: part}, flags.check, "the table of the records")
    else:
        tables.show(part)


def parse(doc):
    parser = shared.parser(doc, "--save", "--from", "--into", "--check")
    parser.add_argument("--program", metavar="CUDA-RUN", type=pathlib.Path, action="append")
    return shared.parse(parser)


def measure(others):
    """Returns the machine, then a record per kernel of each program."""
    name, driver = machine.gpu("name", "driver_version")
    about = {"gpu": name, "driver": driver, "date": machine.today(), "nvcc": machine.version("nvcc")}
    return [about, *(record for name in PROGRAMS for record in compared(others, name))]


def compared(others, name):
    """Returns a record per kernel of a program, with its median times in µs."""
    with tempfile.TemporaryDirectory() as folder:
        source = prepared(name, pathlib.Path(folder))
        programs.output(["nvcc", "-O3", "-arch=native", "-std=c++17", source, "-o", source.parent / "nvcc"])
        arguments = ARGUMENTS.get(name, [])
        commands = [[source.parent / "nvcc"], *([*command, source, "--"] for command in cuda_runs(others))]
        commands = [[*command, *arguments] for command in commands]
        times = {}
        for kernel, compiler, time in launches(commands * RUNS):
            times.setdefault(kernel, {}).setdefault(compiler, []).append(time)
    return [
        {"program": name, "size": size(name), "kernel": kernel}
        | {compiler: statistics.median(all) for compiler, all in by.items()}
        for kernel, by in times.items()
    ]


def size(name):
    """Returns the size at which a program is timed, in words."""
    if name in ARGUMENTS:
        return " ".join(ARGUMENTS[name])
    return LARGER[name][1] if name in LARGER else ORIGINAL[name]


def prepared(name, folder):
    """Writes the program at its larger size into a folder, with the files it includes, and returns its path."""
    shutil.copytree(NOTES, folder, dirs_exist_ok=True)
    source = folder / f"{name}.cu"
    for original, replacement in (changes[name] for changes in (LARGER, FEWER) if name in changes):
        text = source.read_text(encoding="utf-8")
        if text.count(original) != 1:
            sys.exit(f"error: {name} does not contain {original}: update LARGER and FEWER")
        source.write_text(text.replace(original, replacement), encoding="utf-8")
    return source


def cuda_runs(others):
    """Returns the commands to use as cuda-run: the given ones, or the one that cargo builds."""
    if others:
        return [[program.resolve()] for program in others]
    return [["cargo", "run", "--quiet", "--locked", "--manifest-path", ROOT / "Cargo.toml", "-p", "cuda-run", "--"]]


def launches(commands):
    """Yields the kernel's name, the program's name and the time in µs of each launch of the commands."""
    options = ["--target-processes", "all", "--metrics", METRIC, "--clock-control", "none"]
    options += ["--csv", "--print-units", "base", "--page", "raw"]
    lines = "; ".join(shlex.join(map(str, command)) for command in commands)
    page = programs.output(["ncu", *options, "sh", "-c", lines], CUDA_BACKEND="gpu")
    for launch in ncu.raw_page(page, [METRIC]):
        yield bare(launch["kernel"]), launch["process"], launch["gpu"][METRIC] / 1000


def bare(kernel):
    """Returns a kernel's name with the template arguments spelled as in the source."""
    return kernel.removeprefix("void ").replace("(bool)1", "true").replace("(bool)0", "false")


def page(about, *kernels):
    """Returns the page: the machine, and a row per kernel with each compiler's time and its ratio to nvcc's."""
    compilers = [key for key in kernels[0] if key not in ("program", "size", "kernel", "nvcc")]
    header = ["program", "size", "kernel", "by nvcc, µs", *(f"by {compiler}, µs" for compiler in compilers), "ratio"]
    rows = [
        [*(f"`{record[key]}`" for key in ("program", "size", "kernel"))]
        + [f"{record[by]:.2f}" for by in ["nvcc", *compilers]]
        + [", ".join(f"{record[by] / record['nvcc']:.3f}" for by in compilers)]
        for record in kernels
    ]
    description = f"{about['gpu']}, driver {about['driver']}, {about['date']}; nvcc {about['nvcc']}."
    return f"{description}\n\n{tables.table(header, rows)}"
