"""Clients whose tests are programs: each is run by itself, and is right where it ends with status 0."""

import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import time

from .install import Missing

# What one program may take. Most take seconds; a machine that does something else beside is slow.
SECONDS = 600


@dataclasses.dataclass
class Program:
    """A test: a name, what is run, where, and what the environment has for it."""

    name: str
    command: list
    folder: pathlib.Path
    environment: dict = dataclasses.field(default_factory=dict)


def sources(flags, client, repository, commit, inside):
    """The folder of the client's repository that has its tests, which the registry's package has not."""
    folder = flags.sources.get(client)
    if not folder:
        raise Missing(
            f"its tests are in its repository: git clone {repository}, git checkout {commit}, --sources {client}=FOLDER"
        )
    folder = folder.resolve() / inside
    if not folder.is_dir():
        raise SystemExit(f"{client}: there is no {folder}")
    return folder


def run(flags, programs, skips):
    """Runs them, `flags.jobs` at a time. `skips`: what a program says that leaves itself out."""
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        came = list(pool.map(lambda program: ended(flags, program), programs))
    failed, passed, skipped = [], 0, 0
    for program, (status, said) in zip(programs, came, strict=True):
        if status:
            failed.append({"test": program.name, "why": reason(status, said)})
        elif skips and skips in said:
            skipped += 1
        else:
            passed += 1
    return {"passed": passed, "skipped": skipped, "failed": failed, "seconds": round(time.monotonic() - begun)}


def ended(flags, program):
    own = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "HL_", "MODULAR"))}
    command = [flags.program, "--quiet", "--time-limit", str(SECONDS), "--", *program.command]
    program.folder.mkdir(parents=True, exist_ok=True)
    ended = subprocess.run(
        command,
        cwd=program.folder,
        env=own | program.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return ended.returncode, ended.stdout


def reason(status, said):
    """What it said last, or how it ended."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    wrong = [line for line in lines if "rror" in line]
    return ((wrong or lines)[-1] if lines else f"status {status}")[:200]
