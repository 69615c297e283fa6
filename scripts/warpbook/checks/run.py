"""Runs a planted bug, or its correct twin."""

import subprocess

from .. import TARGET, programs

# Seconds after which a run is stopped and counts as endless.
TIME_LIMIT = 60


def program(flags):
    """Returns the path of the program that contains all planted bugs."""
    folder = flags.programs or TARGET / "debug"
    return str(folder.resolve() / "planted-bugs")


def watched(flags, tool, case, twin, backend):
    """Returns a run's output and its exit status, which is `None` after a time-out."""
    command = [*tool, program(flags), case["name"], *(["--right"] if twin else [])]
    settings = {"CUDA_BACKEND": backend, "CUDA_SIM_CHECK": "all", "CUDA_SIM_DEVICE": None}
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=programs.environment(**settings),
            timeout=TIME_LIMIT,
        )
        return done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(), None
