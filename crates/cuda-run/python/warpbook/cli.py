"""The command `warpbook`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import warpbook
from warpbook import _native
from warpbook.errors import NativeError, RecordError, WarpbookError

#: The exit status of `compare` if a counter got worse.
WORSE = 1

#: The exit status if the command line is invalid or a file cannot be read.
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
    try:
        if words and words[0] in NATIVE:
            # The program has its own --help and its own --, so its arguments are not parsed here.
            execute(words[0], words[1:])
        if not words or words[0] in ("-h", "--help"):
            print(HELP, end="", file=sys.stdout if words else sys.stderr)
            return 0 if words else USAGE
        options = _parser().parse_args(words)
        return int(options.function(options))
    except RecordError as error:
        print(f"warpbook: error: {error}", file=sys.stderr)
        return USAGE
    except WarpbookError as error:
        print(f"warpbook: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the output, such as head, has exited. Python would report the same error again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def execute(subcommand: str, arguments: Sequence[str]) -> NoReturn:
    """Replaces this process with a native program, so that signals and the exit status are the program's."""
    name, alias = NATIVE[subcommand]
    path = _native.program(name)
    if subcommand == "exercises":
        # The words with which its messages tell the user to run it again.
        os.environ["WARPBOOK_COMMAND"] = "warpbook exercises"
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(path, [alias or str(path), *arguments])
    except OSError as error:
        raise NativeError(
            f"Cannot run {path}: {error.strerror}. Likely cause: the package is for another platform."
        ) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="warpbook", usage="warpbook COMMAND [ARGUMENTS]", add_help=False)
    parser.add_argument("--version", action="version", version=f"warpbook {warpbook.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, prog="warpbook")
    for name in NATIVE:
        commands.add_parser(name)

    env = commands.add_parser(
        "env",
        description="Creates a directory with links to the simulator and prints the variables that make programs find "
        "it instead of NVIDIA's driver, as KEY=VALUE lines.",
        epilog='warpbook env >> "$GITHUB_ENV"; env $(warpbook env) ./program; eval "$(warpbook env --shell)"',
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
    value = float(text.rstrip("%"))
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value


def _env(options: argparse.Namespace) -> int:
    from warpbook.environment import environment, lines

    variables = environment(options.dir)
    if not options.shell and any(letter.isspace() for letter in variables["PATH"]):
        # `env $(warpbook env)` would split the value. Only nvidia-smi is found through it.
        del variables["PATH"]
        print("warpbook: PATH contains blanks and is not printed; use --shell to print it quoted", file=sys.stderr)
    sys.stdout.write(lines(variables, options.shell))
    return 0


def _summary(options: argparse.Namespace) -> int:
    from warpbook.records import Record
    from warpbook.summary import markdown

    sys.stdout.write("\n".join(markdown(Record.load(file)) for file in options.records))
    return 0


def _compare(options: argparse.Namespace) -> int:
    from warpbook.compare import Baseline, compare
    from warpbook.records import Record

    record = Record.load(options.record)
    github = options.format == "github"
    if options.update:
        Baseline.of(record).save(options.baseline)
        print(f"{options.baseline}: written, {_plural(len(record.kernels), 'kernel')}")
        return 0
    result = compare(record, Baseline.load(options.baseline), options.tolerance)
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
