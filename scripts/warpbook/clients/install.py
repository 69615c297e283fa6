"""What installing a client may come to."""

import pathlib
import subprocess


class Missing(Exception):
    """Something that a client needs is not on this machine."""


def quietly(command, folder, **more):
    """Runs a command that is to succeed; what it says is told only where it does not."""
    ended = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more
    )
    if ended.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}:\n{ended.stdout}")
    return ended.stdout


def once(folder, make):
    """Has `make` fill a folder, unless an earlier run has."""
    done = folder / "installed"
    if not done.exists():
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        make(folder)
        done.touch()
    return folder
