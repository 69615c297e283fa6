"""Decides which tool finds a bug."""

from .kinds import FOR, OF_HOST


def names_it(case, finding):
    """Returns true if a report names the marked lines. Reports of bugs of the host program have no lines."""
    if case["kind"] in OF_HOST:
        return not finding["lines"]
    lines = set(finding["lines"])
    return bool(lines & set(case["lines"])) and lines <= {*case["lines"], *case["with"]}


def simulated(records):
    return next(record for record in records if record["tool"] == "simulator")


def on_gpu(records, case):
    """Returns the reports of the tool for this kind of bug, then memcheck's: a GPU stops a kernel by itself for
    some bugs, which memcheck reports."""
    if case["kind"] not in FOR:
        return []
    tools = {FOR[case["kind"]], "memcheck"}
    reports = [
        {**finding, "tool": record["tool"]}
        for record in records
        if record["tool"] in tools
        for finding in record["findings"]
    ]
    return sorted(reports, key=lambda finding: finding["tool"] == "memcheck")


def sees(case, records):
    """Returns true if the simulator reports the bug as the correct kind."""
    reports = simulated(records)["findings"]
    return any(finding["check"] == case["kind"] and names_it(case, finding) for finding in reports)


def gpu_sees(case, records):
    """Returns true if compute-sanitizer reports the bug. For a stack overflow it names a function's first line."""
    reports = on_gpu(records, case)
    return any(names_it(case, finding) or finding["title"] == "Stack overflow" for finding in reports)


def missed(cases, reports):
    for case in cases:
        name = case["name"]
        if not sees(case, reports[name, False]):
            yield f"  {name}: {case['file']}:{case['lines'][0]}: the simulator does not find the bug"
        if simulated(reports[name, True])["findings"]:
            yield f"  {name}: the simulator reports its correct twin"
