"""What the scripts are made of. Each command of scripts/ is a file that says how it is used; what it
does is in the module of its name here, and what several of them do in the modules beside. Takes
Python's standard library alone.
"""

import os
import pathlib
import sys

if sys.version_info < (3, 11):
    sys.exit("error: this takes Python 3.11 or newer")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Where cargo puts what it builds.
TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
