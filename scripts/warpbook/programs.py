"""Programs that scripts run: the chapters', and others'."""

import json
import os
import shlex
import subprocess
import sys
import tempfile

from . import ROOT


def chapter(programs, name):
    """The words that start a chapter's program: one in a folder, or as cargo builds it."""
    if programs:
        return [str(programs.resolve() / name)]
    manifest = ["--manifest-path", str(ROOT / "Cargo.toml")]
    return ["cargo", "run", "--quiet", "--locked", *manifest, "-p", name, "--"]


def record(programs, name, flags, where, **settings):
    """What a chapter's program prints with --json. `where` it runs is said, for who waits."""
    print(" ".join(filter(None, [name, flags, f"({where})"])), file=sys.stderr)
    words = [*chapter(programs, name), *shlex.split(flags), "--json"]
    return json.loads(output(words, **settings))


def output(words, cwd=None, **settings):
    """What a program prints, run in a folder of its own, where none is given: a picture may be left
    there."""
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
            sys.exit(f"error: {words[0]} does not run: {error}")
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}error: this failed: {shlex.join(map(str, words))}")
    return done.stdout


def environment(**settings):
    """The environment with these variables; without those that are None."""
    kept = {name: value for name, value in os.environ.items() if name not in settings}
    return kept | {name: value for name, value in settings.items() if value is not None}
