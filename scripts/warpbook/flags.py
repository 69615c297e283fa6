"""A command's flags: those that several commands have, and how its help is made."""

import argparse
import pathlib

SHARED = {
    "--programs": {"type": pathlib.Path, "metavar": "FOLDER"},
    "--save": {"type": pathlib.Path, "metavar": "FILE"},
    "--from": {"type": pathlib.Path, "metavar": "FILE", "dest": "source"},
    "--into": {"type": pathlib.Path, "metavar": "FILE"},
    "--check": {"action": "store_true"},
}


def parser(doc, *shared):
    """A parser whose help is a command's own text, with these of the shared flags."""
    first, *rest = doc.split("\n\n")
    made = argparse.ArgumentParser(
        description=first,
        epilog="\n\n".join(rest),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in shared:
        made.add_argument(name, **SHARED[name])
    return made


def parse(parser):
    """The flags. What --check compares has to be kept somewhere."""
    flags = parser.parse_args()
    needed = {"source": "--from FILE", "into": "--into FILE"}
    needed = {flag: name for flag, name in needed.items() if flag in flags}
    if flags.check and not all(getattr(flags, flag) for flag in needed):
        parser.error(f"--check needs {' and '.join(needed.values())}")
    return flags
