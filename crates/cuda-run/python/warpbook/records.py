"""Records: the kernels of a run with their counters, and everything that was found.

A record is parsed from the JSON that `warpbook run --json FILE` writes. Fields that this version does not know are
ignored; a record of another schema is an error.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, TypeVar

from warpbook.counters import Counted, ratio
from warpbook.errors import RecordError

#: The version of the schema that this module reads: docs/records/cuda-run.schema.json.
SCHEMA = 1

#: The names of resources in tables.
RESOURCES = {
    "arithmetic": "arithmetic",
    "issue": "instruction issue",
    "l1_shared": "L1 cache and shared memory",
    "constant_cache": "constant cache",
    "l2": "L2 cache",
    "memory": "device memory",
    "latency": "latency",
    "launch": "launching",
}

#: The severities of problems, the worst first.
SEVERITIES = ("error", "warning", "note")

_BLANKS = re.compile(r"\s*")

T = TypeVar("T")


@dataclass(frozen=True)
class Location:
    """A line of a source file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Gpu:
    """The GPU that a program ran on, or that the simulator modelled."""

    name: str
    #: Such as 9.0.
    compute_capability: str
    #: The newest CUDA version that the driver supports, such as 13.0.
    driver: str
    #: `modelled` on the simulator, `measured` on a GPU.
    time: str


@dataclass(frozen=True)
class Related:
    """Another line of a problem, such as the other access of a data race."""

    location: Location
    message: str


@dataclass(frozen=True)
class Problem:
    """A problem of a run: a finding, a fault, a failed call, an error of the compiler, and so on."""

    #: The rule, such as `read-after-write` or `compile-error`.
    kind: str
    #: The check that found it: `mem`, `init`, `race`, `sync`, `leak`, `host`, `stream`, `unused`, `compile`, `run`,
    #: `api`, `modules` or `results`.
    check: str
    #: `error`, `warning` or `note`.
    severity: str
    #: The text of the report. The first line states the problem.
    message: str
    #: Number of occurrences.
    count: int
    kernel: str | None = None
    location: Location | None = None
    #: The column of an error of the compiler, from 1.
    column: int | None = None
    related: tuple[Related, ...] = ()
    #: The kind of the likely cause, such as `missing-barrier`.
    cause: str | None = None

    @property
    def headline(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]

    def __str__(self) -> str:
        return f"{self.severity}: {self.check}: " + self.message.replace("\n", "\n  ")


@dataclass(frozen=True)
class Access:
    """The other access of a data race."""

    writes: bool
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    location: Location | None
    ptx_line: int


@dataclass(frozen=True)
class Finding:
    """A finding of a check, with the thread that caused it. `Record.problems` contains the same finding as text."""

    check: str
    kind: str
    #: `error` or `warning`.
    severity: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    ptx_line: int
    #: The object of the access, such as `4 bytes at offset 0x1fc of shared memory`.
    what: str
    #: The usual cause in words.
    usually: str
    #: Number of occurrences, per thread, in all launches.
    count: int
    kernel: str | None = None
    location: Location | None = None
    other: Access | None = None
    #: The kind of the likely cause, such as `missing-barrier`.
    cause: str | None = None


@dataclass(frozen=True)
class FailedCall:
    """The calls of one function of the CUDA API that failed with one error at one line."""

    #: `error` if the program ignored the error, otherwise `note`.
    severity: str
    function: str
    #: The name of the error in C.
    error: str
    #: The description of the error.
    meaning: str
    calls: int
    #: Number of these calls whose error the program did not fetch.
    ignored: int
    #: True if programs make the call to find out whether it fails.
    expected: bool
    kernel: str | None = None
    location: Location | None = None
    #: The reason in terms of the arguments, with the next step.
    reason: str | None = None
    #: The kind of the reason, such as `empty-launch`.
    reason_kind: str | None = None


@dataclass(frozen=True)
class LibraryCalls:
    """The calls of a function of a library such as cuBLAS, whose results are computed without simulation."""

    function: str
    calls: int
    #: Total time in milliseconds, estimated from the bytes and the arithmetic operations.
    estimated_ms: float


@dataclass(frozen=True)
class Range:
    """The NVTX ranges of one name and domain."""

    name: str
    count: int
    #: Total time on the host.
    milliseconds: float
    domain: str | None = None
    #: Number of launches requested between start and end; `None` on a GPU.
    launches: int | None = None


