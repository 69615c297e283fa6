"""Checks the workflows for GitHub and the action: see scripts/workflows."""

import pathlib
import sys
import tempfile

from .. import flags as command_line
from . import action, lint, pages, tools


def main(doc):
    parser = command_line.parser(doc)
    parser.add_argument("--wheel", type=pathlib.Path, metavar="FILE")
    flags = parser.parse_args()
    wrong = lint.check()
    if flags.wheel and not flags.wheel.is_file():
        parser.error(f"--wheel {flags.wheel}: no such file")
    if flags.wheel:
        with tempfile.TemporaryDirectory(prefix="workflows-") as scratch:
            machine = tools.Machine(pathlib.Path(scratch).resolve(), flags.wheel.resolve())
            wrong += action.check(machine)
            wrong += pages.check(machine)
    if wrong:
        sys.exit("\n".join(["error: workflows:", *wrong]))
