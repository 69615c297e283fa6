"""The kernels to time, listed in scripts/collections.toml."""

import dataclasses
import tomllib

from .. import ROOT

LIST = ROOT / "scripts" / "collections.toml"


@dataclasses.dataclass
class OpenCl:
    """An OpenCL version of the program: its folder, its commands, and its kernels by their names in CUDA."""

    folder: str
    compile: str
    run: str
    kernels: dict


@dataclasses.dataclass
class Program:
    """A program's folder in its collection, its flags and arguments, and its kernels with their kinds."""

    collection: str
    folder: str
    kernels: dict
    run: str = ""
    flags: str = ""
    opencl: OpenCl | None = None

    def __post_init__(self):
        if self.opencl:
            self.opencl = OpenCl(**self.opencl)

    def title(self):
        """Returns the name for a table: the folder without the prefix and suffix that its collection shares."""
        return self.folder.removeprefix("src/").removesuffix("-cuda").removeprefix("CUDA/").removeprefix("cuda/")


def programs():
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["program"]
    return [Program(**one) for one in listed]
