"""Who finds a mistake."""

from .kinds import FOR, OF_HOST


def names_it(case, finding):
    """Whether a report is of the lines that are marked; of a mistake of the host's no report has lines."""
    if case["kind"] in OF_HOST:
        return not finding["lines"]
    lines = set(finding["lines"])
    return bool(lines & set(case["lines"])) and lines <= {*case["lines"], *case["with"]}


def simulated(records):
    return next(record for record in records if record["tool"] == "simulator")


def on_gpu(records, case):
    """What the tool for this kind of mistake said; and memcheck, where that was not the tool: a GPU
    stops a kernel for some of them."""
    if case["kind"] not in FOR:
        return []
    tools = {FOR[case["kind"]], "memcheck"}
    found = [
        {**finding, "tool": record["tool"]}
        for record in records
        if record["tool"] in tools
        for finding in record["findings"]
    ]
    return sorted(found, key=lambda finding: finding["tool"] == "memcheck")


def sees(case, records):
    """Whether the simulator finds the mistake, as what it is."""
    found = simulated(records)["findings"]
    return any(one["check"] == case["kind"] and names_it(case, one) for one in found)


def gpu_sees(case, records):
    """Whether compute-sanitizer finds it. It names a function's first line for a stack overflow."""
    found = on_gpu(records, case)
    return any(names_it(case, one) or one["title"] == "Stack overflow" for one in found)


def missed(cases, said):
    for case in cases:
        name = case["name"]
        if not sees(case, said[name, False]):
            yield f"  {name}: {case['file']}:{case['lines'][0]} was not found"
        if simulated(said[name, True])["findings"]:
            yield f"  {name}: there is a report of its twin"
