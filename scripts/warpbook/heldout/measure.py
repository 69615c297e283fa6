"""Runs the launches: on the simulator, and on the GPU under Nsight Compute."""

import json
import sys
import tempfile

from .. import ROOT, programs
from ..counters.measure import this_machine  # noqa: F401, for who measures
from ..counters.ncu import raw_page, source_page
from .figures import ASKED


def program(flags):
    if flags.programs:
        return [str(flags.programs.resolve() / "launches")]
    manifest = ["--manifest-path", str(ROOT / "Cargo.toml")]
    return ["cargo", "run", "--quiet", "--locked", *manifest, "-p", "launches", "--"]


def outcomes(text):
    return [json.loads(line) for line in text.splitlines()]


def simulated(flags, plan):
    words = [*program(flags), str(plan.resolve())]
    return outcomes(programs.output(words, CUDA_BACKEND="sim", CUDA_SIM_DEVICE=None))


def on_gpu(flags, plan):
    """What became of each launch, what Nsight Compute counted, and its machine code."""
    words = [*program(flags), str(plan.resolve())]
    done = outcomes(programs.output(words, CUDA_BACKEND="gpu"))
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.ncu-rep"
        asked = ["--metrics", ",".join(ASKED), "--section", "SourceCounters"]
        options = ["--clock-control", "none", "--target-processes", "all", "--export", report]
        programs.output(["ncu", *asked, *options, *words], CUDA_BACKEND="gpu")
        page = ["ncu", "--import", report, "--csv", "--print-units", "base", "--page"]
        counted = raw_page(programs.output([*page, "raw"]), ASKED)
        listings = source_page(programs.output([*page, "source", "--print-source", "sass"]))
    kernels = [[one["kernel"] for one in done], [one["kernel"] for one in counted]]
    if kernels[0] != kernels[1] or kernels[0] != [kernel for kernel, _ in listings]:
        sys.exit("error: ncu lists other kernels than it ran")
    return [
        {
            "kernel": one["kernel"],
            "results": one["results"],
            "gpu": twin["gpu"],
            "instructions": instructions,
        }
        for one, twin, (_, instructions) in zip(done, counted, listings)
    ]


def paired(plan, ours, theirs):
    """Launch by launch, what the plan, the simulator and the GPU have of it."""
    if not len(plan) == len(ours) == len(theirs):
        sys.exit(f"error: {len(plan)} launches here, {len(theirs)} on the GPU")
    launches = []
    for planned, here, there in zip(plan, ours, theirs):
        if planned["kernel"] != there["kernel"]:
            sys.exit(f"error: the GPU ran {there['kernel']}, and not {planned['kernel']}")
        if here["results"] != there["results"]:
            sys.exit(f"error: {planned['label']}: simulator and GPU have other results")
        launches.append({**planned, **there, "counters": here["counters"]})
    return launches
