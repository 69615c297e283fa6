"""The tables of how fast the simulator is."""

import statistics

from .. import machine, tables
from ..chapters import CHAPTERS
from .modes import COUNTED, MODES


def machine_line(lines):
    return machine.line(lines[0])


def times(lines):
    """The simulator alone, in milliseconds."""
    header = ["kernel", "size", "thread instructions, M", *MODES, "dev", "baseline"]
    rows = []
    for one in named(lines, "work"):
        taken = [milliseconds(one, turn) for turn in [*MODES, "dev", "baseline"]]
        rows.append([one["work"], one["size"], millions(one), *taken])
    return table(header, rows)


def rates(lines):
    """Billions of thread instructions a second and core, and what a second core is worth."""
    header = ["kernel", *MODES, *(f"{counted} 1 ÷ {counted} 2" for counted in COUNTED)]
    rows = []
    for one in named(lines, "work"):
        row = [one["work"]]
        for mode in MODES:
            threads = int(mode.split()[1])
            rate = one["thread_instructions"] / seconds(one, mode) / threads
            row.append(number(rate / 1e9, ".2f"))
        for counted in COUNTED:
            gain = seconds(one, f"{counted} 1") / seconds(one, f"{counted} 2")
            row.append(number(gain, ".2f"))
        rows.append(row)
    return table(header, rows)


def beside(lines):
    """The simulator and the others, in milliseconds; Numba in seconds."""
    header = ["kernel", "nothing 2", "everything 2", "plain Rust 1", "PoCL 1", "PoCL 2"]
    header += ["nothing 2 ÷ PoCL 2", "Numba, s", "scaled from"]
    rows = []
    for one in named(lines, "work"):
        turns = ["nothing 2", "everything 2", "plain", "pocl 1", "pocl 2"]
        row = [one["work"], *(milliseconds(one, turn) for turn in turns)]
        pocl, numba = seconds(one, "pocl 2"), seconds(one, "numba")
        row.append(number(pocl and seconds(one, "nothing 2") / pocl, ".2f"))
        if numba:
            scale = one["thread_instructions"] / one["scaled"]["thread_instructions"]
            row += [number(numba * scale), one["scaled"]["size"]]
        else:
            row += [number(None)] * 2
        rows.append(row)
    return table(header, rows)


def larger(lines):
    """One, four and sixteen times the work."""
    header = ["kernel", "size", "thread instructions, M", "ms", "ms a thousand M"]
    rows = []
    for one in named(lines, "linear"):
        taken = statistics.median(one["seconds"])
        cost = taken / one["thread_instructions"] * 1e12
        rows.append(
            [one["linear"], one["size"], millions(one), number(taken * 1e3), number(cost)]
        )
    return table(header, rows)


def chapters(lines):
    """The programs, from start to end."""
    header = ["chapter", "with little to do", "ms", "`--release`, ms", "by default, s"]
    rows = []
    for one in named(lines, "chapter"):
        name = one["chapter"]
        profiles = [one["tiny"][profile] for profile in ("dev", "release")]
        tiny = [number(statistics.median(samples) * 1e3) for samples in profiles]
        least = CHAPTERS[name].least
        arguments = f"`{least}`" if least else "as it is"
        rows.append([f"`{name}`", arguments, *tiny, number(statistics.median(one["default"]))])
    return table(header, rows)


def costs(lines):
    """What checks cost: seconds with all of them and without, and how many times as many."""
    header = ["chapter"]
    for what in "CPU s", "s from start to end":
        header += [what, "with `--check`", "times"]
    rows = []
    for one in named(lines, "checked"):
        row = [f"`{one['checked']}`"]
        for what in "cpu", "elapsed":
            without, with_checks = (seconds(one, f"{what} {turn}") for turn in ("without", "with"))
            row += [number(without), number(with_checks), number(with_checks / without, ".1f")]
        rows.append(row)
    return table(header, rows)


CHECK_TABLES = {"measured": machine_line, "costs": costs}
TABLES = {
    "machine": machine_line,
    "times": times,
    "rates": rates,
    "beside": beside,
    "larger": larger,
    "chapters": chapters,
}


def named(lines, kind):
    return [line for line in lines[1:] if kind in line]


def seconds(one, turn):
    """The median, None where nobody was asked."""
    samples = one["seconds"].get(turn)
    return samples and statistics.median(samples)


def milliseconds(one, turn):
    taken = seconds(one, turn)
    return number(taken and taken * 1e3)


def millions(one):
    return f"{one['thread_instructions'] / 1e6:.1f}"


def number(value, form="#.3g"):
    """Three digits, as a table shows them."""
    if value is None:
        return "–"
    return f"{value:.0f}" if form == "#.3g" and abs(value) >= 100 else format(value, form)


def table(header, rows):
    return tables.table(header, rows) if rows else ""
