"""The tables of the simulator's speed."""

import statistics

from .. import machine, tables
from ..chapters import CHAPTERS
from .modes import COUNTED, MODES


def machine_line(lines):
    return machine.line(lines[0])


def times(lines):
    """Returns the simulator's times in milliseconds."""
    header = ["kernel", "size", "thread instructions, M", *MODES, "dev", "baseline"]
    rows = []
    for record in named(lines, "work"):
        durations = [milliseconds(record, engine) for engine in [*MODES, "dev", "baseline"]]
        rows.append([record["work"], record["size"], millions(record), *durations])
    return table(header, rows)


def rates(lines):
    """Returns billions of thread instructions per second and core, and the speedup from a second core."""
    header = ["kernel", *MODES, *(f"{counted} 1 ÷ {counted} 2" for counted in COUNTED)]
    rows = []
    for record in named(lines, "work"):
        row = [record["work"]]
        for mode in MODES:
            threads = int(mode.split()[1])
            rate = record["thread_instructions"] / seconds(record, mode) / threads
            row.append(number(rate / 1e9, ".2f"))
        for counted in COUNTED:
            gain = seconds(record, f"{counted} 1") / seconds(record, f"{counted} 2")
            row.append(number(gain, ".2f"))
        rows.append(row)
    return table(header, rows)


def comparison(lines):
    """Returns the times of the simulator and the other engines in milliseconds, and of Numba in seconds."""
    header = ["kernel", "nothing 2", "everything 2", "plain Rust 1", "PoCL 1", "PoCL 2"]
    header += ["nothing 2 ÷ PoCL 2", "Numba, s", "scaled from"]
    rows = []
    for record in named(lines, "work"):
        engines = ["nothing 2", "everything 2", "plain", "pocl 1", "pocl 2"]
        row = [record["work"], *(milliseconds(record, engine) for engine in engines)]
        pocl, numba = seconds(record, "pocl 2"), seconds(record, "numba")
        row.append(number(pocl and seconds(record, "nothing 2") / pocl, ".2f"))
        if numba:
            scale = record["thread_instructions"] / record["scaled"]["thread_instructions"]
            row += [number(numba * scale), record["scaled"]["size"]]
        else:
            row += [number(None)] * 2
        rows.append(row)
    return table(header, rows)


def larger(lines):
    """Returns the cost of one, four and sixteen times the work."""
    header = ["kernel", "size", "thread instructions, M", "ms", "ms per thousand M"]
    rows = []
    for record in named(lines, "linear"):
        duration = statistics.median(record["seconds"])
        cost = duration / record["thread_instructions"] * 1e12
        rows.append(
            [record["linear"], record["size"], millions(record), number(duration * 1e3), number(cost)]
        )
    return table(header, rows)


def chapters(lines):
    """Returns the times of the chapters' programs from start to end."""
    header = ["chapter", "minimal arguments", "ms", "`--release`, ms", "default arguments, s"]
    rows = []
    for record in named(lines, "chapter"):
        name = record["chapter"]
        profiles = [record["tiny"][profile] for profile in ("dev", "release")]
        tiny = [number(statistics.median(samples) * 1e3) for samples in profiles]
        minimal = CHAPTERS[name].least
        arguments = f"`{minimal}`" if minimal else "none"
        rows.append([f"`{name}`", arguments, *tiny, number(statistics.median(record["default"]))])
    return table(header, rows)


def costs(lines):
    """Returns the cost of the checks: seconds with all of them and without, and the ratio."""
    header = ["chapter"]
    for clock in "CPU s", "elapsed s":
        header += [clock, "with `--check`", "ratio"]
    rows = []
    for record in named(lines, "checked"):
        row = [f"`{record['checked']}`"]
        for clock in "cpu", "elapsed":
            without, with_checks = (seconds(record, f"{clock} {engine}") for engine in ("without", "with"))
            row += [number(without), number(with_checks), number(with_checks / without, ".1f")]
        rows.append(row)
    return table(header, rows)


CHECK_TABLES = {"measured": machine_line, "costs": costs}
TABLES = {
    "machine": machine_line,
    "times": times,
    "rates": rates,
    "beside": comparison,
    "larger": larger,
    "chapters": chapters,
}


def named(lines, kind):
    return [line for line in lines[1:] if kind in line]


def seconds(record, engine):
    """Returns the median, or `None` if the engine was not measured."""
    samples = record["seconds"].get(engine)
    return samples and statistics.median(samples)


def milliseconds(record, engine):
    duration = seconds(record, engine)
    return number(duration and duration * 1e3)


def millions(record):
    return f"{record['thread_instructions'] / 1e6:.1f}"


def number(value, form="#.3g"):
    """Formats a number for a table, with three significant digits by default."""
    if value is None:
        return "–"
    return f"{value:.0f}" if form == "#.3g" and abs(value) >= 100 else format(value, form)


def table(header, rows):
    return tables.table(header, rows) if rows else ""