@dataclass(frozen=True)
class Occupancy:
    """The warps that a streaming multiprocessor (SM) holds at the same time."""

    #: Blocks per SM.
    blocks: int
    #: Warps per SM.
    warps: int
    #: The maximum number of warps per SM.
    max_warps: int
    #: The resource that prevents another block: `threads`, `blocks`, `shared_memory`, `registers` or `grid`.
    limit: str

    @property
    def fraction(self) -> float:
        """Warps per SM as a fraction of the maximum, from 0 to 1."""
        return self.warps / self.max_warps


@dataclass(frozen=True)
class Roofline:
    """The work of a kernel and the peak rates of the GPU."""

    #: Floating-point operations; a fused multiply-add counts as two.
    operations: float
    #: Bytes transferred to and from device memory.
    bytes: float
    #: Operations per second.
    peak_operations: float
    #: Bytes per second.
    peak_bandwidth: float

    @property
    def intensity(self) -> float:
        """Arithmetic intensity in operations per byte; 0 without traffic."""
        return ratio(self.operations, self.bytes)


@dataclass(frozen=True)
class Line(Counted):
    """The counters of a source line."""

    #: The file; empty if there is no line information.
    file: str
    #: The number of the line; 0 for code that the compiler added.
    line: int
    counters: Mapping[str, int] = field(repr=False)

    def __str__(self) -> str:
        return f"line {self.file}:{self.line}"


@dataclass(frozen=True)
class Kernel(Counted):
    """A kernel with the sums of all its launches."""

    #: The name in the source; with its parameters if several kernels have that name.
    name: str
    launches: int
    #: Blocks in x, y and z, and threads per block, of the first launch.
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    #: Total time of all launches: modelled on the simulator, measured on a GPU.
    milliseconds: float
    #: All counters by their names in Nsight Compute; empty on a GPU.
    counters: Mapping[str, int] = field(default_factory=dict, repr=False)
    #: True if the time was measured on a GPU.
    measured: bool = False
    #: True if the grids or blocks of the launches differ.
    varied: bool = False
    #: Number of launches that kernels made (dynamic parallelism).
    by_kernels: int = 0
    #: The resource that takes longest: `arithmetic`, `issue`, `l1_shared`, `constant_cache`, `l2`, `memory`, `latency`
    #: or `launch`; `None` on a GPU.
    bound_by: str | None = None
    #: Milliseconds for which each resource is busy. They overlap, so their sum exceeds the time.
    busy: Mapping[str, float] = field(default_factory=dict, repr=False)
    #: `None` on a GPU.
    occupancy: Occupancy | None = field(default=None, repr=False)
    #: `None` on a GPU.
    roofline: Roofline | None = field(default=None, repr=False)
    #: The counters per source line, with `lines=True` or `--profile=lines`.
    lines: tuple[Line, ...] = field(default=(), repr=False)

    @property
    def milliseconds_per_launch(self) -> float:
        """Mean time of a launch in milliseconds."""
        return self.milliseconds / self.launches

    @property
    def blocks(self) -> int:
        """Number of blocks of the first launch."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads_per_block(self) -> int:
        """Number of threads per block of the first launch."""
        return self.block[0] * self.block[1] * self.block[2]

    def __str__(self) -> str:
        return f"kernel {self.name}"


@dataclass(frozen=True, repr=False)
class Record:
    """A run of a program: its kernels with their counters, and its problems."""

    #: The source files, or the program.
    program: tuple[str, ...]
    #: The arguments of the program.
    arguments: tuple[str, ...] = ()
    #: `None` if CUDA was not used.
    gpu: Gpu | None = None
    #: The exit status as in a shell: 128 and the number of a signal, 124 at the time limit. `None` if it is not known.
    status: int | None = None
    #: The reason for which the program did not exit by itself.
    ended: str | None = None
    #: The kernels in the order of their first launches.
    kernels: tuple[Kernel, ...] = ()
    #: All problems, errors first.
    problems: tuple[Problem, ...] = ()
    #: The checks that were on.
    checks: tuple[str, ...] = ()
    #: The findings of the checks; `problems` contains them too.
    findings: tuple[Finding, ...] = ()
    #: The messages of launches that failed; `problems` contains them too.
    faults: tuple[str, ...] = ()
    failed_calls: tuple[FailedCall, ...] = ()
    #: The results that differ from the launch plan.
    wrong: tuple[str, ...] = ()
    #: The reasons for which modules were rejected.
    refused: tuple[str, ...] = ()
    library_calls: tuple[LibraryCalls, ...] = ()
    #: The functions of the driver that were called and that the simulator does not implement.
    not_simulated: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()
    #: The standard output of the program, if `warpbook.profile` ran it.
    stdout: str = field(default="", compare=False)
    #: The standard error of the program, if `warpbook.profile` ran it.
    stderr: str = field(default="", compare=False)

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "the record") -> Record:
        """Parses a record. `source` names its origin in errors.

        Raises `RecordError` if the text is not a record of this schema.
        """
        return _parse(parse_json(text, source), source)

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Record:
        """Reads a file that `warpbook run --json FILE` wrote, or that contains a line per process (`CUDA_SIM_JSON`).

        Raises `RecordError` if it cannot be read or is not a record.
        """
        return merge(load_records(file))

    def kernel(self, name: str) -> Kernel:
        """Returns the kernel with this name. The parameters of a template can be omitted if only one kernel matches.

        Raises `RecordError` if there is no such kernel, or more than one.
        """
        exact = [kernel for kernel in self.kernels if kernel.name == name]
        matching = exact or [kernel for kernel in self.kernels if _base_name(kernel.name) == name]
        if len(matching) == 1:
            return matching[0]
        names = [kernel.name for kernel in matching or self.kernels]
        if matching:
            raise RecordError(f"{len(matching)} kernels are called {name}. Name one of them: {', '.join(names)}.")
        if not names:
            raise RecordError(f"No kernel was launched, so there is no kernel {name}.")
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise RecordError(f"There is no kernel {name}.{hint} The kernels are {', '.join(names)}.")

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems of severity `error`."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems of severity `warning`."""
        return tuple(problem for problem in self.problems if problem.severity == "warning")

    @property
    def ok(self) -> bool:
        """True if the program succeeded and there is no problem of severity `error`."""
        return self.status in (0, None) and not self.errors

    @property
    def milliseconds(self) -> float:
        """Total time of all kernels."""
        return sum(kernel.milliseconds for kernel in self.kernels)

    def __repr__(self) -> str:
        from warpbook.summary import headline

        return f"<Record of {headline(self)}>"

    def __str__(self) -> str:
        from warpbook.summary import text

        return text(self)

    def _repr_markdown_(self) -> str:
        from warpbook.summary import markdown

        return markdown(self)


