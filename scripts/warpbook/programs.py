"""Execution of chapters and other programs."""

import json
import os
import shlex
import subprocess
import sys
import tempfile

from . import ROOT


def chapter(programs, name):
    """Returns the command that starts a chapter's program: from a folder, or through cargo."""
    if programs:
        return [str(programs.resolve() / name)]
    manifest = ["--manifest-path", str(ROOT / "Cargo.toml")]
    return ["cargo", "run", "--quiet", "--locked", *manifest, "-p", name, "--"]


def record(programs, name, flags, where, **settings):
    """Returns the record that a chapter's program prints with --json. `where` is shown as progress."""
    print(" ".join(filter(None, [name, flags, f"({where})"])), file=sys.stderr)
    words = [*chapter(programs, name), *shlex.split(flags), "--json"]
    return json.loads(output(words, **settings))


def output(words, cwd=None, **settings):
    """Returns a program's output. By default, it runs in a temporary folder, because it may leave a picture there."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                words,
                env=environment(**settings),
                cwd=cwd or folder,
                capture_output=True,
                text=True,
                encoding="utf-8",
            )
        except OSError as error:
            sys.exit(f"error: cannot run {words[0]}: {error}")
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}error: command failed: {shlex.join(map(str, words))}")
    return done.stdout


def environment(**settings):
    """Returns the environment with the given variables set, and those that are `None` removed."""
    others = {name: value for name, value in os.environ.items() if name not in settings}
    return others | {name: value for name, value in settings.items() if value is not None}


def host():
    """Returns the target that rustc compiles for by default."""
    lines = output(["rustc", "-vV"]).splitlines()
    return next(line.removeprefix("host: ") for line in lines if line.startswith("host: "))
