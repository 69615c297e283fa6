"""The list of chapters: chapters.toml, which documents its keys."""

import dataclasses
import sys
import tomllib

from . import ROOT

LIST = ROOT / "chapters.toml"


@dataclasses.dataclass
class Chapter:
    """A chapter, and the flags that scripts pass to it."""

    name: str
    results: list
    counters: list
    plot: str
    least: str
    ladder: list = dataclasses.field(default_factory=list)
    slow: list = dataclasses.field(default_factory=list)
    sizes: list = dataclasses.field(default_factory=list)
    nvcc: dict = dataclasses.field(default_factory=dict)


def main():
    """Prints the chapters' names, for scripts that are not written in Python."""
    print("\n".join(CHAPTERS))


def read():
    """Returns the chapters by name, in the book's order."""
    try:
        entries = tomllib.loads(LIST.read_text(encoding="utf-8"))
        return {name: Chapter(name, **entry) for name, entry in entries.items()}
    except (OSError, TypeError, ValueError) as error:
        sys.exit(f"error: {LIST}: {error}")


CHAPTERS = read()


def runs(of):
    """Returns a name and flags per run listed under the key `of`, for example `results`."""
    return [(name, flags) for name, chapter in CHAPTERS.items() for flags in getattr(chapter, of)]
