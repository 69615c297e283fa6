"""Running a program with `cuda-run` and reading its record."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Union

from warpbook import _native
from warpbook.errors import CudaRunError
from warpbook.records import Record

StrPath = Union[str, "os.PathLike[str]"]

#: The file name extensions of the sources that cuda-run compiles.
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".C", ".c")


#: The flags of cuda-run with which `profile` gets the record.
RESERVED = ("--json", "--quiet")

#: The variable with the directory of the events of a program's processes.
EVENTS = "CUDA_RUN_EVENTS"

#: The beginning of the name of that directory, if the plug-in for pytest has created it.
PYTEST_EVENTS = "warpbook-pytest-"


def profile(
    program: StrPath | Sequence[StrPath],
    *arguments: object,
    check: bool | str | None = None,
    lines: bool = False,
    device: str | None = None,
    devices: int | None = None,
    time_limit: float | None = None,
    flags: Sequence[str] = (),
    cwd: StrPath | None = None,
    env: Mapping[str, str] | None = None,
    plot: StrPath | None = None,
) -> Record:
    """Runs a program and returns its record: the counters of its kernels, and its problems.

        warpbook.profile("add.cu", 1000)                           # compiles the file; argv[1] is "1000"
        warpbook.profile(["main.cu", "kernels.cu"], check=True)    # compiles several files
        warpbook.profile(["python3", "train.py"], check="mem,race")  # runs any program that loads libcuda.so.1

    Parameters:
        program: a source file, a list of source files, or a program: its path, or a command as a list.
        arguments: the arguments of the program; they are converted to strings.
        check: `True` to look for errors, or a list of checks such as `"mem,race"`; the findings are in
            `Record.problems`.
        lines: also count per source line: `Kernel.lines`. `Record.stderr` then ends with the source and its counters.
        device: the GPU that the simulator models, such as `"rtx3090"`.
        devices: the number of simulated GPUs, 1 to 16.
        time_limit: the time in seconds after which the program is stopped, with the status 124.
        flags: further flags of cuda-run, such as `["-O3", "-DN=64"]`.
        cwd: the directory in which the program runs; relative paths are relative to it.
        env: variables in addition to those of this process.
        plot: the name of a plot: `NAME.svg` and `NAME.png` are written.

    Source files run on the GPU if there is one, where times are measured and there are no counters;
    `env={"CUDA_BACKEND": "sim"}` selects the simulator. Other programs always run on the simulator.

    The exit status of the program is in `Record.status`, its output in `Record.stdout` and `Record.stderr`.

    Raises `CudaRunError` if the program could not be compiled or run, and `NativeError` if cuda-run is missing.
    """
    flags = _checked_flags(flags)
    command = [str(_native.program("cuda-run")), "--quiet"]
    if check:
        command.append("--check" if check is True else f"--check={check}")
    if lines:
        # cuda-run rejects --quiet with --profile.
        command.remove("--quiet")
        command.append("--profile=lines")
    for flag, value in (("--device", device), ("--devices", devices), ("--time-limit", time_limit), ("--plot", plot)):
        if value is not None:
            command.append(f"{flag}={value if not isinstance(value, os.PathLike) else os.fspath(value)}")
    command += flags
    with tempfile.TemporaryDirectory(prefix="warpbook-") as directory:
        file = Path(directory) / "record.json"
        command.append(f"--json={file}")
        command += _operands(program, arguments)
        environment = {**os.environ, **(env or {})}
        if PurePath(environment.get(EVENTS, "")).name.startswith(PYTEST_EVENTS):
            # The test gets the record. The plug-in would otherwise fail the test for each finding in it.
            del environment[EVENTS]
        completed = subprocess.run(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        stdout, stderr = (output.decode("utf-8", "replace") for output in (completed.stdout, completed.stderr))
        record = Record.load(file) if file.exists() else None
    if record is None or record.status is None:
        reason = _reason(record, stderr, completed.returncode)
        if isinstance(program, str) and len(program.split()) > 1:
            reason += f"\nA command with arguments is a list: profile({program.split()!r})."
        raise CudaRunError(reason, command, completed.returncode, stderr, record)
    return dataclasses.replace(record, stdout=stdout, stderr=stderr)


def _checked_flags(flags: Sequence[str]) -> list[str]:
    """Returns the flags as a list.

    Raises `TypeError` for a string and `ValueError` for flags that `profile` itself passes.
    """
    if isinstance(flags, (str, bytes)):
        raise TypeError(f"flags is {flags!r}, but must be a list, such as flags={str(flags).split()!r}")
    for flag in flags:
        if flag.partition("=")[0] in RESERVED:
            raise ValueError(
                f"flags contains {flag}, but {', '.join(RESERVED)} are reserved: profile passes them itself"
            )
    return list(flags)


def is_source(name: StrPath) -> bool:
    """Returns true if cuda-run compiles a file of this name."""
    return PurePath(name).suffix in SOURCES


def _operands(program: StrPath | Sequence[StrPath], arguments: Sequence[object]) -> list[str]:
    """Returns the end of the command line: the files, and after `--` the program's arguments."""
    words = [program] if isinstance(program, (str, os.PathLike)) else list(program)
    if not words:
        raise ValueError("the program is an empty list")
    names = [os.fspath(word) for word in words]
    values = [os.fspath(value) if isinstance(value, os.PathLike) else str(value) for value in arguments]
    sources = [is_source(name) for name in names]
    if all(sources):
        return [*names, *(["--", *values] if values else [])]
    if sources[0]:
        other = names[sources.index(False)]
        raise ValueError(
            f"{names[0]} is a source file, but {other!r} is not. "
            "Pass the arguments of the program after the list, and flags of the compiler with flags=[...]."
        )
    return ["--", *names, *values]


def _reason(record: Record | None, stderr: str, status: int) -> str:
    """Returns the reason for which the program was not run."""
    problems = record.errors if record else ()
    if problems:
        places = (f"{problem.location}: " if problem.location else "" for problem in problems)
        texts = [place + problem.headline for place, problem in zip(places, problems)]
        title = "The program could not be " + (
            "compiled" if any(problem.check == "compile" for problem in problems) else "run"
        )
        return "\n  ".join([f"{title}:", *texts])
    if status < 0:
        return f"cuda-run was ended by signal {-status}"
    return stderr.strip() or f"cuda-run failed with exit status {status}"
