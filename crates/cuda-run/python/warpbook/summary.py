"""Records as text and as Markdown, for terminals, notebooks and `$GITHUB_STEP_SUMMARY`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath
from typing import Callable

from warpbook.records import RESOURCES, Kernel, Problem, Record

#: The maximum length of a program with its arguments.
MAX_PROGRAM = 100


def headline(record: Record) -> str:
    """Returns the result of a run in one line, such as `add.cu: 1 kernel, 0.0025 ms modelled (NVIDIA H200)`."""
    count = len(record.kernels)
    parts = [f"{count} kernel{'' if count == 1 else 's'}" if count else "no kernels"]
    if record.kernels:
        clock = record.gpu.time if record.gpu else "modelled"
        name = f" ({record.gpu.name})" if record.gpu else ""
        parts.append(f"{milliseconds(record.milliseconds)} ms {clock}{name}")
    parts += problem_counts(record.problems)
    if record.status:
        parts.append(f"exit status {record.status}")
    return f"{program(record)}: {', '.join(parts)}"


def program(record: Record) -> str:
    """Returns the program and its arguments in one line, without the directories of its files."""
    names = [PurePath(name).name for name in record.program]
    line = " ".join(shlex.join([*names, *record.arguments]).split())
    return line if len(line) <= MAX_PROGRAM else line[: MAX_PROGRAM - 1] + "…"


def problem_counts(problems: Sequence[Problem]) -> list[str]:
    """Returns the numbers of errors and warnings, such as `1 error`; an empty list if there are none."""
    counts = []
    for severity in ("error", "warning"):
        number = sum(problem.severity == severity for problem in problems)
        if number:
            counts.append(f"{number} {severity}{'' if number == 1 else 's'}")
    return counts


def text(record: Record) -> str:
    """Returns the kernels and the problems of a record as text."""
    parts = [headline(record)]
    if record.kernels:
        parts.append(kernel_table(record.kernels, lambda name: name))
    parts += [str(problem) for problem in record.problems]
    return "\n\n".join(parts)


def markdown(record: Record, title: str | None = None) -> str:
    """Returns the kernels, the main counters and the problems of a record as Markdown.

    `title` is the headline; by default the program and its arguments.
    """
    name = _code(program(record)) if title is None else _escape(" ".join(title.split()))
    parts = [f"**{name}** {_result(record)}"]
    if not used_simulator(record):
        parts.append("No process launched a kernel on the simulator, so nothing was counted or checked.")
    if record.kernels:
        parts.append(kernel_table(record.kernels, _code))
        if record.gpu:
            parts.append(f"Times: {record.gpu.time}, {record.gpu.name}.")
    shown = [problem for problem in record.problems if problem.severity != "note"]
    if record.checks and record.kernels and not shown:
        parts.append(f"Checks ({', '.join(record.checks)}): no findings.")
    parts += [_problem(problem) for problem in shown]
    notes = [problem.headline for problem in record.problems if problem.severity == "note"]
    if notes:
        parts.append("\n".join(f"- {_escape(note)}" for note in notes))
    return "\n\n".join(parts) + "\n"


def used_simulator(record: Record) -> bool:
    """Returns true if a process has launched a kernel, or has used CUDA in another way that the record contains."""
    traces = (record.kernels, record.problems, record.library_calls, record.ranges, record.not_simulated)
    return any(traces)


def kernel_table(kernels: Sequence[Kernel], name: Callable[[str], str]) -> str:
    """Returns a table of kernels with their main counters. Columns that no kernel needs are omitted."""
    rows = [[cell(kernel) for _, cell, _ in COLUMNS] for kernel in kernels]
    needed = [
        index
        for index, (_, _, optional) in enumerate(COLUMNS)
        if not optional or any(row[index] not in ("", "0") for row in rows)
    ]
    header = ["kernel", *(COLUMNS[index][0] for index in needed)]
    body = [[name(kernel.name), *(row[index] or "–" for index in needed)] for kernel, row in zip(kernels, rows)]
    right = [False, *(COLUMNS[index][0] not in ("bound by",) for index in needed)]
    return table(header, body, right)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Returns a Markdown table with aligned columns. `right` selects the columns that are aligned to the right."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        aligned = (
            cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in zip(cells, widths, right)
        )
        return f"| {' | '.join(aligned)} |"

    rule = "|".join("-" * (width + 1) + (":" if to_right else "-") for width, to_right in zip(widths, right))
    return "\n".join([line(header), f"|{rule}|", *(line(row) for row in rows)])


def milliseconds(value: float) -> str:
    """Formats a time with four significant digits and without an exponent."""
    if value >= 1000:
        return f"{value:,.0f}"
    digits = 4
    shown = f"{value:.{digits}g}"
    return shown if "e" not in shown else f"{value:.{digits + 5}f}"


def number(value: float) -> str:
    """Formats a counter or a ratio: integers with separators, other numbers with two decimals at most."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _counted(value: Callable[[Kernel], float]) -> Callable[[Kernel], str]:
    """Returns the formatted counter of a kernel, or an empty string if the kernel has no counters."""
    return lambda kernel: number(value(kernel)) if kernel.counters else ""


# Header, value, and true if the column is omitted where all values are 0 or missing.
COLUMNS: Sequence[tuple[str, Callable[[Kernel], str], bool]] = (
    ("launches", lambda kernel: number(kernel.launches), False),
    ("blocks", lambda kernel: number(kernel.blocks), False),
    ("threads per block", lambda kernel: number(kernel.threads_per_block), False),
    ("sectors per load request", _counted(lambda kernel: kernel.sectors_per_load_request), True),
    ("sectors per store request", _counted(lambda kernel: kernel.sectors_per_store_request), True),
    ("bank conflicts", _counted(lambda kernel: kernel.bank_conflicts), True),
    ("constant requests", _counted(lambda kernel: kernel.constant_requests), True),
    ("local sectors", _counted(lambda kernel: kernel.local_sectors), True),
    ("divergent branches", _counted(lambda kernel: kernel.divergent_branches), True),
    ("ms total", lambda kernel: milliseconds(kernel.milliseconds), False),
    ("bound by", lambda kernel: RESOURCES.get(kernel.bound_by, kernel.bound_by) if kernel.bound_by else "", True),
)


def _result(record: Record) -> str:
    counts = problem_counts(record.problems)
    if not counts and not used_simulator(record):
        counts = ["no kernels"]
    parts = counts or ["no errors" if record.checks else "no errors, without checks"]
    if record.ended:
        parts.append(record.ended.rstrip("."))
    elif record.status:
        parts.append(f"exit status {record.status}")
    return ", ".join(parts)


def _problem(problem: Problem) -> str:
    place = f" at `{problem.location}`" if problem.location else ""
    kernel = f" in {_code(problem.kernel)}" if problem.kernel else ""
    title = f"**{problem.severity}: {problem.check}**{kernel}{place}"
    fence = "```"
    while fence in problem.message:
        fence += "`"
    return f"{title}\n\n{fence}text\n{problem.message}\n{fence}"


def _code(text: str) -> str:
    # In a table, GitHub splits cells at a vertical bar even in code.
    ticks = "``" if "`" in text else "`"
    return ticks + text.replace("|", "\\|").replace("\n", " ") + ticks


def _escape(text: str) -> str:
    return "".join("\\" + letter if letter in "\\`*_<>[]|" else letter for letter in text)
