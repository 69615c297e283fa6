"""Runs the chapters, on the GPU and on the simulator."""

import json
import shutil
import sys
import tempfile

from .. import ROOT, machine, programs, records
from ..chapters import CHAPTERS, runs


def measure(flags):
    """The machine, and a record for each run, with its modelled twin."""
    lines = [this_machine()]
    for chapter, arguments in wanted(flags):
        if flags.only not in (None, chapter):
            continue
        line = {"arguments": arguments, "measured": run(flags, chapter, arguments, "gpu")}
        kernels = CHAPTERS[chapter].nvcc.get(arguments)
        if flags.nvcc and kernels:
            line["nvcc"] = by_nvcc(*kernels.split())
        lines.append(line)
        records.save(flags.save, lines)  # the rest may take minutes, and fail
    if not flags.no_model:
        model(flags, lines)
    return lines


def wanted(flags):
    """Each run: a chapter and its flags."""
    if not flags.ladder:
        return runs("results")
    return [(chapter, f"--variant ladder {more}".strip()) for chapter, more in runs("ladder")]


def quick(flags):
    """What takes the simulator seconds: each chapter's first run, and that without flags."""
    found = wanted(flags)
    first = dict(reversed(found))
    plain = "--variant ladder" if flags.ladder else ""
    return [(chapter, run) for chapter, run in found if run in (first[chapter], plain)]


def model(flags, lines):
    """Adds its modelled twin to each record that has none."""
    for record in lines[1:]:
        chapter, arguments = record["measured"]["chapter"], record["arguments"]
        lacks = flags.only in (None, chapter) and "modelled" not in record
        if lacks and (flags.model != "quick" or (chapter, arguments) in quick(flags)):
            record["modelled"] = run(flags, chapter, arguments, "sim")
            records.save(flags.save, lines)


def run(flags, chapter, arguments, backend):
    """One record of a chapter's program."""
    return programs.record(flags.programs, chapter, arguments, backend, CUDA_BACKEND=backend)


def by_nvcc(kernels, *sizes):
    """What the same kernels take when nvcc has compiled them."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/kernels"
        source = ["-I", ROOT / "kernels", f"-D{kernels}", ROOT / "scripts/nvcc.cu"]
        programs.output(["nvcc", "-O3", "-std=c++17", "-arch=native", *source, "-o", program])
        told = programs.output([program, *sizes])
    return [json.loads(line) for line in told.splitlines()]


def this_machine():
    """The driver's version and the GPU's highest clock, where nvidia-smi tells."""
    told = {"date": machine.today()}
    if shutil.which("nvidia-smi"):
        told["driver"], told["clock"] = machine.gpu("driver_version", "clocks.max.sm")
    else:
        print("there is no nvidia-smi: the driver's version is left out", file=sys.stderr)
    return told
