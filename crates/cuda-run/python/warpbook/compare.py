"""Comparison of a record with a baseline: the counters of each kernel that got worse.

A baseline is a small JSON file that belongs into version control. It contains the sums over all launches of the
counters that are not 0, by the names of the attributes of `warpbook.Kernel`:

    {
      "schema": 1,
      "gpu": "NVIDIA H200",
      "kernels": {
        "add": {
          "global_load_requests": 256,
          "global_load_sectors": 1024,
          "launches": 1,
          "milliseconds": 0.00251
        }
      }
    }
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from warpbook.counters import COUNTERS
from warpbook.errors import RecordError
from warpbook.records import JsonValue, Kernel, Record, parse_fields, parse_json
from warpbook.summary import milliseconds, number, program

#: The version of the format of baselines.
SCHEMA = 1

#: Counters that follow from others, or of which more is better.
NOT_COMPARED = {
    "global_load_l1_hits",
    "constant_hits",
    "shared_load_instructions",
    "shared_store_instructions",
    "matrix_load_requests",
    "async_copy_requests",
    "tensor_instructions",
    "branches",
    "thread_instructions",
}

# Sectors, and the requests that they belong to. More sectors per request are less coalesced accesses.
SECTORS = {
    "global_load_sectors": ("global_load_requests", "global load sectors per request"),
    "global_store_sectors": ("global_store_requests", "global store sectors per request"),
    "local_load_sectors": ("local_load_requests", "local load sectors per request"),
    "local_store_sectors": ("local_store_requests", "local store sectors per request"),
    "global_atomic_sectors": ("global_atomic_requests", "global atomic sectors per request"),
    "global_reduction_sectors": ("global_reduction_requests", "global reduction sectors per request"),
}

Counters = Mapping[str, float]


@dataclass(frozen=True)
class Change:
    """A counter of a kernel that differs from the baseline by more than the tolerance."""

    kernel: str
    #: The counter as reports name it, per launch.
    counter: str
    before: float
    after: float

    @property
    def is_worse(self) -> bool:
        """True if the counter rose: all compared counters are costs."""
        return self.after > self.before

    def __str__(self) -> str:
        show = milliseconds if self.counter.startswith("modelled time") else number
        verb = "rose" if self.is_worse else "fell"
        return f"{self.kernel}: {self.counter} {verb} from {show(self.before)} to {show(self.after)}"


@dataclass(frozen=True)
class Comparison:
    """The differences between a record and a baseline."""

    changes: tuple[Change, ...]
    #: Kernels of the record that are not in the baseline.
    new: tuple[str, ...]
    #: Kernels of the baseline that were not launched.
    missing: tuple[str, ...]

    @property
    def regressions(self) -> tuple[Change, ...]:
        """The counters that got worse."""
        return tuple(change for change in self.changes if change.is_worse)

    @property
    def improvements(self) -> tuple[Change, ...]:
        """The counters that got better."""
        return tuple(change for change in self.changes if not change.is_worse)


@dataclass(frozen=True)
class Baseline:
    """The counters of each kernel, to compare later runs with."""

    gpu: str
    kernels: Mapping[str, Counters]

    @classmethod
    def of(cls, record: Record, name: str | None = None) -> Baseline:
        """Creates a baseline of a record. `name` names the record in errors; by default its program.

        Raises `RecordError` if the record has no counters, as on a GPU.
        """
        kernels = {kernel.name: _counters(kernel) for kernel in record.kernels if kernel.counters}
        if not kernels:
            raise RecordError(
                f"{name or 'The record of ' + program(record)} contains no counters. Likely cause: the program launched no kernel, or it ran "
                "on a GPU, where only the time is measured. Run it on the simulator."
            )
        return cls(record.gpu.name if record.gpu else "", kernels)

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Baseline:
        """Reads a baseline.

        Raises `RecordError` if the file cannot be read or is not a baseline.
        """
        name = os.fspath(file)
        try:
            text = Path(file).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise RecordError(f"There is no baseline {name}. Write one with --update.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise RecordError(f"Cannot read the baseline {name}: {error}.") from None
        data = parse_json(text, f"The baseline {name}")
        if not isinstance(data, dict) or not isinstance(data.get("kernels"), dict) or data.get("schema") != SCHEMA:
            raise RecordError(f"{name} is not a baseline of schema {SCHEMA}. Write a new one with --update.")
        if not data["kernels"]:
            raise RecordError(f"{name} contains no kernel. Write a new baseline with --update.")
        return parse_fields(cls._parse, data, f"{name} is not a baseline")

    @classmethod
    def _parse(cls, data: JsonValue) -> Baseline:
        gpu, kernels = data.optional("gpu"), data["kernels"]
        for kernel in (kernels[name] for name in kernels.object()):
            launches = kernel.optional("launches")
            if launches is not None:
                launches.integer(1)
        return cls(gpu.string() if gpu else "", {name: kernels[name].numbers() for name in kernels.object()})

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the baseline, sorted, with a line per counter. A symbolic link stays, and its target is replaced.

        The file is replaced at once, so that an error does not destroy the old baseline.

        Raises `RecordError` if the file cannot be written.
        """
        data = {"schema": SCHEMA, "gpu": self.gpu, "kernels": self.kernels}
        text = json.dumps(data, indent=2, sort_keys=False, ensure_ascii=False) + "\n"
        target = os.path.realpath(file)
        temporary = None
        try:
            mode = _mode(target)
            if os.path.exists(target) and not os.path.isfile(target):
                # A pipe or a device, such as /dev/stdout, cannot be replaced.
                Path(file).write_text(text, encoding="utf-8")
                return
            if os.path.exists(target) and not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=os.path.dirname(target), prefix=".baseline-", delete=False
            ) as stream:
                temporary = stream.name
                stream.write(text)
                os.fchmod(stream.fileno(), mode)
            os.replace(temporary, target)
            temporary = None
        except OSError as error:
            raise RecordError(f"Cannot write the baseline {os.fspath(file)}: {error.strerror}.") from None
        finally:
            if temporary is not None:
                os.unlink(temporary)


