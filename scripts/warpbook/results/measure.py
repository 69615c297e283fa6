"""Runs the chapters, on the GPU and on the simulator."""

import json
import shutil
import sys
import tempfile

from .. import ROOT, machine, programs, records
from ..chapters import CHAPTERS, runs


def measure(flags):
    """Returns the machine and a record per run, with its modelled counterpart."""
    lines = [this_machine()]
    for chapter, arguments in selected_runs(flags):
        if flags.only not in (None, chapter):
            continue
        line = {"arguments": arguments, "measured": run(flags, chapter, arguments, "gpu")}
        kernels = CHAPTERS[chapter].nvcc.get(arguments)
        if flags.nvcc and kernels:
            line["nvcc"] = time_with_nvcc(*kernels.split())
        lines.append(line)
        records.save(flags.save, lines)  # save early: the remaining runs may take minutes, and fail
    if not flags.no_model:
        model(flags, lines)
    return lines


def selected_runs(flags):
    """Returns the runs to measure, each as a chapter and its flags."""
    if not flags.ladder:
        return runs("results")
    return [(chapter, f"--variant ladder {more}".strip()) for chapter, more in runs("ladder")]


def quick(flags):
    """Returns the runs that take the simulator seconds: each chapter's first run and its run without flags."""
    all_runs = selected_runs(flags)
    first = dict(reversed(all_runs))
    plain = "--variant ladder" if flags.ladder else ""
    return [(chapter, run) for chapter, run in all_runs if run in (first[chapter], plain)]


def model(flags, lines):
    """Runs the simulator for each record that has no modelled results, and adds them."""
    for record in lines[1:]:
        chapter, arguments = record["measured"]["chapter"], record["arguments"]
        is_missing = flags.only in (None, chapter) and "modelled" not in record
        if is_missing and (flags.model != "quick" or (chapter, arguments) in quick(flags)):
            record["modelled"] = run(flags, chapter, arguments, "sim")
            records.save(flags.save, lines)


def run(flags, chapter, arguments, backend):
    """Runs a chapter's program once and returns its record."""
    return programs.record(flags.programs, chapter, arguments, backend, CUDA_BACKEND=backend)


def time_with_nvcc(kernels, *sizes):
    """Compiles the same kernels with nvcc and returns their times."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/kernels"
        source = ["-I", ROOT / "kernels", f"-D{kernels}", ROOT / "scripts/nvcc.cu"]
        programs.output(["nvcc", "-O3", "-std=c++17", "-arch=native", *source, "-o", program])
        output = programs.output([program, *sizes])
    return [json.loads(line) for line in output.splitlines()]


def this_machine():
    """Returns the date and, if nvidia-smi is available, the driver's version and the GPU's maximum clock."""
    record = {"date": machine.today()}
    if shutil.which("nvidia-smi"):
        record["driver"], record["clock"] = machine.gpu("driver_version", "clocks.max.sm")
    else:
        print("nvidia-smi not found: the driver's version is left out", file=sys.stderr)
    return record
