"""Clients in Python whose tests run with pytest: Triton's own tests, Dr.Jit, PyCUDA, cuda-python, numba and IREE."""

import dataclasses
import os
import pathlib
from collections.abc import Callable

from .python import pytest

# Plugins of pytest: a deterministic sample of the tests, and a torch for the CPU in Triton's tests.
PLUGINS = pathlib.Path(__file__).parent / "plugins"


@dataclasses.dataclass
class Suite:
    """Files of tests, or a deterministic sample of their parametrizations."""

    name: str
    ci: bool
    files: list
    # Returns the folder in which pytest runs, from the script's flags and the client's folder.
    folder: Callable
    known: dict
    left_out: dict = dataclasses.field(default_factory=dict)  # regular expressions of test names, with the reason
    every: int = 1  # of each test function, every n-th parametrization runs
    device: str = ""
    plugins: tuple = ()
    words: tuple = ()  # further options of pytest
    # Returns environment variables, from the script's flags and the client's folder.
    settings: Callable = lambda flags, folder: {}
    # Environment variables and options that select the client's own back end for the CPU, if it has one.
    on_cpu: tuple = ()

    @staticmethod
    def key(test):
        """Returns the key of a test in `known`: its name without parameters."""
        return test.rpartition("::")[2].partition("[")[0]

    def run(self, flags, folder):
        python = folder / "environment/bin/python"
        device = ["--device", self.device] if self.device else []
        command = [flags.program, "--quiet", *device, "--", python]
        settings = self.settings(flags, folder) | {"PYTHONPATH": str(PLUGINS), "CLIENT_EVERY": str(self.every)}
        if self.left_out:
            settings["CLIENT_WITHOUT"] = "|".join(self.left_out)
        plugins = [word for name in ("sampling", *self.plugins) for word in ("-p", name)]
        # A test that ends its process fails, and another process continues.
        words = [*plugins, *self.words, "--max-worker-restart=1000"]
        where = self.folder(flags, folder)
        report = folder / "report.xml"
        seconds, outcomes = pytest(command, where, settings, flags.jobs, report, [*words, *self.files])
        if self.on_cpu and outcomes["failed"]:
            variables, options = self.on_cpu
            names = folder / "failed.txt"
            names.write_text("\n".join(test["test"].rpartition("::")[2] for test in outcomes["failed"]), encoding="utf-8")
            settings |= variables | {"CLIENT_EVERY": "1", "CLIENT_ONLY": str(names)}
            again_words = [*words, *options, *self.files]
            _, again = pytest(command, where, settings, flags.jobs, folder / "cpu.xml", again_words)
            failing = {test["test"] for test in again["failed"]}
            for test in outcomes["failed"]:
                test["on CPU"] = test["test"] in failing
        shown = " ".join(["cuda-run", *device, "-- python -m pytest", *self.words, *self.files])
        shown += f" (1 of {self.every} parametrizations)" if self.every > 1 else ""
        return {"command": shown, "seconds": seconds, "left out": self.left_out, **outcomes}


def with_path(folder):
    """Returns PATH with a folder in front of it."""
    return f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"