def load_records(file: str | os.PathLike[str]) -> list[Record]:
    """Reads the records of a file: one, or one per line, as several processes write with `CUDA_SIM_JSON`.

    Raises `RecordError` if the file cannot be read or contains something else.
    """
    source = os.fspath(file)
    try:
        content = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecordError(f"Cannot read {source}: {getattr(error, 'strerror', None) or error}.") from None
    decoder = json.JSONDecoder(parse_constant=_reject_constant)
    records = []
    # A slice per record would make the time quadratic in the size of the file.
    position = _skip_blanks(content, 0)
    while position < len(content):
        try:
            data, position = decoder.raw_decode(content, position)
        except RecursionError:
            raise RecordError(f"{source} is not a record: its values are nested too deeply.") from None
        except ValueError as error:
            raise RecordError(
                f"{source} is not a record: {error}. Write one with warpbook run --json FILE.json."
            ) from None
        records.append(_parse(data, source))
        position = _skip_blanks(content, position)
    if not records:
        raise RecordError(f"{source} is empty. Likely cause: the program launched no kernel.")
    return records


def _skip_blanks(text: str, position: int) -> int:
    """Returns the position of the next character that is not blank, or the length of the text."""
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def merge(records: Iterable[Record]) -> Record:
    """Returns one record for several, such as those of several processes.

    Kernels of the same name are added up. The program and its status are those of the first record; raises
    `ValueError` if there is none.
    """
    records = list(records)
    if not records:
        raise ValueError("there are no records to merge")
    if len(records) == 1:
        return records[0]
    first = records[0]
    kernels: dict[tuple[str, bool], Kernel] = {}
    for kernel in (kernel for record in records for kernel in record.kernels):
        key = (kernel.name, kernel.measured)
        kernels[key] = _add_kernels(kernels[key], kernel) if key in kernels else kernel
    problems = _merge_counted(problem for record in records for problem in record.problems)
    problems.sort(key=lambda problem: SEVERITIES.index(problem.severity))
    return dataclasses.replace(
        first,
        gpu=next((record.gpu for record in records if record.gpu), None),
        kernels=tuple(kernels.values()),
        problems=tuple(problems),
        checks=_unique(check for record in records for check in record.checks),
        findings=tuple(_merge_counted(finding for record in records for finding in record.findings)),
        faults=tuple(fault for record in records for fault in record.faults),
        failed_calls=tuple(call for record in records for call in record.failed_calls),
        wrong=tuple(text for record in records for text in record.wrong),
        refused=_unique(reason for record in records for reason in record.refused),
        library_calls=tuple(calls for record in records for calls in record.library_calls),
        not_simulated=_unique(name for record in records for name in record.not_simulated),
        ranges=tuple(range_ for record in records for range_ in record.ranges),
        stdout="".join(record.stdout for record in records),
        stderr="".join(record.stderr for record in records),
    )


