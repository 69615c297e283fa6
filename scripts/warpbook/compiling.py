"""Compilation of collections of CUDA programs with clang and our headers: see scripts/programs-compile."""

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

# The newest PTX version that clang supports for an architecture.
FEATURES = {"sm_52": "+ptx64", "sm_80": "+ptx70", "sm_86": "+ptx71", "sm_90": "+ptx80"}

# Headers that ours replace: if one of these is not found, the fault is ours, not the collection's.
OURS = re.compile(
    r"^(cuda(_\w+)?\.h|cooperative_groups(/.*)?\.h|curand_kernel\.h|curand_\w+\.h|mma\.h|sm_\d+_\w+\.h"
    r"|(crt/)?(host|device|math|common|vector|texture|surface|driver)_\w+\.h|cuComplex\.h|builtin_types\.h"
    r"|channel_descriptor\.h|library_types\.h)$"
)


@dataclasses.dataclass
class Program:
    """A file to compile, and its flags from the Makefile."""

    file: Path
    flags: list


@dataclasses.dataclass
class Result:
    """The outcome of a compilation: the first error, or an empty string."""

    file: Path
    error: str

    @property
    def left_out(self):
        """The reason for not counting a program, or `None`."""
        missing = re.search(r"'([^']+)' file not found", self.error)
        if missing and not OURS.match(missing.group(1)):
            return f"`{missing.group(1)}`"
        if "no template named 'texture'" in self.error:
            return "texture references, which CUDA 12 removed"
        return None


def makefile_programs(folder):
    """Returns the programs that `make` would compile in this folder."""
    output = subprocess.run(
        ["make", "-n", "-B", "-k"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    ).stdout
    programs = {}
    for line in output.splitlines():
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
    """Returns all programs below a folder."""
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
        in_makefile = any(other.parent == file.parent for other in programs)
        if file not in included and not in_makefile and file.is_file():
            programs[file] = Program(file, [])
    # Folders of headers for the whole collection.
    shared = [folder for name in ("common", "include", "utilities") for folder in top.rglob(name) if folder.is_dir()]
    shared = [folder for folder in shared if len(folder.relative_to(top).parts) <= 2]
    for program in programs.values():
        program.flags = [*program.flags, *(f"-I{folder}" for folder in shared)]
    return [programs[file] for file in sorted(programs)]


def compile_one(program, args):
    """Compiles a program's device or host code, and returns its first error."""
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
        return Result(program.file, "clang exceeded 5 minutes")
    error = ""
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error:" in line]
        error = lines[0] if lines else (done.stderr.splitlines() or ["clang failed"])[-1]
    return Result(program.file, error)


def reason(error):
    """Returns an error without the parts that are specific to a file."""
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
    parser.add_argument("--flag", action="append", default=[], help="additional flag for clang")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()

    programs = find(args.folder.resolve())[:: args.every]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda program: compile_one(program, args), programs))
    left_out = [result for result in results if result.left_out]
    counted = [result for result in results if not result.left_out]
    failed = [result for result in counted if result.error]
    for result in failed:
        print(f"{result.file.relative_to(args.folder.resolve())}: {result.error}")
    if args.list:
        for result in counted:
            if not result.error:
                print(f"{result.file.relative_to(args.folder.resolve())}: compiles")
    print(f"\n{len(results)} programs, {len(left_out)} left out, {len(counted)} counted")
    if counted:
        good = len(counted) - len(failed)
        print(f"{good} compile ({args.side}, {args.clang}, {args.arch}): {100 * good / len(counted):.1f} %")
    print("\n| programs | reason |\n|---|---|")
    for text, count in Counter(reason(result.error) for result in failed).most_common():
        print(f"| {count} | {text} |")
    print("\n| left out | missing file, or another reason |\n|---|---|")
    for text, count in Counter(result.left_out for result in left_out).most_common():
        print(f"| {count} | {text} |")
