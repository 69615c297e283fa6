"""Mojo from PyPI, and the solutions of its GPU puzzles from their repository."""

import dataclasses
import re

from . import programs
from .install import once, quietly

VERSION = "1.0.0"
REPOSITORY = "https://github.com/modular/mojo-gpu-puzzles"
# From the branch `stable`: "Pin lockfiles to Mojo 1.0.0, MAX 26.5.0". Two solutions on the branch `main` do not
# compile with this version.
COMMIT = "154d01ef"

# The packages without their dependencies: only the puzzles in Python need MAX's engine.
PACKAGES = [
    f"mojo=={VERSION}",
    f"mojo-compiler=={VERSION}",
    f"mojo-compiler-mojo-libs=={VERSION}",
    "max-core==26.5.0",
    "max-mojo-libs==26.5.0",
]

CLUSTERS = "clusters of blocks are not simulated"
LEFT_OUT = {f"p34 --{part}": CLUSTERS for part in ("advanced", "coordination", "reduction")}

# The comparison by which a solution selects the part to run.
FLAG = re.compile(r'(?:argv\(\)\[1\]|test_type) == "(--[^"]+)"')


def install(flags):
    """Installs the packages into their own virtual environment."""
    programs.sources(flags, "Mojo", REPOSITORY, COMMIT, "solutions")

    def make(folder):
        quietly([flags.python, "-m", "venv", "environment"], folder)
        pip = [folder / "environment/bin/python", "-m", "pip", "--quiet"]
        quietly([*pip, "install", "--no-deps", *PACKAGES], folder)
        # NVIDIA's assembler as a library, which Mojo uses by default.
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
        """Returns the key of a test in `known`."""
        return test

    def run(self, flags, folder):
        solutions = programs.sources(flags, "Mojo", REPOSITORY, COMMIT, "solutions")
        mojo = folder / "environment/bin/mojo"
        environment = {"MODULAR_CACHE_DIR": str(folder / "cache")}
        runs = [
            programs.Program(name, [mojo, test.name, *words], test.parent, environment)
            for test in sorted(solutions.glob("p*/*.mojo"))
            for name, words in parts(test)
            if name not in LEFT_OUT
        ]
        outcomes = programs.run(flags, runs, None, folder)
        return {"command": "cuda-run -- mojo SOLUTION", "left out": LEFT_OUT, **outcomes}


def parts(test):
    """Returns a name and flags for each part of a solution to run."""
    names = sorted({flag for flag in FLAG.findall(test.read_text(encoding="utf-8")) if not flag.startswith("--demo")})
    return [(f"{test.stem} {flag}", [flag]) for flag in names] or [(test.stem, [])]
