"""Runs the chapters on the simulator, and on the GPU under Nsight Compute."""

import shlex
import sys
import tempfile

from .. import machine, programs
from ..chapters import CHAPTERS, runs
from .compare import command, command_line
from .names import ADDITIONAL
from .ncu import raw_page, source_page


def measure(flags):
    """Returns a record per run with its launches on the simulator and on the GPU."""
    records = []
    for chapter, arguments in runs("counters"):
        if flags.only not in (None, chapter):
            continue
        record = {"chapter": chapter, "arguments": arguments}
        simulated = simulate(flags, chapter, arguments)
        # Names without two underscores exist only in the simulator.
        names = [name for name in simulated[0]["counters"] if "__" in name] + ADDITIONAL
        kernels = {launch["kernel"] for launch in simulated}
        profiled = profile(flags, chapter, arguments, names, kernels)
        record["launches"] = paired(record, simulated, profiled)
        records.append(record)
    return records


def simulate_again(flags, records):
    """Replaces the simulator's counters in `records` by those of the current simulator."""
    for record in records:
        chapter, arguments = record["chapter"], record["arguments"]
        if flags.all or arguments not in CHAPTERS[chapter].slow:
            simulated = simulate(flags, chapter, arguments)
            record["launches"] = paired(record, simulated, record["launches"])
        elif not all("counters" in launch for launch in record["launches"]):
            sys.exit(f"error: {flags.source} lacks the simulator's counters of {command(record)}: use --all")


def paired(record, simulated, profiled):
    """Merges the simulator's and the GPU's data launch by launch. Exits with an error if the launches differ."""
    launched = [
        [(launch["kernel"], launch["grid"], launch["block"]) for launch in side]
        for side in (simulated, profiled)
    ]
    if launched[0] != launched[1]:
        sys.exit(f"error: {command(record)} launches other kernels on the GPU than on the simulator: record it again with --save")
    return [
        {**launch, "gpu": twin["gpu"], "instructions": twin["instructions"]}
        for launch, twin in zip(simulated, profiled)
    ]


def simulate(flags, chapter, arguments):
    """Returns the launches of a chapter on the simulator with their counters."""
    arguments = f"{arguments} --repeat 0".strip()
    settings = {"CUDA_BACKEND": "sim", "CUDA_SIM_DEVICE": None}
    record = programs.record(flags.programs, chapter, arguments, "simulator", **settings)
    return [
        {
            "label": " ".join(filter(None, [result["variant"], result.get("pattern")])),
            **result["launch"],
            "counters": result["counters"],
            "occupancy": result["model"]["occupancy"],
        }
        for result in record["results"]
        if result.get("counters")
    ]


def profile(flags, chapter, arguments, names, kernels):
    """Returns the launches of a chapter's `kernels` on the GPU with Nsight Compute's counters. Library kernels
    and kernels that measure a limit are not profiled."""
    print(f"{command_line(chapter, arguments)} (ncu)", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.ncu-rep"
        metrics = ["--metrics", ",".join(names), "--section", "SourceCounters"]
        options = ["--clock-control", "none", "--target-processes", "all", "--export", report]
        options += ["--kernel-name", f"regex:^({'|'.join(sorted(kernels))})$"]
        words = ["ncu", *metrics, *options, *program(flags, chapter, arguments)]
        programs.output(words, CUDA_BACKEND="gpu")
        page = ["ncu", "--import", report, "--csv", "--print-units", "base", "--page"]
        launches = raw_page(programs.output([*page, "raw"]), names)
        listings = source_page(programs.output([*page, "source", "--print-source", "sass"]))
    kernels = [launch["kernel"] for launch in launches]
    if kernels != [kernel for kernel, _ in listings]:
        sys.exit(f"error: {command_line(chapter, arguments)}: ncu lists other kernels than it profiled")
    for launch, (_, instructions) in zip(launches, listings):
        launch["instructions"] = instructions
    return launches


def program(flags, chapter, arguments):
    """Returns the command that launches each of a chapter's kernels once."""
    start = programs.chapter(flags.programs, chapter)
    return [*start, *shlex.split(arguments), "--repeat", "0"]


def this_machine():
    """Returns the date, the GPU and the versions of its driver and of ncu."""
    name, driver = machine.gpu("name", "driver_version")
    versions = {"driver": driver, "ncu": machine.version("ncu")}
    return {"date": machine.today(), "gpu": name, **versions}
