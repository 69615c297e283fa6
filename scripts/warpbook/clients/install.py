"""Installing clients."""

import pathlib
import subprocess


class Missing(Exception):
    """A requirement of a client is missing on this machine."""


def quietly(command, folder, **more):
    """Runs a command that must succeed; prints its output only if it fails."""
    ended = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more
    )
    if ended.returncode:
        raise SystemExit(f"error: command failed: {' '.join(map(str, command))}:\n{ended.stdout}")
    return ended.stdout


def once(folder, make):
    """Calls `make` to fill a folder, unless an earlier run has."""
    done = folder / "installed"
    if not done.exists():
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        make(folder)
        done.touch()
    return folder
