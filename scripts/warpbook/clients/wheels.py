"""Clients whose package on PyPI contains its own tests: cuda-python and numba; and IREE, whose tests are ours."""

import pathlib
import sys

from .install import once, quietly
from .python import PYTEST, environment

HERE = pathlib.Path(__file__).parent


def installed(*packages):
    """Returns a function that installs packages into their own virtual environment."""

    def make(folder):
        pip = environment(folder, sys.executable)
        quietly([*pip, "install", *PYTEST], folder)
        quietly([*pip, "install", *packages], folder)

    return lambda flags: once(flags.folder / packages[0].replace("==", "-"), make)


def inside(path):
    """Returns a function that returns a folder inside the installed packages."""
    return lambda _, folder: next(folder.glob(f"environment/lib/python*/site-packages/{path}"))
