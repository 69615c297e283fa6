"""Runs the planted bugs on the simulator, and parses the reports of its checks."""

import re

from .kinds import KINDS
from .run import watched

# Faults that end a kernel, with the kind of bug they indicate.
FAULTS = {
    "illegal address": "mem",
    "misaligned address": "mem",
    "stack overflow": "mem",
    "barrier": "sync",
    "invalid barrier": "sync",
}


def simulate(flags, case, twin):
    """Runs one case on the simulator and returns its findings."""
    output, status = watched(flags, [], case, twin, "sim")
    reports, last = [], None
    for line in output.splitlines():
        first = re.match(r"warpbook: (.*)", line)
        position = re.match(r"  (?:reads |writes |updates atomically |block .*(?:reads|writes|updates atomically) )?at \S+\.cu:(\d+)", line)
        if first:
            last = simulated_line(first[1])
            reports += [last] if last else []
        elif last and position:
            last["lines"].append(int(position[1]))
        elif not line.startswith("  "):
            last = None
        elif last and last["lines"] and not last["what"] and not line.startswith("  likely cause"):
            last["what"] = re.sub(r" (?:at )?0x\w+", "", line.strip())
    return {"case": case["name"], "twin": twin, "tool": "simulator", "exit": status, "findings": reports}


def simulated_line(text):
    """Parses the first line of a report: a fault or a finding. Returns `None` for other lines."""
    fault = re.match(rf"({'|'.join(FAULTS)})\b", text)
    if fault:
        title = re.sub(r" (?:at )?0x\w+(?: is)?|, outside every .*", "", text)
        severity, kind, count = "error", FAULTS[fault[1]], 1
    else:
        check = re.match(r"(error|warning): (\w+): (.*?)(?: \((\d+) times(?:, PTX lines [^)]*)?\))?$", text)
        if not check or check[2] not in KINDS:
            return None
        severity, kind, title, count = check.groups()
    finding = {"severity": severity, "check": kind, "title": title, "lines": [], "what": ""}
    return {**finding, "count": int(count or 1)}
