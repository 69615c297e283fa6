"""What is known of the machine that something is measured on."""

import datetime
import re

from . import programs


def today():
    return datetime.date.today().isoformat()


def gpu(*asked):
    """What nvidia-smi says of the first GPU."""
    query = f"--query-gpu={','.join(asked)}"
    told = programs.output(["nvidia-smi", query, "--format=csv,noheader"])
    return told.splitlines()[0].split(", ")


def version(tool):
    """The version of one of the CUDA toolkit's tools."""
    found = re.search(r"(?:Version |V)(\d\S*)", programs.output([tool, "--version"]))
    return found[1] if found else "unknown"
