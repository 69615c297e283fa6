"""Compiling collections of CUDA programs with clang and our headers: scripts/programs-compile."""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import shlex
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "kernels/include"

# What the newest PTX is that a clang knows for an architecture.
FEATURES = {"sm_52": "+ptx64", "sm_80": "+ptx70", "sm_86": "+ptx71", "sm_90": "+ptx80"}

# Headers of ours: where one of these is not found, the fault is ours, not the collection's.
OURS = re.compile(
    r"^(cuda(_\w+)?\.h|cooperative_groups(/.*)?\.h|curand_kernel\.h|curand_\w+\.h|mma\.h|sm_\d+_\w+\.h"
    r"|(crt/)?(host|device|math|common|vector|texture|surface|driver)_\w+\.h|cuComplex\.h|builtin_types\.h"
    r"|channel_descriptor\.h|library_types\.h)$"
)


@dataclasses.dataclass
class Program:
    """A file to compile, and what its Makefile says."""

    file: Path
    flags: list


@dataclasses.dataclass
class Result:
    """What a compiler said of a program: nothing, or its first error."""

    file: Path
    error: str

    @property
    def left_out(self):
        """Why a program does not count, or nothing."""
        missing = re.search(r"'([^']+)' file not found", self.error)
        if missing and not OURS.match(missing.group(1)):
            return f"`{missing.group(1)}`"
        if "no template named 'texture'" in self.error:
            return "texture references, which CUDA 12 has no more"
        return None


def makefile_programs(folder):
    """What `make -n` would compile in this folder."""
    said = subprocess.run(
        ["make", "-n", "-B", "-k"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    ).stdout
    programs = {}
    for line in said.splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        flags = []
        for n, word in enumerate(words):
            if word in ("-I", "-D", "-isystem") and n + 1 < len(words):
                flags += [word, words[n + 1]]
            elif re.match(r"-[ID].|-std=|--std=", word):
                flags.append(word.replace("--std", "-std"))
        for word in words:
            file = folder / word
            if word.endswith(".cu") and file.is_file():
                programs.setdefault(file.resolve(), Program(file.resolve(), flags))
    return programs


def find(top):
    """All programs below a folder."""
    files = sorted(top.rglob("*.cu"))
    included = set()
    for file in [*files, *top.rglob("*.cuh"), *top.rglob("*.h"), *top.rglob("*.hpp")]:
        text = file.read_text(errors="replace") if file.is_file() else ""
        for name in re.findall(r'^\s*#\s*include\s*[<"]([^">]+\.cu)[">]', text, re.M):
            included.add((file.parent / name).resolve())
    programs = {}
    for folder in sorted({file.parent for file in files} | {file.parent.parent for file in files}):
        if any((folder / name).is_file() for name in ("Makefile", "makefile", "GNUmakefile")):
            for file, program in makefile_programs(folder).items():
                programs.setdefault(file, program)
    for file in files:
        file = file.resolve()
        made = any(other.parent == file.parent for other in programs)
        if file not in included and not made and file.is_file():
            programs[file] = Program(file, [])
    # Headers that a collection keeps for all.
    shared = [folder for name in ("common", "include", "utilities") for folder in top.rglob(name) if folder.is_dir()]
    shared = [folder for folder in shared if len(folder.relative_to(top).parts) <= 2]
    for program in programs.values():
        program.flags = [*program.flags, *(f"-I{folder}" for folder in shared)]
    return [programs[file] for file in sorted(programs)]


def compile_one(program, args):
    """Compiles a program's device or host code, and keeps nothing but the first error."""
    command = [
        args.clang, "-x", "cuda", f"--cuda-{args.side}-only", "-nocudainc", "-nocudalib",
        f"--cuda-path={ROOT / 'kernels'}", f"--cuda-gpu-arch={args.arch}",
        "-Xclang", "-target-sdk-version=11.0",
    ]  # fmt: skip
    if args.side == "device":
        command += ["-Xclang", "-target-feature", "-Xclang", FEATURES.get(args.arch, "+ptx80")]
    command += ["-w", "-Wno-register", "-fsyntax-only", "-ferror-limit=1", "-fno-caret-diagnostics", "-std=c++17"]
    command += [*program.flags, *args.flag]
    command += ["-isystem", str(INCLUDE), "-include", "cuda_runtime.h", str(program.file)]
    try:
        done = subprocess.run(
            command, cwd=program.file.parent, capture_output=True, text=True, errors="replace", timeout=300, check=False
        )
    except subprocess.TimeoutExpired:
        return Result(program.file, "clang takes longer than 5 minutes")
    error = ""
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error:" in line]
        error = lines[0] if lines else (done.stderr.splitlines() or ["clang failed"])[-1]
    return Result(program.file, error)


def reason(error):
    """An error without what is particular to one file."""
    text = error.split("error: ", 1)[-1]
    return text if len(text) <= 110 else text[:107] + "..."


def main(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pass", dest="side", choices=["device", "host"], default="device")
    parser.add_argument("--clang", default="clang-14")
    parser.add_argument("--arch", default="sm_86")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--flag", action="append", default=[], help="one more flag for clang")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()

    programs = find(args.folder.resolve())[:: args.every]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda program: compile_one(program, args), programs))
    out = [result for result in results if result.left_out]
    sound = [result for result in results if not result.left_out]
    wrong = [result for result in sound if result.error]
    for result in wrong:
        print(f"{result.file.relative_to(args.folder.resolve())}: {result.error}")
    if args.list:
        for result in sound:
            if not result.error:
                print(f"{result.file.relative_to(args.folder.resolve())}: compiles")
    print(f"\n{len(results)} programs, {len(out)} left out, {len(sound)} counted")
    if sound:
        good = len(sound) - len(wrong)
        print(f"{good} compile ({args.side}, {args.clang}, {args.arch}): {100 * good / len(sound):.1f} %")
    print("\n| programs | reason |\n|---|---|")
    for text, count in Counter(reason(result.error) for result in wrong).most_common():
        print(f"| {count} | {text} |")
    print("\n| left out | a file that is not there, or another reason |\n|---|---|")
    for text, count in Counter(result.left_out for result in out).most_common():
        print(f"| {count} | {text} |")
