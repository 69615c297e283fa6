"""Runs the programs on the simulator and on PoCL, and records their kernels' times."""

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
# The limit of processor time for a run with all counters.
SECONDS = 60
SIMULATOR = {"CUDA_BACKEND": "sim", "CUDA_SIM_TIME_LIMIT": "none"}
# Settings for the counters of a launch, besides all of them.
COUNTED = {"nothing": {"CUDA_SIM_SAMPLE": "none"}, "sample": {}}
# One core, comparable to the processor time of the simulator's threads.
POCL = {"POCL_MAX_PTHREAD_COUNT": "1", "POCL_AFFINITY": "1"}


def measure(flags):
    """Returns the machine, then a record per kernel."""
    chosen = [listed for listed in catalogue.programs() if flags.only in listed.title()]
    missing = {listed.collection for listed in chosen} - set(flags.collections)
    if missing:
        sys.exit(f"error: missing collections: {', '.join(sorted(missing))}; add each as NAME=FOLDER")
    build = ["cargo", "build", "--quiet", "--locked", "--release", "-p", "cuda-run"]
    subprocess.run(build, cwd=ROOT, check=True)
    records = []
    with tempfile.TemporaryDirectory() as scratch:
        pocl = Pocl(pathlib.Path(scratch))
        for listed in chosen:
            print(listed.collection, listed.title(), file=sys.stderr)
            records += program(listed, flags.collections[listed.collection], pocl, flags.repeat)
    commits = {name: commit(folder) for name, folder in flags.collections.items()}
    return [machine.here([pocl.name] if pocl.name else []) | {"commits": commits}, *records]


def program(listed, top, pocl, repeat):
    """Yields a record for each of the program's kernels to time."""
    simulator, opencl = Simulator(listed, top), listed.opencl and pocl.program(listed.opencl, top)
    counted, everything = simulator.count()
    samples = {"everything": [everything]}
    for _ in range(repeat):
        for name, settings in COUNTED.items():
            samples.setdefault(name, []).append(simulator.time(settings))
        if opencl:
            samples.setdefault("pocl", []).append(opencl())
    for name, kind in listed.kernels.items():
        launches, threads, warps = numbers_of(counted, name, listed.folder)
        seconds = {}
        for engine, turns in samples.items():
            kernel = listed.opencl.kernels[name] if engine == "pocl" else name
            folder = listed.opencl.folder if engine == "pocl" else listed.folder
            seconds[engine] = [numbers_of(turn, kernel, folder)[1] for turn in turns]
        yield {
            "collection": listed.collection,
            "program": listed.title(),
            "kernel": name,
            "kind": kind,
            "run": " ".join(filter(None, [listed.flags, listed.run])),
            "launches": launches,
            "thread_instructions": threads,
            "warp_instructions": warps,
            "seconds": seconds,
        }


def numbers_of(launched, name, folder):
    """Returns a kernel's numbers. Exits with an error if it was not launched."""
    if name not in launched:
        sys.exit(f"error: {folder} does not launch {name}; it launches {', '.join(launched)}")
    return launched[name]


class Simulator:
    """A program on the simulator, compiled with code that times its kernels."""

    def __init__(self, listed, top):
        self.folder = top / listed.folder
        # The flags and files come from its Makefile.
        makefile = collection.read(listed.collection, top, self.folder)
        if not makefile:
            sys.exit(f"error: {self.folder} has no Makefile that compiles a CUDA program")
        timing = ["-Xlinker", "--wrap=cudaLaunchKernel", TIMING / "cuda.cpp"]
        self.compiled = ["-w", *makefile.flags, *shlex.split(listed.flags), *timing, *makefile.files]
        self.arguments = shlex.split(listed.run)

    def count(self):
        """Returns the kernels' counters, and their times with all counters enabled."""
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
    """PoCL, if it is installed."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.library = scratch / "timing.so"
        compiled = ["gcc", "-O2", "-shared", "-fPIC", "-o", self.library, TIMING / "opencl.c"]
        done = subprocess.run(compiled, capture_output=True, text=True)
        self.name = version() if done.returncode == 0 else None
        if not self.name:
            print(f"PoCL is left out: {verdict.first_error(done.stderr) or 'it is not installed'}", file=sys.stderr)

    def program(self, opencl, top):
        """Returns a function that runs the program and returns its kernels' times, or `None` without PoCL."""
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
    """Runs a program and returns its kernels' times. Exits with an error if it fails."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "times"
        done, _ = runs.start(command, folder, SECONDS, settings | {"KERNEL_TIMES": str(path)})
        if done is None:
            sys.exit(f"error: exceeded {SECONDS} s of processor time: {shlex.join(map(str, command))}")
        outcome = verdict.judged(done, None)
        if "why" in outcome or not path.exists():
            message = f"{outcome['result']}: {shlex.join(map(str, command))}: {outcome.get('why', '')}"
            sys.exit(f"{done.stderr}error: {message}")
        return kernels.timed(path)


def version():
    """Returns PoCL's version according to clinfo, or `None` if it is not installed."""
    if not shutil.which("clinfo"):
        return None
    match = re.search(r"CL_PLATFORM_VERSION.*(PoCL \S+)", programs.output(["clinfo", "--raw"]))
    return match and match[1]


def commit(folder):
    """Returns the commit that a clone has checked out, or `None`."""
    done = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()[:12] or None
