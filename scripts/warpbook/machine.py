"""What is known of the machine that something is measured on."""

import datetime
import os
import pathlib
import platform
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


def here(engines):
    """What is needed to make sense of times on this machine; `engines` are the names of those that were timed."""
    return {
        "date": today(),
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "rust": programs.output(["rustc", "--version"]).split()[1],
        "engines": engines,
    }


def line(record):
    """The same in a page."""
    engines = "".join(f", {engine}" for engine in record["engines"])
    return f"Measured {record['date']}: {record['cpu']}, {record['cores']} cores; Rust {record['rust']}{engines}."


def cpu():
    """Its name, and which of the wide instructions it has, where Linux tells."""
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    known = dict(re.findall(r"^([^\t\n]+?)\s*: (.*)$", info, re.MULTILINE))
    wide = {"avx2": "AVX2", "avx512f": "AVX-512"}
    parts = [known.get("model name", platform.machine())]
    if "cpu family" in known:
        parts.append(f"family {known['cpu family']} model {known['model']}")
    parts += [wide[flag] for flag in known.get("flags", "").split() if flag in wide]
    return ", ".join(parts)
