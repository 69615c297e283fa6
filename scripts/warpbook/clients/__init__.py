"""Runs the tests of programs that load CUDA's driver themselves: see scripts/clients."""

import argparse
import json
import pathlib
import subprocess
import sys

from .. import ROOT, records, tables
from . import catalogue, pages
from .install import Missing


def main(doc):
    flags = parse(doc)
    if flags.source:
        suites = records.read_if_any(flags.source)
    else:
        suites = run(flags)
    parts = pages.parts(sorted(suites, key=identity))
    if flags.into:
        tables.insert({flags.into: parts}, flags.check, "the tables of the runs")
    else:
        tables.show(parts)
    unknown = [f"{record['client']}: {test['test']}: {test['why']}" for record in suites for test in unexpected(record)]
    if flags.ci and unknown:
        sys.exit("error: these tests fail unexpectedly:\n" + "\n".join(unknown))
    if flags.ci and (passing := list(fixed(suites))):
        head = "error: these tests are listed as failing but passed; remove them from catalogue.py:"
        sys.exit("\n".join([head, *passing]))


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
    parser.add_argument("--program", type=pathlib.Path, metavar="CUDA-RUN", help="prebuilt cuda-run to use")
    folder = {"type": pathlib.Path, "default": ROOT / "target/clients"}
    parser.add_argument("--folder", **folder, help="folder in which to install the clients")
    parser.add_argument(
        "--sources",
        action="append",
        type=named,
        default=[],
        metavar="CLIENT=FOLDER",
        help="the repository of a client whose package has no tests",
    )
    parser.add_argument("--python", default="/usr/bin/python3", help="a Python that has torch")
    flags = parser.parse_args()
    flags.sources = dict(flags.sources)
    if unknown := {*flags.clients, *flags.sources} - set(names):
        parser.error(f"unknown client {', '.join(sorted(unknown))}; the clients are {', '.join(names)}")
    return flags


def named(text):
    """Parses CLIENT=FOLDER."""
    name, equals, folder = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text} is not of the form CLIENT=FOLDER")
    return name, pathlib.Path(folder)


def run(flags):
    """Runs the selected suites and returns a record per suite."""
    flags.program = (flags.program or built()).resolve()
    flags.folder = flags.folder.resolve()
    results = []
    for client in catalogue.CLIENTS:
        suites = [suite for suite in client.suites if suite.ci or not flags.ci]
        if not suites or (flags.clients and client.name not in flags.clients):
            continue
        try:
            folder = client.install(flags)
        except Missing as reason:
            left_out(flags, client.name, reason)
            continue
        for suite in suites:
            record = {"client": client.name, "version": client.version, "suite": suite.name}
            try:
                record |= suite.run(flags, folder)
            except Missing as reason:
                left_out(flags, f"{client.name} {suite.name}", reason)
                continue
            record["failed"] = [
                test | {"known": suite.known.get(suite.key(test["test"]), "")} for test in record["failed"]
            ]
            print(f"{client.name} {suite.name}: {len(record['failed'])} failed, {record['passed']} passed", flush=True)
            results.append(record)
            # Save after each suite: a later one may be interrupted.
            others = [other for other in records.read_if_any(flags.save) if identity(other) != identity(record)]
            records.save(flags.save, sorted([*others, record], key=identity), ensure_ascii=False)
    return results


def left_out(flags, name, reason):
    if flags.ci:
        sys.exit(f"error: {name}: {reason}")
    print(f"{name}: left out: {reason}", flush=True)


def built():
    """Builds cuda-run, and the library next to it; returns its path."""
    command = ["cargo", "build", "--quiet", "-p", "cuda-run", "--message-format=json"]
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    messages = map(json.loads, output.splitlines())
    programs = [record["executable"] for record in messages if record.get("executable")]
    return pathlib.Path(programs[-1])


def identity(record):
    return record["client"], record["suite"]


def unexpected(record):
    return [test for test in record["failed"] if not test["known"] and not test.get("on CPU")]


def fixed(records):
    """Yields the tests that are listed as failing, belong to a suite that ran, and passed."""
    failed = {(*identity(record), test["test"]) for record in records for test in record["failed"]}
    ran = {identity(record) for record in records}
    for client in catalogue.CLIENTS:
        for suite in client.suites:
            where = (client.name, suite.name)
            if where in ran:
                failing = {suite.key(test) for *suite_identity, test in failed if tuple(suite_identity) == where}
                yield from (f"{client.name}: {test}" for test in suite.known if test not in failing)
