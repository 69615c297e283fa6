"""The accuracy of the model: its times and rankings compared with a GPU's.

A ratio is the modelled time divided by the measured one. At large sizes a kernel's ratio must be within 25 %.
A size is large if the GPU took 20 µs or more, as it does for all of the notes' large sizes. Below that, much of
the measured time is launch overhead, and a ratio is only reported. Ratios of copies are only reported as well.

A ranking compares two kernels that their chapter compares, with the same inputs, and that differ in one
dimension: the variant, the access pattern, or the block. They are equally fast if their times are within 5 %
or their samples overlap. The model must rank the same kernel first, or place equally fast kernels within 10 %
of each other. Every disagreement is reported. It is an error if the GPU's result is unambiguous: at least one
kernel is large, and the two differ by a tenth or more.
"""

import itertools
import typing

MAX_ERROR = 0.25
LARGE_MS = 0.020
TIE = 0.05
MODELLED_TIE = 0.10
CLEAR = 0.10

# Fields that distinguish kernels that do the same work.
DIMENSIONS = ("variant", "pattern", "block")

RESOURCES = {
    "issue": "instruction issue",
    "l1_shared": "L1 cache and shared memory",
    "l2": "L2 cache",
    "memory": "device memory",
    "launch": "launching",
}


class Pair(typing.NamedTuple):
    """A result on the GPU and its counterpart on the simulator."""

    chapter: str
    arguments: str
    inputs: dict
    measured: dict
    modelled: dict

    @property
    def ratio(self):
        return self.modelled["median_ms"] / self.measured["median_ms"]

    @property
    def is_kernel(self):
        return self.modelled["model"] is not None

    @property
    def is_large(self):
        return self.measured["median_ms"] >= LARGE_MS

    @property
    def is_compared(self):
        """True if the chapter compares this kernel with another."""
        return self.measured["speedup"] is not None

    @property
    def work(self):
        """A key that is equal for kernels that do the same work."""
        same = {key: value for key, value in self.inputs.items() if key not in ("block", "blocks")}
        return self.chapter, str(same), self.measured.get("sums")

    def __str__(self):
        """Returns the name that distinguishes the kernel among those of its chapter."""
        variant, *others = [str(self.measured[key]) for key in DIMENSIONS if self.measured.get(key)]
        if "sums" in self.measured:
            others.append(f"{self.measured['sums']} sums")
        others = ", ".join(others).replace("_", " ")
        return f"{variant} ({others})" if others else variant


def is_modelled(record):
    """Returns true if a record has modelled times for the GPU on which it was measured."""
    if "modelled" not in record or "model" not in record["modelled"]["results"][0]:
        return False
    return record["modelled"]["gpu"]["name"] == record["measured"]["gpu"]["name"]


def bound_by(result):
    """Returns the resource that bounds a kernel according to the model, or `None` for a copy."""
    model = result["model"]
    return model and RESOURCES.get(model["binding"], model["binding"].replace("_", " "))


def pairs(record):
    measured, modelled = record["measured"], record["modelled"]
    return [
        Pair(measured["chapter"], record["arguments"], measured["inputs"], result, twin)
        for result, twin in zip(measured["results"], modelled["results"])
    ]


def ratios(records):
    """Yields each run's name with the smallest and largest ratio of large kernels, small kernels and copies.
    A kind without entries has `None`."""
    for record in records:
        all_pairs = pairs(record)
        kinds = [
            [pair for pair in all_pairs if pair.is_kernel and pair.is_large],
            [pair for pair in all_pairs if pair.is_kernel and not pair.is_large],
            [pair for pair in all_pairs if not pair.is_kernel],
        ]
        yield command(all_pairs[0]), [extremes([pair.ratio for pair in kind]) for kind in kinds]


def extremes(values):
    return (min(values), max(values)) if values else None


def command(pair):
    return " ".join([pair.chapter, pair.arguments]).strip()


def outliers(records):
    """Returns the large kernels whose modelled time is off by more than 25 %."""
    all_pairs = itertools.chain.from_iterable(map(pairs, records))
    large = (pair for pair in all_pairs if pair.is_kernel and pair.is_large)
    return [pair for pair in large if abs(pair.ratio - 1) > MAX_ERROR]


class Ranking(typing.NamedTuple):
    """Two kernels and their order: -1 if the first is faster, 1 if the second is, 0 if they are equally fast."""

    first: Pair
    second: Pair

    @property
    def measured(self):
        first, second = self.first.measured, self.second.measured
        disjoint = first["max_ms"] < second["min_ms"] or second["max_ms"] < first["min_ms"]
        return faster(first, second, TIE) if disjoint else 0

    @property
    def modelled(self):
        """The model's order. The tolerance applies only to kernels that are equally fast on the GPU."""
        within = MODELLED_TIE if self.measured == 0 else 0
        return faster(self.first.modelled, self.second.modelled, within)

    @property
    def is_correct(self):
        return self.measured == self.modelled

    @property
    def is_clear(self):
        """True if the GPU's ranking is unambiguous: a tenth or more apart, and longer than a launch."""
        differs = faster(self.first.measured, self.second.measured, CLEAR) != 0
        return differs and (self.first.is_large or self.second.is_large)


def faster(first, second, within):
    """Returns -1 if the first is faster, 1 if the second is, and 0 if their times are within the tolerance."""
    times = first["median_ms"], second["median_ms"]
    if max(times) <= min(times) * (1 + within):
        return 0
    return -1 if times[0] < times[1] else 1


def rankings(records):
    all_pairs = itertools.chain.from_iterable(map(pairs, records))
    kernels = [pair for pair in all_pairs if pair.is_kernel and pair.is_compared]
    two = itertools.combinations(kernels, 2)
    return [Ranking(*each) for each in two if each[0].work == each[1].work and differ_in_one(*each)]


def differ_in_one(first, second):
    """Returns true if two kernels differ in one dimension. A field that only one of them has is ignored."""
    values = [(first.measured.get(key), second.measured.get(key)) for key in DIMENSIONS]
    return sum(a != b for a, b in values if None not in (a, b)) == 1
