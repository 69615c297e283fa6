"""The command `warpbook`."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import warpbook
from warpbook import _native
from warpbook.errors import NativeError, RecordError, WarpbookError

#: The exit status of `compare` if a counter got worse.
WORSE = 1

#: The exit status if the command line is invalid, or if a file or the output cannot be read or written.
USAGE = 2

# The native program of a subcommand, and the name under which it runs.
NATIVE = {"run": ("cuda-run", None), "exercises": ("exercises", None), "nvidia-smi": ("cuda-run", "nvidia-smi")}

HELP = """\
Runs CUDA programs without a GPU, on a simulator with profiler counters and memory checks.

    warpbook run add.cu                    compile a CUDA program with clang and run it
    warpbook run --check add.cu            also look for memory errors and data races
    warpbook run --profile add.cu          also report its memory accesses
    warpbook run -- python3 program.py     run any program that loads libcuda.so.1

Usage: warpbook COMMAND [ARGUMENTS]

Commands:
    run          compile and run a .cu file, or run any program on the simulator
    exercises    start the course, whose exercises are graded automatically
    nvidia-smi   list the simulated GPUs
    env          print the variables that make programs find the simulator
    summary      print records as Markdown
    compare      compare the counters of a record with a baseline

warpbook COMMAND --help describes a command; warpbook --version prints the version.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:
        # Closed by the caller, like 2>&-.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files and kernels may contain characters that the encoding of the terminal does not have.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            return _run(words)
        finally:
            # Otherwise Python would report a full disk after the end of this function, with a traceback.
            if sys.stdout is not None:
                sys.stdout.flush()
    except RecordError as error:
        _report(str(error))
        return USAGE
    except WarpbookError as error:
        _report(str(error))
        return 1
    except BrokenPipeError:
        # The reader of the output, such as head, has exited.
        _discard_output()
        return 1
    except OSError as error:
        _discard_output()
        _report(f"Cannot write to standard output: {error.strerror}.")
        return USAGE


def _run(words: list[str]) -> int:
    if words and words[0] in NATIVE:
        # The program has its own --help and its own --, so its arguments are not parsed here.
        execute(words[0], words[1:])
    if not words or words[0] in ("-h", "--help"):
        print(HELP, end="", file=sys.stdout if words else sys.stderr)
        return 0 if words else USAGE
    if words == ["--version"]:
        print(f"warpbook {warpbook.__version__}")
        return 0
    options = _parser().parse_args(words)
    return int(options.function(options))


def _report(message: str) -> None:
    with contextlib.suppress(OSError):
        print(f"warpbook: error: {message}", file=sys.stderr)


