"""Clients whose tests are programs: each is run by itself, and is right where it ends with status 0."""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import time

from .install import Missing

# What one program may take. Most take seconds, the longest of Halide's ten minutes; a machine that does something else
# beside is slow.
SECONDS = 1800


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


def run(flags, programs, skips, folder):
    """Runs them, `flags.jobs` at a time. `skips`: what a program says that leaves itself out.

    What came of each is told and kept in `folder` at once: all of them may take more than an hour.
    """
    kept = folder / "came.jsonl"
    if not flags.go_on:
        kept.unlink(missing_ok=True)
    came = {one["test"]: one for one in map(json.loads, kept.read_text().splitlines())} if kept.exists() else {}
    before = max((one["at"] for one in came.values()), default=0)
    begun = time.monotonic() - before

    def one(program):
        status, said, seconds = ended(flags, program)
        outcome = "failed" if status else "skipped" if skips and skips in said else "passed"
        why = reason(status, said) if status else ""
        at = round(time.monotonic() - begun)
        return {"test": program.name, "outcome": outcome, "why": why, "seconds": seconds, "at": at}

    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool, kept.open("a", encoding="utf-8") as file:
        left = [pool.submit(one, program) for program in programs if program.name not in came]
        for ready in concurrent.futures.as_completed(left):
            found = ready.result()
            came[found["test"]] = found
            print(json.dumps(found), file=file, flush=True)
            print(f"{found['test']}: {found['outcome']}, {found['seconds']} s {found['why']}".rstrip(), flush=True)
    these = [came[program.name] for program in programs]
    return {
        "passed": sum(one["outcome"] == "passed" for one in these),
        "skipped": sum(one["outcome"] == "skipped" for one in these),
        "failed": [{"test": one["test"], "why": one["why"]} for one in these if one["outcome"] == "failed"],
        "seconds": round(time.monotonic() - begun),
    }


def ended(flags, program):
    own = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "HL_", "MODULAR"))}
    command = [flags.program, "--quiet", "--time-limit", str(SECONDS), "--", *program.command]
    program.folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
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
    return ended.returncode, ended.stdout, round(time.monotonic() - begun)


def reason(status, said):
    """What it said last, or how it ended."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    wrong = [line for line in lines if "rror" in line]
    return ((wrong or lines)[-1] if lines else f"status {status}")[:200]
