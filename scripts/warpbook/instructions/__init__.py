"""Results of single PTX instructions on a GPU, for the simulator's tests: see scripts/instructions."""

import argparse
import pathlib

from . import atomics, carries, device, flushed, packed, template


def main(doc):
    summary, _, rest = doc.partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--ptx", action="store_true", help="print only the PTX")
    flags = parser.parse_args()
    snippets = [*carries.snippets(), *packed.snippets(), *atomics.snippets()]
    snippets += flushed.snippets()
    if flags.ptx:
        print(template.module(snippets))
    elif flags.folder:
        record(snippets, flags.folder)
    else:
        parser.error("name a folder for the record, or use --ptx")


def record(snippets, folder):
    from .. import machine

    name, driver = machine.gpu("name", "driver_version")
    lines = [
        f"# {name}, driver {driver}, {machine.today()}: scripts/instructions.",
        "# A line that begins with `: ` is PTX with inputs in the words x0 … x5 and outputs in the words y0 … y4;",
        "# each line below it has the inputs x0 … and, after the equals sign, the outputs y0 …",
    ]
    lines += device.recorded(snippets)
    short = name.lower().split()[-1]
    (folder / f"instructions-{short}.txt").write_text("\n".join(lines) + "\n")
