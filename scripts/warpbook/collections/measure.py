"""Runs the programs on the simulator and on PoCL, and keeps what their kernels took."""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from .. import ROOT, TARGET, kernels, machine, programs
from ..public import collection, runs, verdict
from . import catalogue

TIMING = ROOT / "scripts" / "timing"
CUDA_RUN = TARGET / "release" / "cuda-run"
# A run of a program, everything counted, takes less than this of the processor's time.
SECONDS = 60
SIMULATOR = {"CUDA_BACKEND": "sim", "CUDA_SIM_TIME_LIMIT": "none"}
# What is counted of a launch, beside everything.
COUNTED = {"nothing": {"CUDA_SIM_SAMPLE": "none"}, "sample": {}}
# A core alone, as the processor time of the simulator's threads is.
POCL = {"POCL_MAX_PTHREAD_COUNT": "1", "POCL_AFFINITY": "1"}


def measure(flags):
    """The machine, then a record a kernel."""
    chosen = [one for one in catalogue.programs() if flags.only in one.title()]
    missing = {one.collection for one in chosen} - set(flags.collections)
    if missing:
        sys.exit(f"error: these collections are wanted, too: {', '.join(sorted(missing))}")
    build = ["cargo", "build", "--quiet", "--locked", "--release", "-p", "cuda-run"]
    subprocess.run(build, cwd=ROOT, check=True)
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        pocl = Pocl(pathlib.Path(scratch))
        for one in chosen:
            print(one.collection, one.title(), file=sys.stderr)
            found += program(one, flags.collections[one.collection], pocl, flags.repeat)
    commits = {name: commit(folder) for name, folder in flags.collections.items()}
    return [machine.here([pocl.name] if pocl.name else []) | {"commits": commits}, *found]


def program(one, top, pocl, repeat):
    """A record for each of its kernels that are to be timed."""
    simulator, opencl = Simulator(one, top), one.opencl and pocl.program(one.opencl, top)
    counted, everything = simulator.count()
    samples = {"everything": [everything]}
    for _ in range(repeat):
        for name, settings in COUNTED.items():
            samples.setdefault(name, []).append(simulator.time(settings))
        if opencl:
            samples.setdefault("pocl", []).append(opencl())
    for name, kind in one.kernels.items():
        launches, threads, warps = of(counted, name, one.folder)
        seconds = {}
        for how, turns in samples.items():
            there = one.opencl.kernels[name] if how == "pocl" else name
            folder = one.opencl.folder if how == "pocl" else one.folder
            seconds[how] = [of(turn, there, folder)[1] for turn in turns]
        yield {
            "collection": one.collection,
            "program": one.title(),
            "kernel": name,
            "kind": kind,
            "run": " ".join(filter(None, [one.flags, one.run])),
            "launches": launches,
            "thread_instructions": threads,
            "warp_instructions": warps,
            "seconds": seconds,
        }


def of(found, name, folder):
    """A kernel's numbers, where it was launched."""
    if name not in found:
        sys.exit(f"error: {folder} launches no {name}, but {', '.join(found)}")
    return found[name]


class Simulator:
    """A program on the simulator, compiled with what times its kernels."""

    def __init__(self, one, top):
        self.folder = top / one.folder
        # What its Makefile says of it. Folders of Rodinia's begin with cuda/, for one.
        made = collection.read(one.collection, top, self.folder)
        if not made:
            sys.exit(f"error: {self.folder} has no program")
        timing = ["-Xlinker", "--wrap=cudaLaunchKernel", TIMING / "cuda.cpp"]
        self.compiled = ["-w", *made.flags, *shlex.split(one.flags), *timing, *made.files]
        self.arguments = shlex.split(one.run)

    def count(self):
        """What its kernels did, and their times with everything counted."""
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "record.json"
            times = self.run([f"--json={record}"], {})
            return kernels.counted(record), times

    def time(self, settings):
        return self.run(["--quiet"], settings)

    def run(self, flags, settings):
        command = [CUDA_RUN, *flags, *self.compiled, "--", *self.arguments]
        return times_of(command, self.folder, SIMULATOR | settings)


class Pocl:
    """PoCL, if it is there."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.library = scratch / "timing.so"
        compiled = ["gcc", "-O2", "-shared", "-fPIC", "-o", self.library, TIMING / "opencl.c"]
        done = subprocess.run(compiled, capture_output=True, text=True)
        self.name = version() if done.returncode == 0 else None
        if not self.name:
            print(f"PoCL is left out: {verdict.first_error(done.stderr) or 'it is not there'}", file=sys.stderr)

    def program(self, opencl, top):
        """What runs the program and gives its kernels' times; nothing where there is no PoCL."""
        if not self.name:
            return None
        folder, binary = top / opencl.folder, self.scratch / "program"
        words = [*shlex.split(opencl.compile), "-w", "-o", binary, "-lOpenCL", "-lm"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{done.stderr}error: {opencl.folder} does not compile")
        command = [binary, *shlex.split(opencl.run)]
        return lambda: times_of(command, folder, POCL | {"LD_PRELOAD": str(self.library)})


def times_of(command, folder, settings):
    """How long the kernels of a program took that runs as it should."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "times"
        done, _ = runs.start(command, folder, SECONDS, settings | {"KERNEL_TIMES": str(path)})
        if done is None:
            sys.exit(f"error: this takes too long: {shlex.join(map(str, command))}")
        said = verdict.judged(done, None)
        if "why" in said or not path.exists():
            sys.exit(f"{done.stderr}error: {said['result']}: {shlex.join(map(str, command))}: {said.get('why', '')}")
        return kernels.timed(path)


def version():
    """PoCL's, as clinfo has it; nothing where it is not there."""
    if not shutil.which("clinfo"):
        return None
    found = re.search(r"CL_PLATFORM_VERSION.*(PoCL \S+)", programs.output(["clinfo", "--raw"]))
    return found and found[1]


def commit(folder):
    """The commit that a folder is a clone at."""
    done = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()[:12] or None
