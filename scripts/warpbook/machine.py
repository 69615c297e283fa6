"""Descriptions of the machine on which something is measured."""

import datetime
import os
import pathlib
import platform
import re

from . import programs


def today():
    return datetime.date.today().isoformat()


def gpu(*properties):
    """Returns properties of the first GPU, as nvidia-smi reports them."""
    query = f"--query-gpu={','.join(properties)}"
    output = programs.output(["nvidia-smi", query, "--format=csv,noheader"])
    return output.splitlines()[0].split(", ")


def version(tool):
    """Returns the version of one of the CUDA toolkit's tools."""
    match = re.search(r"(?:Version |V)(\d\S*)", programs.output([tool, "--version"]))
    return match[1] if match else "unknown"


def here(engines):
    """Returns a record of this machine for timings. `engines` are the names of the engines that were timed."""
    return {
        "date": today(),
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "rust": programs.output(["rustc", "--version"]).split()[1],
        "engines": engines,
    }


def line(record):
    """Returns a sentence that describes a record of `here`."""
    engines = "".join(f", {engine}" for engine in record["engines"])
    return f"Measured {record['date']}: {record['cpu']}, {record['cores']} cores; Rust {record['rust']}{engines}."


def cpu():
    """Returns the CPU's name and its wide vector extensions, as far as Linux reports them."""
    try:
        info = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    properties = dict(re.findall(r"^([^\t\n]+?)\s*: (.*)$", info, re.MULTILINE))
    wide = {"avx2": "AVX2", "avx512f": "AVX-512"}
    parts = [properties.get("model name", platform.machine())]
    if "cpu family" in properties:
        parts.append(f"family {properties['cpu family']} model {properties['model']}")
    parts += [wide[flag] for flag in properties.get("flags", "").split() if flag in wide]
    return ", ".join(parts)
