"""Commands shown in the book: runs them and compares their output with the page.

A fenced block with `console` has commands, each after `$ `, and below each its output. A line `…` stands for
omitted lines. `<!-- before: COMMAND -->` is run as well but not shown, for example in place of a reader's step in
an editor. `<!-- save: FILE -->` writes the next block into a file for a later command. All commands of a page run
in order in one folder that looks like a checkout, so that later commands see the files of earlier ones.

`cargo run -p NAME -- …` runs the prebuilt program: nothing is compiled or downloaded. Output that differs between
runs or machines is masked on both sides before comparing.
"""

import concurrent.futures
import ctypes
import dataclasses
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from . import markdown

# Masks of variable output. Everything else must be the same to the letter.
MASKS = [
    (re.compile(r"\bclang \d+(\.\d+)+"), "clang VERSION"),
    # Random unless a command sets it.
    (re.compile(r"\bseed \d+"), "seed NUMBER"),
    (re.compile(r"种子 \d+"), "种子 NUMBER"),
    # The host's time and memory.
    (re.compile(r"\b\d+(\.\d+)? (s|ms|µs) on the host"), "TIME on the host"),
]
# Pages whose commands need the package `warpbook`; scripts/workflows runs them.
PACKAGE_PAGES = ["ci.md"]
# A command that leaves no files behind and prints the same output every time.
CHAPTER = re.compile(r"cargo run -p (?!exercises)[\w-]+( -- (?!.*--log )[\w ,=./-]*)?")
HOME = "/home/you/warpbook"
ELIDED = "…"
SECONDS = 120

# A substitute for cargo that runs prebuilt programs. The course keeps its submissions in the page's folder.
CARGO = """\
#!/bin/sh
name=
while [ $# -gt 0 ]; do
    case $1 in
        run | --quiet | -q | --release | --locked) ;;
        -p) name=$2; shift ;;
        --) shift; break ;;
        *) echo "error: the book's check does not know cargo's $1" >&2; exit 127 ;;
    esac
    shift
done
if [ ! -x "$PROGRAMS/$name" ]; then
    echo "error: there is no $PROGRAMS/$name: cargo build --workspace makes it" >&2
    exit 127
fi
case $name in exercises) set -- --dir "$PWD/exercises" "$@" ;; esac
exec "$PROGRAMS/$name" "$@"
"""


@dataclasses.dataclass
class Shown:
    """A command on a page, the number of the next line, and its shown output, or `None` if the command is hidden."""

    command: str
    first: int
    printed: list


def check(docs, root, programs, write):
    """Returns a sentence per difference between the pages and the commands' output, and the number of commands.

    With `write`, updates the pages, and returns only the differences that it could not resolve.
    """
    driver_is_absent()
    names = {file.name for tree in ("en", "zh") for file in (docs / tree).glob("*.md")}
    names = sorted(names.difference(PACKAGE_PAGES))
    twins = [[docs / tree / name for tree in ("en", "zh")] for name in names]
    twins.append([root / "README.md", root / "README.zh-CN.md"])

    def both(files):
        outputs = {}
        return [page(file, root, environment, write, outputs) for file in files if file.exists()]

    with tempfile.TemporaryDirectory(prefix="book-") as tools:
        environment = surroundings(pathlib.Path(tools), programs)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = [result for pages in pool.map(both, twins) for result in pages]
    return [error for wrong, _ in done for error in wrong], sum(count for _, count in done)


