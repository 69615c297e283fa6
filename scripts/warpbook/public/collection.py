"""The collections that scripts/public-programs.toml lists, and their clones."""

import dataclasses
import fnmatch
import pathlib
import shlex
import subprocess
import sys
import tomllib

from .. import ROOT
from . import makefiles, program, sources

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
    kind: str
    folder: str = "."
    flags: str = ""
    arguments: dict = dataclasses.field(default_factory=dict)
    left_out: dict = dataclasses.field(default_factory=dict)
    reasons: dict = dataclasses.field(default_factory=dict)

    def find(self, clones):
        """Returns the collection's programs below the folder of the clones, after cloning it if it is not there."""
        top = clones / self.name
        if not top.exists():
            self.clone(top)
        head = subprocess.run(["git", "-C", top, "rev-parse", "HEAD"], capture_output=True, text=True)
        if head.stdout.strip() != self.commit:
            sys.exit(
                f"error: {top} is not at commit {self.commit} of {self.repository}: move it away, and it will be cloned"
            )
        self.folder = (top / self.folder).resolve()
        self.flags = shlex.split(self.flags.replace("{top}", shlex.quote(str(top.resolve()))))
        return FINDERS[self.programs](self)

    def clone(self, top):
        print(f"cloning {self.repository}", flush=True)
        top.mkdir(parents=True)
        url = f"https://github.com/{self.repository}"
        for command in (["init", "-q"], ["fetch", "-q", "--depth=1", url, self.commit], ["checkout", "-q", self.commit]):
            if subprocess.run(["git", "-C", top, *command]).returncode:
                sys.exit(f"error: {self.repository} cannot be cloned: remove {top} before the next try")

    def program(self, name, folder, files, flags, arguments, own=None):
        """Returns a program with what the list says about it."""
        arguments = shlex.split(self.about(self.arguments, name)) or arguments
        left_out = self.about(self.left_out, name) or None
        return program.Program(self.name, name, folder, files, [*flags, *self.flags], arguments, own, left_out)

    def about(self, entries, name):
        """Returns the entry for a program, whose key is its name or a pattern, or an empty text."""
        return next((text for pattern, text in entries.items() if fnmatch.fnmatchcase(name, pattern)), "")


def listed():
    """Returns the collections of the list, by name."""
    tables = tomllib.loads(LIST.read_text(encoding="utf-8"))["collection"]
    return {table["name"]: Collection(**table) for table in tables}