def _add_kernels(first: Kernel, second: Kernel) -> Kernel:
    busy = _sum(first.busy, second.busy)
    lines: dict[tuple[str, int], Line] = {(line.file, line.line): line for line in first.lines}
    for line in second.lines:
        known = lines.get((line.file, line.line))
        counters = _sum(known.counters, line.counters) if known else line.counters
        lines[line.file, line.line] = Line(line.file, line.line, counters)
    roofline = first.roofline
    if roofline and second.roofline:
        roofline = dataclasses.replace(
            roofline,
            operations=roofline.operations + second.roofline.operations,
            bytes=roofline.bytes + second.roofline.bytes,
        )
    return dataclasses.replace(
        first,
        launches=first.launches + second.launches,
        by_kernels=first.by_kernels + second.by_kernels,
        varied=first.varied or second.varied or (first.grid, first.block) != (second.grid, second.block),
        milliseconds=first.milliseconds + second.milliseconds,
        counters=_sum(first.counters, second.counters),
        busy=busy,
        bound_by=max(busy, key=lambda resource: busy[resource]) if busy else first.bound_by,
        roofline=roofline,
        lines=tuple(lines.values()),
    )


Number = TypeVar("Number", int, float)


def _sum(first: Mapping[str, Number], second: Mapping[str, Number]) -> dict[str, Number]:
    total = dict(first)
    for name, value in second.items():
        total[name] = total[name] + value if name in total else value
    return total


Counting = TypeVar("Counting", Problem, Finding)


def _merge_counted(entries: Iterable[Counting]) -> list[Counting]:
    """Adds up the entries that differ only in their count. The text of a problem contains the count of its record."""
    merged: dict[Counting, int] = {}
    for entry in entries:
        key = dataclasses.replace(entry, count=1)
        merged[key] = merged.get(key, 0) + entry.count
    return [dataclasses.replace(entry, count=total) for entry, total in merged.items()]


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _base_name(name: str) -> str:
    """Returns the name of a kernel without its namespace, template arguments and parameters."""
    for bracket in "<(":
        name = name.partition(bracket)[0]
    return name.rpartition("::")[2]


class _InvalidError(ValueError):
    """A value of a record that the schema does not allow."""


