"""Loads other compilers' PTX with ptxas and with the simulator: see scripts/accepted."""

import argparse
import collections
import pathlib
import re
import subprocess

from . import ROOT, programs, tables

# Features of thread block clusters and of matrix units that operate on shared memory.
ABSENT = re.compile(
    r"wgmma|tcgen05|cp\.async\.bulk|cp\.reduce|shared::cluster|barrier\.cluster|\bmapa\b|getctarank"
    r"|clusterlaunchcontrol|%cluster|multimem|tensormap|setmaxnreg"
)
# The oldest target that ptxas supports; modules for older ones are assembled for this one.
OLDEST_TARGET = 75

# Files per command line.
FILES_PER_COMMAND = 100


def main(doc):
    summary, _, rest = doc.partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--into", type=pathlib.Path, metavar="PAGE")
    flags = parser.parse_args()
    rows = []
    for word in flags.folders:
        name, _, folder = word.partition("=")
        if not folder:
            parser.error(f"{word} is not of the form NAME=FOLDER")
        rows.append((name, count(pathlib.Path(folder), flags)))
    section = table(rows, version(flags.ptxas))
    if flags.into:
        tables.insert({flags.into: {"accepted": section}}, False, "the current table")
    else:
        print(section)


def version(ptxas):
    match = re.search(r"V(\d+\.\d+)", programs.output([ptxas, "--version"]))
    return match[1] if match else "of an unknown version"


def count(folder, flags):
    files = sorted(folder.glob("*.ptx"))
    assembled = [path for path in files if assembles(flags.ptxas, path)]
    candidates = [path for path in assembled if not ABSENT.search(text(path))]
    rejected = {}
    for start in range(0, len(candidates), FILES_PER_COMMAND):
        rejected.update(rejections(candidates[start : start + FILES_PER_COMMAND]))
    if flags.reasons:
        for reason, number in collections.Counter(rejected.values()).most_common():
            print(f"{number:4} {reason}")
    return len(files), len(assembled), len(candidates), len(candidates) - len(rejected)


def text(path):
    return path.read_text(errors="replace")


def assembles(ptxas, path):
    """Returns true if ptxas assembles a module."""
    match = re.search(r"\.target\s+sm_(\d+)([af]?)", text(path))
    target = max(int(match[1]), OLDEST_TARGET)
    command = [ptxas, "-O0", f"-arch=sm_{target}{match[2]}", path, "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True).returncode == 0


def rejections(paths):
    """Returns the simulator's error message for each module that it rejects."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "differential", "--", "load", *paths]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rejected = {}
    for line in output.splitlines():
        path, _, message = line.partition(": ")
        if message != "loads":
            rejected[path] = re.sub(r"line \d+(, column \d+)?: ", "", message)
    return rejected


def table(rows, version):
    lines = [
        f"| PTX | modules | assembled by ptxas {version} | without wgmma, tcgen05, clusters | loaded by the simulator | share |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for name, (files, assembled, candidates, loads) in rows:
        share = 100 * loads / max(candidates, 1)
        lines.append(f"| {name} | {files} | {assembled} | {candidates} | {loads} | {share:.1f} % |")
    return "\n".join(lines)