def _mode(file: str) -> int:
    """Returns the permissions of a file; of a new file, if it does not exist."""
    if os.path.exists(file):
        return stat.S_IMODE(os.stat(file).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def compare(record: Record, baseline: Baseline, tolerance: float = 0, name: str | None = None) -> Comparison:
    """Compares the counters per launch of each kernel. Differences up to `tolerance` percent are ignored.

    `name` names the record in errors.

    Raises `RecordError` if the record is of another GPU or has no counters, or if no kernel of the baseline was
    launched.
    """
    current = Baseline.of(record, name)
    if baseline.gpu and baseline.gpu != current.gpu:
        raise RecordError(
            f"The baseline is of the {baseline.gpu}, the record of the {current.gpu}: their counters differ. "
            "Choose the same GPU with --device, or write a new baseline with --update."
        )
    common = [name for name in current.kernels if name in baseline.kernels]
    if not common:
        raise RecordError(
            f"No kernel of the baseline was launched: it contains {', '.join(sorted(baseline.kernels))}, "
            f"the record {', '.join(current.kernels)}. If the kernels were renamed, write a new baseline with --update."
        )
    changes = [
        change for name in common for change in _changes(name, baseline.kernels[name], current.kernels[name], tolerance)
    ]
    return Comparison(
        tuple(changes),
        new=tuple(name for name in current.kernels if name not in baseline.kernels),
        missing=tuple(name for name in baseline.kernels if name not in current.kernels),
    )


def _counters(kernel: Kernel) -> dict[str, float]:
    values: dict[str, float] = {"launches": kernel.launches, "milliseconds": float(f"{kernel.milliseconds:.6g}")}
    for name, counter in COUNTERS.items():
        if name not in NOT_COMPARED and kernel.counters.get(counter.metric):
            values[name] = kernel.counters[counter.metric]
    return dict(sorted(values.items()))


def _changes(kernel: str, before: Counters, after: Counters, tolerance: float) -> list[Change]:
    """Returns the changes of a kernel. A ratio explains more than a sum, so it is reported instead of the sum."""
    launches = (before.get("launches", 1), after.get("launches", 1))

    def per_launch(name: str) -> tuple[float, float]:
        return (before.get(name, 0) / launches[0], after.get(name, 0) / launches[1])

    def changed(values: tuple[float, float]) -> int:
        """Returns 1 if the second value is larger by more than the tolerance, -1 if it is smaller, otherwise 0."""
        old, new = values
        if abs(new - old) <= max(abs(old) * tolerance / 100, 1e-9 * abs(old)):
            return 0
        return 1 if new > old else -1

    changes = []
    if changed(launches):
        changes.append(Change(kernel, "number of launches", *launches))
    for name, counter in COUNTERS.items():
        if name in NOT_COMPARED:
            continue
        values = per_launch(name)
        direction = changed(values)
        if not direction:
            continue
        if name in SECTORS:
            requests, label = SECTORS[name]
            old, new = per_launch(requests)
            if old and new:
                ratios = (values[0] / old, values[1] / new)
                if changed(ratios) == direction:
                    changes.append(Change(kernel, label, *ratios))
                    continue
            if changed((old, new)) == direction:
                # The number of requests is reported already, and the sectors follow from it.
                continue
        changes.append(Change(kernel, counter.label, *values))
    times = per_launch("milliseconds")
    if changed(times):
        changes.append(Change(kernel, "modelled time in ms", *times))
    return changes
