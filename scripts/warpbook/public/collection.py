"""The collections that scripts/public-programs.toml lists, and their clones."""

import dataclasses
import fnmatch
import pathlib
import shlex
import shutil
import subprocess
import sys
import tomllib

from .. import ROOT
from . import makefiles, sources

LIST = ROOT / "scripts" / "public-programs.toml"
FINDERS = {"makefiles": makefiles.programs, "sources": sources.programs}


@dataclasses.dataclass
class Collection:
    """A collection as its table in the list describes it."""

    name: str
    repository: str
    commit: str
    date: str
    programs: str
    folder: str = "."
    flags: str = ""
    arguments: dict = dataclasses.field(default_factory=dict)
    smaller: dict = dataclasses.field(default_factory=dict)
    left_out: dict = dataclasses.field(default_factory=dict)
    mistakes: dict = dataclasses.field(default_factory=dict)
    reasons: dict = dataclasses.field(default_factory=dict)

    def find(self, clones):
        """Returns the collection's programs. `clones` is the folder of the clones; a missing one is created."""
        top = clones / self.name
        if not top.exists():
            self.clone(top)
        head = subprocess.run(["git", "-C", top, "rev-parse", "HEAD"], capture_output=True, text=True)
        if head.stdout.strip() != self.commit:
            sys.exit(
                f"error: {top} is not at commit {self.commit} of {self.repository}; move it away, and run this again"
            )
        flags = shlex.split(self.flags.replace("{top}", shlex.quote(str(top.resolve()))))
        found = FINDERS[self.programs]((top / self.folder).resolve())
        return [self.described(program, top.resolve(), flags) for program in found]

    def clone(self, top):
        print(f"cloning {self.repository}", flush=True)
        top.mkdir(parents=True)
        url = f"https://github.com/{self.repository}"
        fetch = ["fetch", "-q", "--depth=1", url, self.commit]
        for command in (["init", "-q"], fetch, ["checkout", "-q", self.commit]):
            if subprocess.run(["git", "-C", top, *command]).returncode:
                shutil.rmtree(top)
                sys.exit(f"error: {url} cannot be cloned; check the connection, and run this again")

    def described(self, program, top, flags):
        """Returns a program with what the list says about it."""
        return dataclasses.replace(
            program,
            collection=self.name,
            top=top,
            flags=[*program.flags, *flags],
            arguments=shlex.split(about(self.arguments, program.name)) or program.arguments,
            smaller=dict(value.split("=") for value in about(self.smaller, program.name).split()),
            left_out=about(self.left_out, program.name) or None,
        )


def about(entries, name):
    """Returns the entry for a program, whose key is its name or a pattern, or an empty text."""
    return next((text for pattern, text in entries.items() if fnmatch.fnmatchcase(name, pattern)), "")


def listed():
    """Returns the collections of the list, by name."""
    tables = tomllib.loads(LIST.read_text(encoding="utf-8"))["collection"]
    return {table["name"]: Collection(**table) for table in tables}
