"""Times the simulator, other engines, and the chapters' programs."""

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

# The machine does something else where its load is higher before anything is timed.
IDLE = 0.5

# Whose cost is shown at 4 and 16 times the work.
LINEAR = [
    "raytrace_global",
    "mat_mul_tiled_16",
    "stencil_constant, blocks of 256",
    "add per block, global",
]


def measure(flags):
    """The machine, then a record a work, a larger work and a chapter."""
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
        here = machine.here(list(dict.fromkeys(one.name for one in others if one)))
        engines.end()
    if not flags.quick:
        records += [chapter(flags, built, name) for name in CHAPTERS if flags.only in name]
    return [here, *records]


def measure_checks(flags):
    """The machine, then a record a chapter."""
    warn_if_busy()
    folder = build("release")
    names = [name for name in CHAPTERS if flags.only in name]
    return [machine.here([]), *(checked(flags, folder / name) for name in names)]


def warn_if_busy():
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > IDLE:
        print("something else is running: times will be too long", file=sys.stderr)


def build(profile):
    """Where the programs are that cargo has built: all at once, so that nothing is built twice."""
    packages = [word for name in ["sim-bench", *CHAPTERS] for word in ("-p", name)]
    what = ["--bins", *packages]
    cargo = ["cargo", "build", "--quiet", "--locked", "--profile", profile, *what]
    try:
        subprocess.run(cargo, cwd=ROOT, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"error: cannot build what is timed: {error}")
    return TARGET / ("debug" if profile == "dev" else profile)


def work(flags, engines, name):
    """A record: samples in seconds, by engine."""
    print(name, file=sys.stderr)
    record = {"work": name}
    samples = record["seconds"] = {}
    if engines.numba:  # first, because slow: nothing else is at this scale
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
    """A record of `scale` times the work, on two threads."""
    print(f"{name}, {scale} times", file=sys.stderr)
    record = {"linear": name, "scale": scale, **engines.release.ask(f"load {scale} {name}")}
    runs = range(flags.repeat)
    record["seconds"] = [engines.release.ask("simulator sample 2")["seconds"] for _ in runs]
    return record


def chapter(flags, folders, name):
    """A record of a chapter's program, from its start to its end."""
    print(name, file=sys.stderr)
    record = {"chapter": name, "tiny": {profile: [] for profile in PROFILES}}
    for _ in range(2 * flags.repeat):
        for profile, folder in folders.items():
            record["tiny"][profile].append(program(folder / name, CHAPTERS[name].least)[0])
    runs = range(min(flags.repeat, 3))
    record["default"] = [program(folders["dev"] / name, "")[0] for _ in runs]
    return record


def checked(flags, path):
    """A record of a chapter's program by default, in turns without checks and with all."""
    print(path.name, file=sys.stderr)
    record = {"checked": path.name, "seconds": {}}
    for _ in range(flags.repeat):
        for turn, arguments in ("without", ""), ("with", "--check"):
            taken = program(path, arguments)
            for what, seconds in zip(("elapsed", "cpu"), taken):
                record["seconds"].setdefault(f"{what} {turn}", []).append(seconds)
    return record


def program(path, arguments):
    """Seconds from start to end, and those that all threads ran."""
    with tempfile.TemporaryDirectory() as folder:  # for the picture
        start, before = time.perf_counter(), children()
        done = subprocess.run(
            [path, *arguments.split()],
            env=programs.environment(CUDA_BACKEND="sim"),
            cwd=folder,
            capture_output=True,
            text=True,
        )
        taken = time.perf_counter() - start, children() - before
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(f"error: {path.name} {arguments} failed; what it said is above")
    return taken


def children():
    """Seconds that programs which have ended ran."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
