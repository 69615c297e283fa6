"""Runs the launches on the simulator, and on the GPU under Nsight Compute."""

import json
import sys
import tempfile

from .. import ROOT, programs
from ..counters.measure import this_machine  # noqa: F401, part of this interface
from ..counters.ncu import raw_page, source_page
from .figures import METRICS


def program(flags):
    if flags.programs:
        return [str(flags.programs.resolve() / "launches")]
    manifest = ["--manifest-path", str(ROOT / "Cargo.toml")]
    return ["cargo", "run", "--quiet", "--locked", *manifest, "-p", "launch-plan", "--"]


def outcomes(text):
    return [json.loads(line) for line in text.splitlines()]


def simulated(flags, plan):
    words = [*program(flags), str(plan.resolve())]
    return outcomes(programs.output(words, CUDA_BACKEND="sim", CUDA_SIM_DEVICE=None))


def on_gpu(flags, plan):
    """Returns each launch's results, Nsight Compute's counters and the machine code."""
    words = [*program(flags), str(plan.resolve())]
    executed = outcomes(programs.output(words, CUDA_BACKEND="gpu"))
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.ncu-rep"
        metrics = ["--metrics", ",".join(METRICS), "--section", "SourceCounters"]
        options = ["--clock-control", "none", "--target-processes", "all", "--export", report]
        programs.output(["ncu", *metrics, *options, *words], CUDA_BACKEND="gpu")
        page = ["ncu", "--import", report, "--csv", "--print-units", "base", "--page"]
        profiled = raw_page(programs.output([*page, "raw"]), METRICS)
        listings = source_page(programs.output([*page, "source", "--print-source", "sass"]))
    kernels = [[launch["kernel"] for launch in executed], [launch["kernel"] for launch in profiled]]
    if kernels[0] != kernels[1] or kernels[0] != [kernel for kernel, _ in listings]:
        sys.exit("error: ncu lists other kernels than it profiled")
    return [
        {
            "kernel": launch["kernel"],
            "results": launch["results"],
            "gpu": twin["gpu"],
            "instructions": instructions,
        }
        for launch, twin, (_, instructions) in zip(executed, profiled, listings)
    ]


def paired(plan, ours, theirs):
    """Merges the plan's, the simulator's and the GPU's data launch by launch. Exits with an error if they differ."""
    if not len(plan) == len(ours) == len(theirs):
        sys.exit(f"error: {len(plan)} launches here, but {len(theirs)} on the GPU: record them again with --save")
    launches = []
    for planned, here, there in zip(plan, ours, theirs):
        launch = planned["plan"]["launch"][0]
        if launch["kernel"] != there["kernel"]:
            sys.exit(f"error: the GPU ran {there['kernel']} instead of {launch['kernel']}: record again with --save")
        if here["results"] != there["results"]:
            sys.exit(f"error: {planned['label']}: the simulator's results differ from the GPU's")
        launches.append({**planned, **launch, **there, "counters": here["counters"]})
    return launches
