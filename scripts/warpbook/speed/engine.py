"""Whatever computes: the simulator in several builds, and other engines beside it."""

import json
import subprocess
import sys

from .. import ROOT, programs
from .modes import PROFILES, THREADS

SCRIPTS = ROOT / "scripts/engines"


class Engines:
    """Whatever computes, each a program that waits to be asked."""

    def __init__(self, built, folder):
        release, dev = (built[profile] / "speed" for profile in PROFILES)
        self.release = Engine([release, folder])
        self.dev = Engine([dev, folder])
        self.baseline = Engine([release, folder], CUDA_SIM_CPU="baseline")
        self.pocl = {}
        for threads in THREADS:
            # A core each: two threads of PoCL otherwise share one now and then, for seconds.
            environment = {"POCL_MAX_PTHREAD_COUNT": str(threads), "POCL_AFFINITY": "1"}
            engine = Engine([sys.executable, SCRIPTS / "opencl.py", folder], **environment)
            if engine.is_there():
                self.pocl[threads] = engine
        self.numba = Engine([sys.executable, SCRIPTS / "numba_simulator.py", folder])
        if not self.numba.is_there():
            self.numba = None

    def end(self):
        own = self.release, self.dev, self.baseline
        for engine in (*own, *self.pocl.values(), self.numba):
            if engine:
                engine.end()


class Engine:
    def __init__(self, command, **environment):
        self.command = command
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # leave no __pycache__ next to the scripts
        how = {"env": programs.environment(**environment), "text": True}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, **how)

    def is_there(self):
        """Whether it has what it needs; `name` is then what it is."""
        hello = self.answer()
        if "missing" in hello:
            print(f"{self.command[1].name} is left out: {hello['missing']}", file=sys.stderr)
            self.end()
        self.name = hello.get("engine")
        return "engine" in hello

    def ask(self, command):
        print(command, file=self.process.stdin, flush=True)
        return self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"error: {self.command[-2]} has ended; what it said is above")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
