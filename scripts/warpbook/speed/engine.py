"""The engines to time: the simulator in several builds, PoCL and Numba's simulator."""

import json
import subprocess
import sys

from .. import ROOT, programs
from .modes import PROFILES, THREADS

SCRIPTS = ROOT / "scripts/engines"


class Engines:
    """All engines, each a process that waits for commands."""

    def __init__(self, built, folder):
        release, dev = (built[profile] / "speed" for profile in PROFILES)
        self.release = Engine([release, folder])
        self.dev = Engine([dev, folder])
        self.baseline = Engine([release, folder], CUDA_SIM_CPU="baseline")
        self.pocl = {}
        for threads in THREADS:
            # Pin each thread to a core: otherwise two threads of PoCL share one now and then, for seconds.
            environment = {"POCL_MAX_PTHREAD_COUNT": str(threads), "POCL_AFFINITY": "1"}
            engine = Engine([sys.executable, SCRIPTS / "opencl.py", folder], **environment)
            if engine.is_available():
                self.pocl[threads] = engine
        self.numba = Engine([sys.executable, SCRIPTS / "numba_simulator.py", folder])
        if not self.numba.is_available():
            self.numba = None

    def end(self):
        simulators = self.release, self.dev, self.baseline
        for engine in (*simulators, *self.pocl.values(), self.numba):
            if engine:
                engine.end()


class Engine:
    """A process that reads commands and replies to each with a line of JSON."""

    def __init__(self, command, **environment):
        self.command = command
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # leave no __pycache__ next to the scripts
        options = {"env": programs.environment(**environment), "text": True}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, **options)

    def is_available(self):
        """Reads the engine's greeting and sets its name. Returns false if its requirements are missing."""
        hello = self.reply()
        if "missing" in hello:
            print(f"{self.command[1].name} is left out: {hello['missing']}", file=sys.stderr)
            self.end()
        self.name = hello.get("engine")
        return "engine" in hello

    def ask(self, command):
        print(command, file=self.process.stdin, flush=True)
        return self.reply()

    def reply(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"error: {self.command[-2]} ended unexpectedly; see its output above")
        return json.loads(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