class JsonValue:
    """A value of a parsed JSON text, with its place for messages, such as `kernels[0].launches`."""

    def __init__(self, value: Any, place: str = "") -> None:
        self.value = value
        self.place = place

    def __getitem__(self, name: str) -> JsonValue:
        """Returns a required field of an object."""
        field = self.optional(name)
        if field is None:
            # A field may be required and null, as `counters` is.
            if name in self.value:
                return JsonValue(None, self._place_of(name))
            raise _InvalidError(f"{self.place or 'it'}: the field {name!r} is missing")
        return field

    def optional(self, name: str) -> JsonValue | None:
        """Returns a field of an object; `None` if it is missing or null."""
        value = self.object().get(name)
        return None if value is None else JsonValue(value, self._place_of(name))

    def object(self) -> Mapping[str, Any]:
        if not isinstance(self.value, dict):
            raise self.invalid("an object")
        return self.value

    def items(self) -> list[JsonValue]:
        if not isinstance(self.value, list):
            raise self.invalid("a list")
        return [JsonValue(value, f"{self.place}[{index}]") for index, value in enumerate(self.value)]

    def string(self) -> str:
        if not isinstance(self.value, str):
            raise self.invalid("a string")
        return self.value

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.invalid("true or false")
        return self.value

    def integer(self, minimum: int = 0) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not minimum <= self.value < 1 << 64:
            raise self.invalid(f"an integer of 64 bits and at least {minimum}")
        return self.value

    def number(self) -> float:
        # The limit excludes infinity, such as the result of 1e999, and integers that no float can represent.
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool) or not 0 <= self.value < 1e300:
            raise self.invalid("a number of at least 0")
        return float(self.value)

    def strings(self) -> tuple[str, ...]:
        return tuple(item.string() for item in self.items())

    def integers(self) -> dict[str, int]:
        """Returns an object of integers, such as the counters."""
        return {name: self[name].integer() for name in self.object()}

    def numbers(self) -> dict[str, float]:
        """Returns an object of numbers."""
        return {name: self[name].number() for name in self.object()}

    def triple(self, minimum: int = 0) -> tuple[int, int, int]:
        values = self.items()
        if len(values) != 3:
            raise self.invalid("a list of three integers")
        x, y, z = (value.integer(minimum) for value in values)
        return (x, y, z)

    def invalid(self, expected: str) -> _InvalidError:
        shown = json.dumps(self.value)
        shown = shown if len(shown) <= 40 else f"{shown[:39]}…"
        return _InvalidError(f"{self.place or 'it'} is {shown}, but must be {expected}")

    def _place_of(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name


def parse_json(text: str | bytes, source: str) -> Any:
    """Parses a JSON text.

    Raises `RecordError` if the text is not JSON.
    """
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except RecursionError:
        raise RecordError(f"{source} is not a record: its values are nested too deeply.") from None
    except ValueError as error:
        raise RecordError(f"{source} is not JSON: {error}.") from None


def parse_fields(parse: Callable[[JsonValue], T], data: Any, kind: str) -> T:
    """Returns the result of a parser of JSON values. `kind` is the beginning of messages, such as `x is no record`.

    Raises `RecordError` if a field is missing or of another type.
    """
    try:
        return parse(JsonValue(data))
    except _InvalidError as error:
        raise RecordError(f"{kind}: {error}.") from None


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _parse(data: Any, source: str) -> Record:
    if not isinstance(data, dict) or "schema" not in data:
        raise RecordError(f"{source} is not a record of Warpbook: it has no schema number.")
    if data["schema"] != SCHEMA:
        raise RecordError(
            f"{source} has schema {data['schema']!r}, but this version reads schema {SCHEMA}. Likely cause: another "
            "version of Warpbook wrote it. Use the same version for both."
        )
    return parse_fields(_record, data, f"{source} is not a record of cuda-run")


def _record(data: JsonValue) -> Record:
    check = data.optional("check") or JsonValue({"checks": [], "findings": []})
    status = data.optional("status")
    return Record(
        program=data["program"].strings(),
        arguments=data["arguments"].strings(),
        gpu=_optional(_gpu, data, "gpu"),
        status=status.integer() if status else None,
        ended=_string(data, "ended"),
        kernels=(*(_kernel(kernel) for kernel in data["kernels"].items()), *_all(_measured, data, "measured")),
        problems=_all(_problem, data, "problems"),
        checks=check["checks"].strings(),
        findings=tuple(_finding(finding) for finding in check["findings"].items()),
        faults=data["faults"].strings(),
        failed_calls=_all(_failed_call, data, "failed_calls"),
        wrong=_all(JsonValue.string, data, "wrong"),
        refused=_all(JsonValue.string, data, "refused"),
        library_calls=_all(_library_calls, data, "library_calls"),
        not_simulated=_all(JsonValue.string, data, "not_simulated"),
        ranges=_all(_range, data, "ranges"),
    )


def _gpu(data: JsonValue) -> Gpu:
    names = ("name", "compute_capability", "driver", "time")
    return Gpu(*(data[name].string() for name in names))


def _kernel(data: JsonValue) -> Kernel:
    launch, model = data["launch"], data["model"]
    occupancy, roofline = model["occupancy"], model["roofline"]
    counters, by_kernels = data["counters"], data.optional("by_kernels")
    rates = ("operations", "bytes", "peak_operations", "peak_bandwidth")
    return Kernel(
        name=data["kernel"].string(),
        launches=data["launches"].integer(1),
        grid=launch["grid"].triple(),
        block=launch["block"].triple(),
        milliseconds=model["milliseconds"].number(),
        counters={} if counters.value is None else counters.integers(),
        varied=data["varied"].boolean(),
        by_kernels=by_kernels.integer() if by_kernels else 0,
        bound_by=model["binding"].string(),
        busy={part["resource"].string(): part["milliseconds"].number() for part in model["parts"].items()},
        occupancy=Occupancy(
            blocks=occupancy["blocks"].integer(),
            warps=occupancy["warps"].integer(),
            max_warps=occupancy["most_warps"].integer(1),
            limit=occupancy["limit"].string(),
        ),
        roofline=Roofline(*(roofline[name].number() for name in rates)),
        lines=_all(_line, data, "lines"),
    )


def _line(data: JsonValue) -> Line:
    return Line(data["file"].string(), data["line"].integer(), data["counters"].integers())


def _measured(data: JsonValue) -> Kernel:
    return Kernel(
        name=data["kernel"].string(),
        launches=data["launches"].integer(1),
        grid=data["grid"].triple(),
        block=data["block"].triple(),
        milliseconds=data["milliseconds"].number(),
        measured=True,
        varied=data["varied"].boolean(),
    )


def _severity(data: JsonValue) -> str:
    severity = data["severity"]
    if severity.string() not in SEVERITIES:
        raise severity.invalid(f"one of {', '.join(SEVERITIES)}")
    return severity.string()


def _problem(data: JsonValue) -> Problem:
    column = data.optional("column")
    return Problem(
        kind=data["kind"].string(),
        check=data["check"].string(),
        severity=_severity(data),
        message=data["message"].string(),
        count=data["count"].integer(),
        kernel=_string(data, "kernel"),
        location=_optional(_location, data, "location"),
        column=column.integer() if column else None,
        related=_all(lambda line: Related(_location(line), line["message"].string()), data, "related"),
        cause=_string(data, "cause"),
    )


def _finding(data: JsonValue) -> Finding:
    return Finding(
        check=data["check"].string(),
        kind=data["kind"].string(),
        severity=_severity(data),
        block=data["block"].triple(),
        thread=data["thread"].triple(),
        ptx_line=data["ptx_line"].integer(),
        what=data["what"].string(),
        usually=data["usually"].string(),
        count=data["count"].integer(),
        kernel=_string(data, "kernel"),
        location=_source_line(data),
        other=_optional(_access, data, "other"),
        cause=_string(data, "cause"),
    )


def _access(data: JsonValue) -> Access:
    return Access(
        data["writes"].boolean(),
        data["block"].triple(),
        data["thread"].triple(),
        _source_line(data),
        data["ptx_line"].integer(),
    )


def _failed_call(data: JsonValue) -> FailedCall:
    return FailedCall(
        severity=_severity(data),
        function=data["function"].string(),
        error=data["error"].string(),
        meaning=data["meaning"].string(),
        calls=data["calls"].integer(),
        ignored=data["ignored"].integer(),
        expected=data["expected"].boolean(),
        kernel=_string(data, "kernel"),
        location=_optional(_location, data, "location"),
        reason=_string(data, "reason_text"),
        reason_kind=_string(data, "reason_kind"),
    )


def _library_calls(data: JsonValue) -> LibraryCalls:
    return LibraryCalls(data["function"].string(), data["calls"].integer(), data["estimated_ms"].number())


def _range(data: JsonValue) -> Range:
    launches = data.optional("launches")
    return Range(
        data["name"].string(),
        data["count"].integer(),
        data["milliseconds"].number(),
        _string(data, "domain"),
        launches.integer() if launches else None,
    )


def _location(data: JsonValue) -> Location:
    return Location(data["file"].string(), data["line"].integer())


def _source_line(data: JsonValue) -> Location | None:
    return _location(data) if data.object().get("file") and data.object().get("line") else None


def _string(data: JsonValue, name: str) -> str | None:
    return _optional(JsonValue.string, data, name)


def _optional(parse: Callable[[JsonValue], T], data: JsonValue, name: str) -> T | None:
    value = data.optional(name)
    return None if value is None else parse(value)


def _all(parse: Callable[[JsonValue], T], data: JsonValue, name: str) -> tuple[T, ...]:
    """Returns the entries of an optional list."""
    rows = data.optional(name)
    return tuple(parse(row) for row in rows.items()) if rows else ()
