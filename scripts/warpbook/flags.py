"""Command-line flags shared by several commands, and the parser that prints a command's usage text."""

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
    """Returns a parser whose help is the command's usage text, with the given shared flags."""
    first, *rest = doc.split("\n\n")
    result = argparse.ArgumentParser(
        description=first,
        epilog="\n\n".join(rest),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in shared:
        result.add_argument(name, **SHARED[name])
    return result


def parse(parser):
    """Parses the command line. Exits with an error if --check lacks the files to compare."""
    flags = parser.parse_args()
    needed = {"source": "--from FILE", "into": "--into FILE"}
    needed = {flag: name for flag, name in needed.items() if flag in flags}
    if flags.check and not all(getattr(flags, flag) for flag in needed):
        parser.error(f"--check needs {' and '.join(needed.values())}")
    return flags
