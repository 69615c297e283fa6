"""The implementation of the commands in scripts/: each command's module has the command's name.

The other modules are shared. Everything here uses only Python's standard library.
"""

import os
import pathlib
import sys

if sys.version_info < (3, 11):
    sys.exit("error: Python 3.11 or newer is required")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Cargo's output folder.
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
