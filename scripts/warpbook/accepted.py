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
LEAST = 75

# Files per command line.
TOGETHER = 100


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
            parser.error(f"{word} is not NAME=FOLDER")
        rows.append((name, count(pathlib.Path(folder), flags)))
    section = table(rows, version(flags.ptxas))
    if flags.into:
        tables.insert({flags.into: {"accepted": section}}, False, "what is taken now")
    else:
        print(section)


def version(ptxas):
    found = re.search(r"V(\d+\.\d+)", programs.output([ptxas, "--version"]))
    return found[1] if found else "of an unknown version"


def count(folder, flags):
    files = sorted(folder.glob("*.ptx"))
    taken = [path for path in files if assembles(flags.ptxas, path)]
    asked = [path for path in taken if not ABSENT.search(text(path))]
    refused = {}
    for start in range(0, len(asked), TOGETHER):
        refused.update(refusals(asked[start : start + TOGETHER]))
    if flags.reasons:
        for reason, number in collections.Counter(refused.values()).most_common():
            print(f"{number:4} {reason}")
    return len(files), len(taken), len(asked), len(asked) - len(refused)


def text(path):
    return path.read_text(errors="replace")


def assembles(ptxas, path):
    """Returns true if ptxas assembles a module."""
    found = re.search(r"\.target\s+sm_(\d+)([af]?)", text(path))
    target = max(int(found[1]), LEAST)
    command = [ptxas, "-O0", f"-arch=sm_{target}{found[2]}", path, "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True).returncode == 0


def refusals(paths):
    """Returns the simulator's error message for each module that it rejects."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "differential", "--", "load", *paths]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    refused = {}
    for line in told.splitlines():
        path, _, said = line.partition(": ")
        if said != "loads":
            refused[path] = re.sub(r"line \d+(, column \d+)?: ", "", said)
    return refused


def table(rows, version):
    lines = [
        f"| PTX | modules | taken by ptxas {version} | without wgmma, tcgen05, clusters | load here | |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for name, (files, taken, asked, loads) in rows:
        share = 100 * loads / max(asked, 1)
        lines.append(f"| {name} | {files} | {taken} | {asked} | {loads} | {share:.1f} % |")
    return "\n".join(lines)
