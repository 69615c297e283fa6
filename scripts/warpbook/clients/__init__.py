"""Runs the tests of programs that load CUDA's driver themselves: see scripts/clients."""

import argparse
import json
import pathlib
import subprocess
import sys

from .. import tables
from . import catalogue, pages
from .install import Missing

ROOT = pathlib.Path(__file__).resolve().parents[3]


def main(doc):
    flags = parse(doc)
    if flags.source:
        found = read(flags.source)
    else:
        found = run(flags)
    parts = pages.parts(sorted(found, key=place))
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "those of the runs")
    else:
        tables.show(parts)
    unknown = [f"{one['client']}: {test['test']}: {test['why']}" for one in found for test in unexpected(one)]
    if flags.ci and unknown:
        sys.exit("these tests fail that are not known to:\n" + "\n".join(unknown))
    if flags.ci and (well := list(mended(found))):
        sys.exit("these tests are known to fail, and did not: take them out of catalogue.py\n" + "\n".join(well))


def parse(doc):
    summary, _, rest = doc.partition("\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [client.name for client in catalogue.CLIENTS]
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(names))
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--save", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--into", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--continue", dest="go_on", action="store_true")
    parser.add_argument("--program", type=pathlib.Path, metavar="CUDA-RUN", help="a cuda-run that was built before")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "target/clients", help="where clients are")
    parser.add_argument(
        "--sources",
        action="append",
        type=named,
        default=[],
        metavar="CLIENT=FOLDER",
        help="the repository of a client whose package has no tests",
    )
    parser.add_argument("--python", default="/usr/bin/python3", help="one that has torch")
    flags = parser.parse_args()
    flags.sources = dict(flags.sources)
    if unknown := {*flags.clients, *flags.sources} - set(names):
        parser.error(f"no client is called {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return flags


def named(text):
    """Parses CLIENT=FOLDER."""
    name, equals, folder = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text} is not CLIENT=FOLDER")
    return name, pathlib.Path(folder)


def run(flags):
    """Runs the selected suites and returns a record per suite."""
    flags.program = (flags.program or built()).resolve()
    flags.folder = flags.folder.resolve()
    found = []
    for client in catalogue.CLIENTS:
        suites = [suite for suite in client.suites if suite.ci or not flags.ci]
        if not suites or (flags.clients and client.name not in flags.clients):
            continue
        try:
            folder = client.install(flags)
        except Missing as why:
            left_out(flags, client.name, why)
            continue
        for suite in suites:
            record = {"client": client.name, "version": client.version, "suite": suite.name}
            try:
                record |= suite.run(flags, folder)
            except Missing as why:
                left_out(flags, f"{client.name} {suite.name}", why)
                continue
            record["failed"] = [
                one | {"known": suite.known.get(suite.key(one["test"]), "")} for one in record["failed"]
            ]
            print(f"{client.name} {suite.name}: {len(record['failed'])} failed, {record['passed']} passed", flush=True)
            found.append(record)
            if flags.save:
                # Save after each suite: a later one may be interrupted.
                kept = [one for one in read(flags.save) if place(one) != place(record)]
                save(flags.save, [*kept, record])
    return found


def left_out(flags, what, why):
    if flags.ci:
        sys.exit(f"{what}: {why}")
    print(f"{what}: left out: {why}", flush=True)


def built():
    """Builds cuda-run, and the library next to it; returns its path."""
    command = ["cargo", "build", "--quiet", "-p", "cuda-run", "--message-format=json"]
    said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    messages = map(json.loads, said.splitlines())
    programs = [one["executable"] for one in messages if one.get("executable")]
    return pathlib.Path(programs[-1])


def place(record):
    return record["client"], record["suite"]


def unexpected(record):
    return [test for test in record["failed"] if not test["known"] and not test.get("on CPU")]


def mended(found):
    """Yields the tests that are listed as failing, belong to a suite that ran, and passed."""
    failed = {(*place(one), test["test"]) for one in found for test in one["failed"]}
    ran = {place(one) for one in found}
    for client in catalogue.CLIENTS:
        for suite in client.suites:
            where = (client.name, suite.name)
            if where in ran:
                failing = {suite.key(test) for *of, test in failed if tuple(of) == where}
                yield from (f"{client.name}: {test}" for test in suite.known if test not in failing)


def read(path):
    if not path or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def save(path, found):
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in sorted(found, key=place))
    path.write_text("".join(lines), encoding="utf-8")
