"""Commands shown in the book: run, and what they print compared with what the page says.

A fenced block with `console` has commands, each after `$ `, and below each what it prints. A line
`…` stands for lines left out. `<!-- before: COMMAND -->` in a page is run too, and shown to
nobody: what a reader does in an editor, for one. `<!-- save: FILE -->` puts the next block into a
file, for such a command to run it. All commands of a page run one after the other in a folder of
its own that looks like a checkout, so that what one leaves behind the next finds.

`cargo run -p NAME -- …` runs the program as it was built: nothing is compiled or fetched. What
differs from run to run and from machine to machine is masked on both sides before comparing.
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

# What is masked. Everything else has to be the same to the letter.
MASKS = [
    (re.compile(r"\bclang \d+(\.\d+)+"), "clang VERSION"),
    # Drawn anew each time unless a command gives it.
    (re.compile(r"\bseed \d+"), "seed NUMBER"),
    (re.compile(r"种子 \d+"), "种子 NUMBER"),
    # The host's time and memory.
    (re.compile(r"\b\d+(\.\d+)? (s|ms|µs) on the host"), "TIME on the host"),
]
# A command that leaves nothing behind, and prints the same every time.
CHAPTER = re.compile(r"cargo run -p (?!exercises)[\w-]+( -- (?!.*--log )[\w ,=./-]*)?")
HOME = "/home/you/warpbook"
ELIDED = "…"
SECONDS = 120

# In place of cargo: runs what was built. Of the course, the answers are in the page's folder.
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
    """A command on a page, the line after it, and what the page says it prints: None if hidden."""

    command: str
    first: int
    printed: list


def check(docs, root, programs, write):
    """What is wrong with what the pages show, a sentence each, and how many commands there are.

    With `write`, what the commands print is put into the pages, and only what could not be is said.
    """
    driver_is_absent()
    names = sorted({file.name for tree in ("en", "zh") for file in (docs / tree).glob("*.md")})
    twins = [[docs / tree / name for tree in ("en", "zh")] for name in names]
    twins.append([root / "README.md", root / "README.zh-CN.md"])

    def both(files):
        known = {}
        return [page(file, root, environment, write, known) for file in files if file.exists()]

    with tempfile.TemporaryDirectory(prefix="book-") as tools:
        environment = surroundings(pathlib.Path(tools), programs)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = [one for pages in pool.map(both, twins) for one in pages]
    return [what for wrong, _ in done for what in wrong], sum(count for _, count in done)


def driver_is_absent():
    """The pages show what the simulator prints, where there is no GPU."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    sys.exit("error: this machine has NVIDIA's driver; the book shows what comes without one")


def page(file, root, environment, write, known):
    """One page: what is wrong, and how many of its commands are shown.

    `known` has what a chapter's program printed on the page's twin: it prints that again.
    """
    named = file.relative_to(root)
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
            if step.command not in known or not CHAPTER.fullmatch(step.command):
                known[step.command] = run(step.command, here, environment)
            printed, code = known[step.command]
            if code in (126, 127) or (step.printed is None and code):
                wrong.append(f"{named}:{step.first}: {step.command}: " + " ".join(printed))
            elif step.printed is not None and not fits(step.printed, printed):
                new = write and refreshed(step.printed, printed)
                if new:
                    changes.append((step, new))
                else:
                    what = unlike(step.printed, printed)
                    wrong.append(f"{named}:{step.first}: {step.command}\n{what}")
    for step, new in reversed(changes):
        lines[step.first : step.first + len(step.printed)] = new
    if changes:
        file.write_text("\n".join(lines), encoding="utf-8")
    return wrong, count


def commands(lines):
    """The commands of a page in their order, shown or not."""
    steps, blocks = [], markdown.blocks(lines)
    for number, line in enumerate(lines):
        hidden = re.fullmatch(r"<!-- (before|save): (.*) -->", line)
        if hidden and hidden[1] == "before":
            steps.append(Shown(hidden[2], number + 1, None))
        elif hidden:
            text = "\n".join(next(one.lines for one in blocks if one.first > number))
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
                raise SystemExit(f"error: a console block begins with {line!r}, not with a command")
            elif last.command.endswith("\\") and not last.printed:
                last.command = last.command[:-1] + line.strip()
                last.first += 1
            else:
                last.printed.append(line.rstrip())
    return sorted(steps, key=lambda step: step.first)


def checkout(scratch, root):
    """A folder like a checkout."""
    here = scratch / "warpbook"
    here.mkdir()
    for name in ("kernels", "crates", "docs", "scripts", "Cargo.toml", "README.md"):
        (here / name).symlink_to(root / name)
    return here


def surroundings(tools, programs):
    """What commands find around them: a cargo that only runs what is there, no settings of ours.

    It is written before the first of them starts. Later, the start of another at that moment may
    hold it open, and then it cannot be run.
    """
    cargo = tools / "cargo"
    cargo.write_text(CARGO)
    cargo.chmod(0o755)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CUDA_", "RUST", "LC_", "LANG", "COLUMNS"))
    }
    search = f"{tools}{os.pathsep}{kept['PATH']}"
    return {**kept, "PATH": search, "LANG": "C.UTF-8", "PROGRAMS": str(programs)}


def run(command, here, environment):
    """The lines that a command prints, and its exit code."""
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
        return [f"takes longer than {SECONDS} s"], 127
    text = done.stdout.replace(str(here), HOME).rstrip("\n")
    return [line.rstrip() for line in text.split("\n")] if text else [], done.returncode


def masked(lines):
    for pattern, name in MASKS:
        lines = [pattern.sub(name, line) for line in lines]
    return lines


def parts(shown):
    """What is shown, in the pieces that `…` separates."""
    pieces = [[]]
    for line in shown:
        if line == ELIDED:
            pieces.append([])
        else:
            pieces[-1].append(line)
    return pieces


def fits(shown, printed):
    """Whether what is shown is what was printed, but for what is left out and masked."""
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
    """What to show now: the same pieces of what is printed. None: one of them is not there."""
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


def unlike(shown, printed):
    """How the two differ, in the form of `diff`."""
    lines = difflib.unified_diff(shown, printed, "shown", "printed", n=1, lineterm="")
    return "\n".join(f"    {line}" for line in lines)