def _discard_output() -> None:
    """Discards the rest of the output. Python would try to write it again at exit."""
    if sys.stdout is None:
        return
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(text: str) -> None:
    """Writes a result to standard output. Names of files keep their bytes."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed")
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    else:
        sys.stdout.write(text)


def execute(subcommand: str, arguments: Sequence[str]) -> NoReturn:
    """Replaces this process with a native program, so that signals and the exit status are the program's."""
    name, alias = NATIVE[subcommand]
    path = _native.program(name)
    if subcommand == "exercises":
        # The words with which its messages tell the user to run it again.
        os.environ["WARPBOOK_COMMAND"] = "warpbook exercises"
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    try:
        os.execv(path, [alias or str(path), *arguments])
    except OSError as error:
        raise NativeError(
            f"Cannot run {path}: {error.strerror}. Likely cause: the package is for another platform."
        ) from None


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: Any = None) -> None:
        # argparse ignores the errors of its own function, such as a full disk.
        print(self.format_help(), end="", file=file)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="warpbook", usage="warpbook COMMAND [ARGUMENTS]", add_help=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog="warpbook")
    for name in NATIVE:
        commands.add_parser(name)

    env = commands.add_parser(
        "env",
        description="Creates a directory with links to the simulator and prints the variables that make programs find "
        "it instead of NVIDIA's driver. Lines of the form KEY=VALUE are for $GITHUB_ENV. A shell needs --shell, which "
        "quotes the values, because they may contain blanks.",
        epilog='warpbook env >> "$GITHUB_ENV"; eval "$(warpbook env --shell)"',
    )
    env.add_argument("--dir", type=Path, help="the directory to create; by default in the user's cache")
    env.add_argument("--shell", action="store_true", help="print export commands with quoted values for a shell")
    env.set_defaults(function=_env)

    summary = commands.add_parser(
        "summary",
        description="Prints a summary of records as Markdown: kernels, main counters, times and problems.",
        epilog='warpbook run --json add.json add.cu; warpbook summary add.json >> "$GITHUB_STEP_SUMMARY"',
    )
    summary.add_argument("records", nargs="+", metavar="RECORD.json", help="a file that warpbook run --json wrote")
    summary.add_argument(
        "--title", metavar="TEXT", help="the headline, instead of the program and its arguments; one line"
    )
    summary.add_argument(
        "--require-kernels", action="store_true", help="exit with the status 1 if the records contain no kernel"
    )
    summary.set_defaults(function=_summary)

    compare = commands.add_parser(
        "compare",
        description="Compares the counters of each kernel, per launch, with a baseline file. The exit status is 1 if a "
        "counter got worse, and 2 if the files cannot be compared.",
    )
    compare.add_argument("record", metavar="RECORD.json", help="a file that warpbook run --json wrote")
    compare.add_argument("baseline", metavar="BASELINE.json", help="the baseline, a file of the repository")
    compare.add_argument(
        "--tolerance",
        type=_percent,
        default=1,
        metavar="PERCENT",
        help="ignore differences up to this many percent (default: 1)",
    )
    compare.add_argument(
        "--format",
        choices=("text", "github"),
        default="text",
        help="github prints workflow commands of GitHub Actions, which become annotations (default: text)",
    )
    compare.add_argument("--update", action="store_true", help="write the baseline instead of failing")
    compare.set_defaults(function=_compare)
    return parser


def _percent(text: str) -> float:
    try:
        value = float(text.rstrip("%"))
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage of at least 0, such as 5 or 2.5%")
    return value


def _env(options: argparse.Namespace) -> int:
    from warpbook.environment import environment, lines

    _write(lines(environment(options.dir), options.shell))
    return 0


def _summary(options: argparse.Namespace) -> int:
    from warpbook.records import Record
    from warpbook.summary import markdown

    records = [Record.load(file) for file in options.records]
    titles = [options.title] * len(records)
    if options.title and len(records) > 1:
        titles = [f"{options.title} ({Path(file).name})" for file in options.records]
    # A string of JSON may contain half of a surrogate pair, which UTF-8 cannot represent.
    text = "\n".join(markdown(record, title) for record, title in zip(records, titles))
    _write(text.encode("utf-8", "backslashreplace").decode())
    if options.require_kernels and not any(record.kernels for record in records):
        _report(
            "The records contain no kernel. Likely cause: no process launched a kernel through libcuda.so.1, because "
            "the program skipped its GPU code or did not find the simulator."
        )
        return 1
    return 0


def _compare(options: argparse.Namespace) -> int:
    from warpbook.compare import Baseline, compare
    from warpbook.records import Record

    record = Record.load(options.record)
    github = options.format == "github"
    if options.update:
        Baseline.of(record, options.record).save(options.baseline)
        print(f"{options.baseline}: written, {_plural(len(record.kernels), 'kernel')}")
        return 0
    result = compare(record, Baseline.load(options.baseline), options.tolerance, options.record)
    for change in result.regressions:
        print(_annotation("error", "Counter got worse", str(change)) if github else f"worse: {change}")
    for change in result.improvements:
        print(_annotation("notice", "Counter got better", str(change)) if github else f"better: {change}")
    for name in result.missing:
        message = f"{name} is in the baseline but was not launched"
        print(_annotation("warning", "Kernel is missing", message) if github else f"missing: {message}")
    for name in result.new:
        message = f"{name} is not in the baseline; add it with --update"
        print(_annotation("notice", "New kernel", message) if github else f"new: {message}")
    if result.regressions:
        print(
            f"{_plural(len(result.regressions), 'counter')} got worse. "
            f"If this is intended: warpbook compare {options.record} {options.baseline} --update"
        )
        return WORSE
    print(f"No counter got worse: {_plural(len(record.kernels), 'kernel')}")
    return 0


def _annotation(level: str, title: str, message: str) -> str:
    """Formats a workflow command of GitHub Actions."""
    escaped = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{level} title={title}::{escaped}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