def driver_is_absent():
    """Exits with an error on a machine with NVIDIA's driver, because the pages show the simulator's output."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    sys.exit("error: this machine has NVIDIA's driver, but the book shows output without it: use another machine")


def page(file, root, environment, write, outputs):
    """Returns the differences on one page and the number of its shown commands.

    `outputs` caches the output of chapter programs, which is the same on the page's translation.
    """
    path = file.relative_to(root)
    lines = file.read_text(encoding="utf-8").split("\n")
    steps = list(commands(lines))
    wrong, changes = [], []
    count = sum(step.printed is not None for step in steps)
    if not steps:
        return wrong, count
    with tempfile.TemporaryDirectory(prefix="book-") as scratch:
        scratch = pathlib.Path(scratch).resolve()
        here = checkout(scratch, root)
        for step in steps:
            if step.command not in outputs or not CHAPTER.fullmatch(step.command):
                outputs[step.command] = run(step.command, here, environment)
            printed, code = outputs[step.command]
            if code in (126, 127) or (step.printed is None and code):
                wrong.append(f"{path}:{step.first}: {step.command}: " + " ".join(printed))
            elif step.printed is not None and not fits(step.printed, printed):
                new = write and refreshed(step.printed, printed)
                if new:
                    changes.append((step, new))
                else:
                    difference = diff(step.printed, printed)
                    wrong.append(f"{path}:{step.first}: {step.command}\n{difference}")
    for step, new in reversed(changes):
        lines[step.first : step.first + len(step.printed)] = new
    if changes:
        file.write_text("\n".join(lines), encoding="utf-8")
    return wrong, count


def commands(lines):
    """Returns the commands of a page in order, shown or not."""
    steps, blocks = [], markdown.blocks(lines)
    for number, line in enumerate(lines):
        hidden = re.fullmatch(r"<!-- (before|save): (.*) -->", line)
        if hidden and hidden[1] == "before":
            steps.append(Shown(hidden[2], number + 1, None))
        elif hidden:
            text = "\n".join(next(block.lines for block in blocks if block.first > number))
            steps.append(Shown(f"cat >{hidden[2]} <<'END'\n{text}\nEND", number + 1, None))
    for block in blocks:
        if block.language != "console":
            continue
        for offset, line in enumerate(block.lines):
            number = block.first + offset
            if line.startswith("$ "):
                steps.append(Shown(line[2:], number + 1, []))
                last = steps[-1]
            elif offset == 0:
                raise SystemExit(f"error: a console block must begin with a command after `$ `, not with {line!r}")
            elif last.command.endswith("\\") and not last.printed:
                last.command = last.command[:-1] + line.strip()
                last.first += 1
            else:
                last.printed.append(line.rstrip())
    return sorted(steps, key=lambda step: step.first)


def checkout(scratch, root):
    """Creates a folder that looks like a checkout."""
    here = scratch / "warpbook"
    here.mkdir()
    for name in ("kernels", "crates", "docs", "scripts", "Cargo.toml", "README.md"):
        (here / name).symlink_to(root / name)
    return here


def surroundings(tools, programs):
    """Returns the environment of the commands: a cargo that only runs prebuilt programs, and no CUDA settings.

    The substitute for cargo is written before any command starts. Otherwise, a process started at that moment
    could inherit the open file, which then cannot be executed.
    """
    cargo = tools / "cargo"
    cargo.write_text(CARGO)
    cargo.chmod(0o755)
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CUDA_", "RUST", "LC_", "LANG", "COLUMNS"))
    }
    search = f"{tools}{os.pathsep}{variables['PATH']}"
    return {**variables, "PATH": search, "LANG": "C.UTF-8", "PROGRAMS": str(programs)}


def run(command, here, environment):
    """Returns the lines that a command prints and its exit code."""
    try:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=here,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            text=True,
            encoding="utf-8",
        )
    except subprocess.TimeoutExpired:
        return [f"exceeded the limit of {SECONDS} s"], 127
    text = done.stdout.replace(str(here), HOME).rstrip("\n")
    return [line.rstrip() for line in text.split("\n")] if text else [], done.returncode


def masked(lines):
    for pattern, name in MASKS:
        lines = [pattern.sub(name, line) for line in lines]
    return lines


def parts(shown):
    """Returns the pieces of the shown lines between `…`."""
    pieces = [[]]
    for line in shown:
        if line == ELIDED:
            pieces.append([])
        else:
            pieces[-1].append(line)
    return pieces


def fits(shown, printed):
    """Returns true if the shown lines match the output, apart from omitted and masked parts."""
    first, *rest = parts(masked(shown))
    printed = masked(printed)
    if not rest:
        return first == printed
    *between, last = rest
    if printed[: len(first)] != first:
        return False
    at = len(first)
    for piece in between:
        while printed[at : at + len(piece)] != piece:
            at += 1
            if at > len(printed):
                return False
        at += len(piece)
    return len(printed) - at >= len(last) and (not last or printed[-len(last) :] == last)


def refreshed(shown, printed):
    """Returns the shown pieces with the current output, or `None` if a piece cannot be found in it."""
    first, *rest = parts(shown)
    if not rest:
        return printed
    *between, last = rest
    new = printed[: len(first)]
    for piece in between:
        near = difflib.get_close_matches(piece[0], printed, n=1, cutoff=0.6) if piece else []
        if piece and not near:
            return None
        at = printed.index(near[0]) if piece else 0
        new += [ELIDED, *printed[at : at + len(piece)]]
    new += [ELIDED, *(printed[-len(last) :] if last else [])]
    return new if fits(new, printed) else None


def diff(shown, printed):
    """Returns the differences in unified diff format."""
    lines = difflib.unified_diff(shown, printed, "shown", "printed", n=1, lineterm="")
    return "\n".join(f"    {line}" for line in lines)
