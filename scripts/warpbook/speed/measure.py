"""Measurements of the simulator, other engines, and the chapters' programs."""

import os
import resource
import subprocess
import sys
import tempfile
import time

from .. import ROOT, TARGET, machine, programs
from ..chapters import CHAPTERS
from .engine import Engines
from .modes import MODES, PROFILES

# A load above this before anything is timed means that the machine is busy.
IDLE = 0.5

# Kernels whose cost is measured at 4 and 16 times the work.
LINEAR = [
    "raytrace_global",
    "mat_mul_tiled_16",
    "stencil_constant, blocks of 256",
    "add per block, global",
]


def measure(flags):
    """Returns the machine, then a record per kernel, per larger size and per chapter."""
    warn_if_busy()
    with tempfile.TemporaryDirectory() as folder:
        built = {profile: build(profile) for profile in PROFILES}
        engines = Engines(built, folder)
        names = [name for name in engines.release.ask("names") if flags.only in name]
        records = [work(flags, engines, name) for name in names]
        if not flags.quick:
            for name in filter(LINEAR.__contains__, names):
                records += [linear(flags, engines, name, scale) for scale in (1, 4, 16)]
        others = [*engines.pocl.values(), engines.numba]
        here = machine.here(list(dict.fromkeys(engine.name for engine in others if engine)))
        engines.end()
    if not flags.quick:
        records += [chapter(flags, built, name) for name in CHAPTERS if flags.only in name]
    return [here, *records]


def measure_checks(flags):
    """Returns the machine, then a record per chapter with the cost of the checks."""
    warn_if_busy()
    folder = build("release")
    names = [name for name in CHAPTERS if flags.only in name]
    return [machine.here([]), *(checked(flags, folder / name) for name in names)]


def warn_if_busy():
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > IDLE:
        print("warning: the machine is busy, times will be too long", file=sys.stderr)


def build(profile):
    """Builds all programs at once, so that nothing is built twice, and returns their folder."""
    packages = [word for name in ["sim-bench", *CHAPTERS] for word in ("-p", name)]
    targets = ["--bins", *packages]
    cargo = ["cargo", "build", "--quiet", "--locked", "--profile", profile, *targets]
    try:
        subprocess.run(cargo, cwd=ROOT, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: cannot build the programs to time: {error}")
    return TARGET / ("debug" if profile == "dev" else profile)


def work(flags, engines, name):
    """Returns a kernel's record: samples in seconds, by engine."""
    print(name, file=sys.stderr)
    record = {"work": name}
    samples = record["seconds"] = {}
    if engines.numba:  # first and at a smaller scale, because it is slow
        record["scaled"] = engines.release.ask(f"load tiny {name}")
        engines.release.ask("write")
        engines.numba.ask("load")
        runs = min(flags.repeat, 3)
        samples["numba"] = [engines.numba.ask("run")["seconds"] for _ in range(runs)]
    record.update(engines.release.ask(f"load 1 {name}"))
    engines.release.ask("write")
    engines.dev.ask(f"load 1 {name}")
    engines.baseline.ask(f"load 1 {name}")
    for pocl in engines.pocl.values():
        pocl.ask("load")
    turns = {mode: (engines.release, f"simulator {mode}") for mode in MODES}
    turns["dev"] = (engines.dev, "simulator sample 2")
    turns["baseline"] = (engines.baseline, "simulator sample 2")
    turns["plain"] = (engines.release, "plain")
    turns.update({f"pocl {threads}": (pocl, "run") for threads, pocl in engines.pocl.items()})
    for _ in range(flags.repeat):
        for turn, (engine, command) in turns.items():
            samples.setdefault(turn, []).append(engine.ask(command)["seconds"])
    return record


def linear(flags, engines, name, scale):
    """Returns a record of `scale` times the work, on two threads."""
    print(f"{name}, {scale} times", file=sys.stderr)
    record = {"linear": name, "scale": scale, **engines.release.ask(f"load {scale} {name}")}
    runs = range(flags.repeat)
    record["seconds"] = [engines.release.ask("simulator sample 2")["seconds"] for _ in runs]
    return record


def chapter(flags, folders, name):
    """Returns a record of a chapter's program, timed from start to end."""
    print(name, file=sys.stderr)
    record = {"chapter": name, "tiny": {profile: [] for profile in PROFILES}}
    for _ in range(2 * flags.repeat):
        for profile, folder in folders.items():
            record["tiny"][profile].append(program(folder / name, CHAPTERS[name].least)[0])
    runs = range(min(flags.repeat, 3))
    record["default"] = [program(folders["dev"] / name, "")[0] for _ in runs]
    return record


def checked(flags, path):
    """Returns a record of a chapter's program with default arguments, alternately without checks and with all."""
    print(path.name, file=sys.stderr)
    record = {"checked": path.name, "seconds": {}}
    for _ in range(flags.repeat):
        for turn, arguments in ("without", ""), ("with", "--check"):
            durations = program(path, arguments)
            for clock, seconds in zip(("elapsed", "cpu"), durations):
                record["seconds"].setdefault(f"{clock} {turn}", []).append(seconds)
    return record


def program(path, arguments):
    """Runs a program and returns the elapsed seconds and the processor time of all its threads."""
    with tempfile.TemporaryDirectory() as folder:  # for the picture that one chapter writes
        start, before = time.perf_counter(), children()
        done = subprocess.run(
            [path, *arguments.split()],
            env=programs.environment(CUDA_BACKEND="sim"),
            cwd=folder,
            capture_output=True,
            text=True,
        )
        durations = time.perf_counter() - start, children() - before
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(f"error: {path.name} {arguments} failed; see its output above")
    return durations


def children():
    """Returns the processor time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
