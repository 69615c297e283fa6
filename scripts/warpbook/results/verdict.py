"""How good the model is: its times and its rankings beside a GPU's.

A ratio is the modelled time over the measured one. At large sizes a kernel's has to be within 25 %.
Large is what took the GPU 20 µs or more: all of the notes' large sizes do. Below that, much of
what is measured is launching, and a ratio is only reported; so is that of a copy.

A ranking is of two kernels that their chapter compares, with the same inputs, and that differ in
one thing: the variant, the pattern, or the block. They are as fast as each other where their times
are within 5 %, or where their samples overlap. The model has to find the same one faster; or to
have them within 10 %, where they are as fast. Every other answer is reported; it is an error where
the GPU leaves no doubt: where a kernel is large, and the two are a tenth apart or more.
"""

import itertools
import typing

OFF = 0.25
LARGE_MS = 0.020
AS_FAST = 0.05
AS_FAST_MODELLED = 0.10
DOUBT = 0.10

# What tells kernels apart that do the same work.
WAYS = ("variant", "pattern", "block")

RESOURCES = {
    "issue": "instruction issue",
    "l1_shared": "L1 cache and shared memory",
    "l2": "L2 cache",
    "memory": "device memory",
    "launch": "launching",
}


class Pair(typing.NamedTuple):
    """A result on the GPU, and the same on the simulator."""

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
        """Whether its chapter compares it with another."""
        return self.measured["speedup"] is not None

    @property
    def work(self):
        """Equal for kernels that do the same."""
        same = {key: value for key, value in self.inputs.items() if key not in ("block", "blocks")}
        return self.chapter, str(same), self.measured.get("sums")

    def __str__(self):
        """The kernel among those of its chapter."""
        variant, *others = [str(self.measured[way]) for way in WAYS if self.measured.get(way)]
        if "sums" in self.measured:
            others.append(f"{self.measured['sums']} sums")
        others = ", ".join(others).replace("_", " ")
        return f"{variant} ({others})" if others else variant


def twinned(record):
    """Whether a record has what the model says of the GPU it was measured on."""
    if "modelled" not in record or "model" not in record["modelled"]["results"][0]:
        return False
    return record["modelled"]["gpu"]["name"] == record["measured"]["gpu"]["name"]


def bound_by(result):
    """What the model says that a kernel is bound by; None for a copy."""
    model = result["model"]
    return model and RESOURCES.get(model["binding"], model["binding"].replace("_", " "))


def pairs(record):
    measured, modelled = record["measured"], record["modelled"]
    return [
        Pair(measured["chapter"], record["arguments"], measured["inputs"], one, twin)
        for one, twin in zip(measured["results"], modelled["results"])
    ]


def ratios(records):
    """For each run its name, and the smallest and largest ratio of large kernels, small ones and
    copies; None where it has none."""
    for record in records:
        every = pairs(record)
        kinds = [
            [pair for pair in every if pair.is_kernel and pair.is_large],
            [pair for pair in every if pair.is_kernel and not pair.is_large],
            [pair for pair in every if not pair.is_kernel],
        ]
        yield command(every[0]), [extremes([pair.ratio for pair in kind]) for kind in kinds]


def extremes(values):
    return (min(values), max(values)) if values else None


def command(pair):
    return " ".join([pair.chapter, pair.arguments]).strip()


def too_far(records):
    """The large kernels whose modelled time is more than 25 % off."""
    every = itertools.chain.from_iterable(map(pairs, records))
    large = (pair for pair in every if pair.is_kernel and pair.is_large)
    return [pair for pair in large if abs(pair.ratio - 1) > OFF]


class Ranking(typing.NamedTuple):
    """Two kernels, and which is faster: -1 the first, 1 the second, 0 where they are as fast."""

    first: Pair
    second: Pair

    @property
    def measured(self):
        first, second = self.first.measured, self.second.measured
        apart = first["max_ms"] < second["min_ms"] or second["max_ms"] < first["min_ms"]
        return faster(first, second, AS_FAST) if apart else 0

    @property
    def modelled(self):
        """The tolerance is only for kernels that are as fast on the GPU."""
        within = AS_FAST_MODELLED if self.measured == 0 else 0
        return faster(self.first.modelled, self.second.modelled, within)

    @property
    def is_right(self):
        return self.measured == self.modelled

    @property
    def is_plain(self):
        """Whether the GPU itself leaves no doubt: a tenth and more, of more than a launch."""
        apart = faster(self.first.measured, self.second.measured, DOUBT) != 0
        return apart and (self.first.is_large or self.second.is_large)


def faster(first, second, within):
    """-1 where the first is faster, 1 where the second is, 0 where they are within so much."""
    times = first["median_ms"], second["median_ms"]
    if max(times) <= min(times) * (1 + within):
        return 0
    return -1 if times[0] < times[1] else 1


def rankings(records):
    every = itertools.chain.from_iterable(map(pairs, records))
    kernels = [pair for pair in every if pair.is_kernel and pair.is_compared]
    two = itertools.combinations(kernels, 2)
    return [Ranking(*each) for each in two if each[0].work == each[1].work and differ_in_one(*each)]


def differ_in_one(first, second):
    """What only one of them has, as a pattern, tells nothing apart."""
    both = [(first.measured.get(way), second.measured.get(way)) for way in WAYS]
    return sum(a != b for a, b in both if None not in (a, b)) == 1
