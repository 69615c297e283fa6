"""Programs as the Makefiles of a collection build and run them."""

import pathlib
import re
import shlex
import subprocess

from . import program


def programs(top):
    """Yields the programs of a collection in the order of their folders."""
    for makefile in sorted(path for path in top.rglob("[Mm]akefile") if path.is_file()):
        # Ports of the same programs to other compilers.
        if any(part.endswith(("-hip", "-sycl", "-omp")) for part in makefile.parent.parts):
            continue
        found = read(top, makefile.parent)
        if found:
            yield found


def read(top, folder):
    """Returns the program that a folder's Makefile builds and runs, or `None` if it compiles no CUDA source."""
    output = dry_run(folder, "run")
    if not any(compiles(split(line)) for line in output.splitlines()):
        output = dry_run(folder)
    commands = started(output) or started(run_script(folder))
    # Prefer a command whose data is present.
    command = next((words for words in commands if not program.missing_data(folder, words)), (commands or [[]])[0])
    lines = [words for line in output.splitlines() if compiles(words := split(line))]
    # If the Makefile links several programs, take the one that is run.
    linked = [words for words in lines if "-c" not in words and named(folder, words)]
    if len(linked) > 1:
        target = pathlib.Path(command[0]).name if command else ""
        lines = [words for words in linked if output_name(words) == target] or linked[:1]
    files = list(dict.fromkeys(name for words in lines for name in named(folder, words)))
    if not any(name.endswith(".cu") for name in files):
        return None
    flags = list(dict.fromkeys(flag for words in lines for flag in source_flags(words)))
    name = str(folder.relative_to(top)).removesuffix("-cuda")
    return program.Program(name, folder, files, flags, command[1:])


def compiles(words):
    compilers = ("nvcc", "g++", "gcc", "c++", "cc")
    return any(pathlib.Path(word).name in compilers for word in words[:1])


def named(folder, words):
    """Returns the source files in a compiler command."""
    return [word for word in words if word.endswith(program.SOURCES) and (folder / word).is_file()]


def output_name(words):
    return next((pathlib.Path(after).name for word, after in zip(words, words[1:]) if word == "-o"), "")


def run_script(folder):
    """Returns the text of the file `run` in the folder or its parent, which shows how to run the program."""
    files = [path for path in (folder / "run", folder.parent / "run") if path.is_file()]
    return files[0].read_text(errors="replace") if files else ""


def started(text):
    """Returns the commands that start a program of the folder."""
    commands = []
    for line in text.splitlines():
        words = split(line)
        if words and re.match(r"\./|[\w/]+_cuda$|.*\.(out|exe)$", words[0]):
            commands.append(words[: words.index(">")] if ">" in words else words)
    return commands


def dry_run(folder, *targets):
    """Returns the commands that make would run, with `nvcc` as the compiler."""
    command = ["make", "-n", "-B", "-k", *targets, "CC=nvcc", "NVCC=nvcc", "LAUNCHER=", "VERIFY=yes"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.replace("\\\n", " ")


def split(line):
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return []


def source_flags(words):
    """Returns the compiler flags that the sources need."""
    flags = []
    for index, word in enumerate(words):
        if word in ("-I", "-D") and index + 1 < len(words):
            flags.append(word + words[index + 1])
        elif re.match(r"-[ID].|-std=|--std=|-use_fast_math|--use_fast_math|-l(m|pthread|gomp)$", word):
            flags.append(word.replace("--", "-", 1) if word.startswith("--std") else word)
        elif word in ("-dc", "-rdc=true", "--rdc=true"):
            # -dc compiles each file to an object; here all files are compiled and linked at once.
            flags.append("-rdc=true")
        elif word in ("-fopenmp", "-fopenmp=libgomp"):
            flags.append("-Xcompiler=-fopenmp")
    return flags
