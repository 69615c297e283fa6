"""Clients whose tests are programs: each runs separately and passes if it exits with status 0."""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import subprocess
import time

from .install import Missing

# The time limit of a program. Most take seconds, the longest of Halide's ten minutes, and more on a busy machine.
SECONDS = 1800


@dataclasses.dataclass
class Program:
    """A test: its name, command, folder and environment variables."""

    name: str
    command: list
    folder: pathlib.Path
    environment: dict = dataclasses.field(default_factory=dict)


def sources(flags, client, repository, commit, inside):
    """Returns the folder with the tests in a clone of the client's repository, since the package lacks them."""
    folder = flags.sources.get(client)
    if not folder:
        raise Missing(
            f"its tests are in its repository: git clone {repository}, git checkout {commit}, then pass "
            f"--sources {client}=FOLDER"
        )
    folder = folder.resolve() / inside
    if not folder.is_dir():
        raise SystemExit(f"error: {client}: there is no {folder}")
    return folder


def run(flags, programs, skips, folder):
    """Runs the programs, `flags.jobs` at a time. A program that prints `skips` skipped itself.

    Prints each outcome and saves it in `folder` immediately, since all programs together may take more than an hour.
    """
    saved = folder / "came.jsonl"
    if not flags.go_on:
        saved.unlink(missing_ok=True)
    lines = saved.read_text().splitlines() if saved.exists() else []
    outcomes = {outcome["test"]: outcome for outcome in map(json.loads, lines)}
    before = max((outcome["at"] for outcome in outcomes.values()), default=0)
    start = time.monotonic() - before

    def run_one(program):
        status, output, seconds = ended(flags, program)
        outcome = "failed" if status else "skipped" if skips and skips in output else "passed"
        why = reason(status, output) if status else ""
        at = round(time.monotonic() - start)
        return {"test": program.name, "outcome": outcome, "why": why, "seconds": seconds, "at": at}

    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool, saved.open("a", encoding="utf-8") as file:
        pending = [pool.submit(run_one, program) for program in programs if program.name not in outcomes]
        for future in concurrent.futures.as_completed(pending):
            outcome = future.result()
            outcomes[outcome["test"]] = outcome
            print(json.dumps(outcome), file=file, flush=True)
            summary = f"{outcome['test']}: {outcome['outcome']}, {outcome['seconds']} s {outcome['why']}"
            print(summary.rstrip(), flush=True)
    selected = [outcomes[program.name] for program in programs]
    failed = [outcome for outcome in selected if outcome["outcome"] == "failed"]
    return {
        "passed": sum(outcome["outcome"] == "passed" for outcome in selected),
        "skipped": sum(outcome["outcome"] == "skipped" for outcome in selected),
        "failed": [{"test": outcome["test"], "why": outcome["why"]} for outcome in failed],
        "seconds": round(time.monotonic() - start),
    }


def ended(flags, program):
    """Runs a program and returns its exit status, its output and its elapsed seconds."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "HL_", "MODULAR"))}
    command = [flags.program, "--quiet", "--time-limit", str(SECONDS), "--", *program.command]
    program.folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
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
    return ended.returncode, ended.stdout, round(time.monotonic() - start)


def reason(status, output):
    """Returns the last line with an error, the last line, or the exit status."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line]
    return ((errors or lines)[-1] if lines else f"status {status}")[:200]
