"""Mojo, from PyPI, and the solutions of its GPU puzzles, from their repository."""

import dataclasses
import re

from . import programs
from .install import once, quietly

VERSION = "1.0.0"
REPOSITORY = "https://github.com/modular/mojo-gpu-puzzles"
# Of the branch `stable`: "Pin lockfiles to Mojo 1.0.0, MAX 26.5.0". On its branch `main` two puzzles' solutions do not
# compile with it.
COMMIT = "154d01ef"

# Without what else they would bring: puzzles in Python alone need MAX's own engine.
PACKAGES = [
    f"mojo=={VERSION}",
    f"mojo-compiler=={VERSION}",
    f"mojo-compiler-mojo-libs=={VERSION}",
    "max-core==26.5.0",
    "max-mojo-libs==26.5.0",
]

CLUSTERS = "clusters of blocks are not simulated"
LEFT_OUT = {f"p34 --{part}": CLUSTERS for part in ("advanced", "coordination", "reduction")}

# How a solution asks which of its parts is run.
FLAG = re.compile(r'(?:argv\(\)\[1\]|test_type) == "(--[^"]+)"')


def install(flags):
    """Brings the packages into an environment of their own."""
    programs.sources(flags, "Mojo", REPOSITORY, COMMIT, "solutions")

    def make(folder):
        quietly([flags.python, "-m", "venv", "environment"], folder)
        pip = [folder / "environment/bin/python", "-m", "pip", "--quiet"]
        quietly([*pip, "install", "--no-deps", *PACKAGES], folder)
        # NVIDIA's assembler as a library, which Mojo takes where it is told of no other.
        for library in folder.glob("environment/lib/python*/site-packages/modular/lib/libNVPTX.so"):
            library.unlink()

    return once(flags.folder / f"mojo-{VERSION}", make)


@dataclasses.dataclass
class Suite:
    """The solutions, each with each of its flags."""

    name: str
    ci: bool
    known: dict

    @staticmethod
    def key(test):
        """What `known` has for a test."""
        return test

    def run(self, flags, folder):
        found = programs.sources(flags, "Mojo", REPOSITORY, COMMIT, "solutions")
        mojo = folder / "environment/bin/mojo"
        environment = {"MODULAR_CACHE_DIR": str(folder / "cache")}
        runs = [
            programs.Program(name, [mojo, test.name, *words], test.parent, environment)
            for test in sorted(found.glob("p*/*.mojo"))
            for name, words in parts(test)
            if name not in LEFT_OUT
        ]
        came = programs.run(flags, runs, None, folder)
        return {"command": "cuda-run -- mojo SOLUTION", "left out": LEFT_OUT, **came}


def parts(test):
    """The names and flags of what is run of a solution."""
    found = sorted({flag for flag in FLAG.findall(test.read_text(encoding="utf-8")) if not flag.startswith("--demo")})
    return [(f"{test.stem} {flag}", [flag]) for flag in found] or [(test.stem, [])]
