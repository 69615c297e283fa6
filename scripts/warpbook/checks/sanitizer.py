"""Runs the planted bugs on a GPU under compute-sanitizer, and parses its reports."""

import collections
import concurrent.futures
import re
import sys

from .. import machine, records
from .kinds import FOR, TOOLS
from .run import watched


def gpu_side(flags, cases):
    """Returns the machine and one record per run: read from a file, measured, or partly both. Skips the kinds
    for which there is no tool."""
    cases = [case for case in cases if case["kind"] in FOR]
    if not flags.source:
        return this_machine(), measure(flags, cases)
    recorded_on, *results = records.read(flags.source)
    if flags.only:
        here = this_machine()
        if {**here, "date": recorded_on["date"]} != recorded_on:
            sys.exit(f"error: {flags.source} was recorded on another machine; run all cases")
        others = [record for record in results if record["case"] not in flags.only]
        results = others + measure(flags, [case for case in cases if case["name"] in flags.only])
    order = {case["name"]: number for number, case in enumerate(cases)}
    missing = sorted(order.keys() - {record["case"] for record in results})
    if missing:
        sys.exit(f"error: {flags.source} lacks the cases {', '.join(missing)}: record them with --only")
    results = [record for record in results if record["case"] in order]
    return recorded_on, sorted(results, key=lambda record: order[record["case"]])


def this_machine():
    name, driver = machine.gpu("name", "driver_version")
    version = machine.version("compute-sanitizer")
    return {
        "gpu": name,
        "driver": driver,
        "compute_sanitizer": version,
        "date": machine.today(),
    }


def measure(flags, cases):
    runs = [(case, twin, tool) for case in cases for twin in (False, True) for tool in TOOLS]
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        return list(pool.map(lambda run: sanitize(flags, *run), runs))


def sanitize(flags, case, twin, tool):
    """Runs one case under one tool and returns its findings."""
    command = ["compute-sanitizer", "--tool", tool, *TOOLS[tool], "--show-backtrace", "no"]
    output, status = watched(flags, command + ["--print-limit", "10000"], case, twin, "gpu")
    if flags.logs:
        flags.logs.mkdir(exist_ok=True)
        name = f"{case['name']}{'.right' if twin else ''}.{tool}"
        (flags.logs / name).write_text(f"{output}\nexit {status}\n")
    if status is not None and "SUMMARY" not in output:
        lines = output.strip().splitlines()
        sys.exit(f"error: {tool} of {case['name']} failed: {lines[-1] if lines else status}")
    reports = sanitized(output, status)
    return {"case": case["name"], "twin": twin, "tool": tool, "exit": status, "findings": reports}


def sanitized(output, status):
    """Returns compute-sanitizer's reports by severity, title and lines, with the number of occurrences.

    An error destroys the context, which therefore frees nothing: leaks after an error are ignored. Races are
    reported access by access and then as a summary, which is ignored.
    """
    counts = collections.Counter()
    severity, title, lines = None, None, []

    def close():
        if title and not (title.startswith("Leaked") and status):
            counts[severity, title, tuple(lines)] += 1

    for line in output.splitlines():
        start = re.match(r"========= (\S.*)", line)
        if start:
            close()
            severity, title = first_line(start[1])
            lines = []
        if line.startswith("========="):
            lines += [int(number) for number in re.findall(r"\.cu:(\d+)", line)]
    close()
    return findings(counts)


def first_line(text):
    """Returns severity and title of a report, without the parts that vary between runs. The title is `None` if
    the line is not a report or repeats another one."""
    start = re.match(r"(?:(Error|Warning): )?(.*)", text)
    severity, title = (start[1] or "Error").lower(), start[2]
    match = re.match(
        r"(?:\(Warp Level Programming\) )?(?:Potential )?"
        r"(Invalid .* bytes|Stack overflow|Illegal instruction|Leaked .* bytes"
        r"|Uninitialized .* bytes|... hazard|Barrier error detected\. [^.]*)",
        title,
    )
    title = match[1].replace("Barrier error detected. ", "") if match else None
    return severity, title


def findings(counts):
    return [
        {"severity": severity, "title": title, "lines": list(lines), "count": count}
        for (severity, title, lines), count in sorted(counts.items())
    ]
