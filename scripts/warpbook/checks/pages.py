"""The tables of docs/results/checks.md."""

from ..tables import table
from .kinds import FOR, KINDS, OF_HOST
from .verdicts import gpu_sees, names_it, on_gpu, sees, simulated


def sections(machine, cases, reports):
    parts = {"machine": describe(machine, cases, reports), "kinds": kinds(cases, reports)}
    for kind in KINDS:
        parts[kind] = bugs([case for case in cases if case["kind"] == kind], reports)
    parts["unwatched"] = unwatched([case for case in cases if case["kind"] == "mem"], reports)
    return parts


def describe(machine, cases, reports):
    with_tool = [case for case in cases if case["kind"] in FOR]
    without_tool = [case for case in cases if case["kind"] not in FOR]
    found_by_simulator = sum(sees(case, reports[case["name"], False]) for case in with_tool)
    found_without_tool = sum(sees(case, reports[case["name"], False]) for case in without_tool)
    found_by_gpu = sum(gpu_sees(case, reports[case["name"], False]) for case in with_tool)
    twin_records = [record for records in reports.values() for record in records if record["twin"]]
    ours = sum(bool(r["findings"]) for r in twin_records if r["tool"] == "simulator")
    twins = {r["case"] for r in twin_records if r["tool"] != "simulator" and r["findings"]}
    return (
        f"{machine['gpu']}, driver {machine['driver']}, compute-sanitizer "
        f"{machine['compute_sanitizer']}, {machine['date']}: {len(with_tool)} bugs and as many "
        f"correct twins. The simulator finds {found_by_simulator} of the bugs, compute-sanitizer {found_by_gpu}. "
        f"The simulator reports {ours or 'none'} of the twins, compute-sanitizer "
        f"{len(twins) or 'none'}. compute-sanitizer has no tool for {len(without_tool)} more, of which the "
        f"simulator finds {found_without_tool}."
    )


def kinds(cases, reports):
    rows = []
    for kind, meaning in KINDS.items():
        of_kind = [case for case in cases if case["kind"] == kind]
        ours = sum(sees(case, reports[case["name"], False]) for case in of_kind)
        found_by_gpu = sum(gpu_sees(case, reports[case["name"], False]) for case in of_kind)
        gpu = f"{found_by_gpu} ({FOR[kind]})" if kind in FOR else "– (no tool)"
        rows.append([f"{kind}: {meaning}", len(of_kind), ours, gpu])
    return table(["kind", "bugs", "found by the simulator", "found by compute-sanitizer"], rows)


def unwatched(cases, reports):
    """Lists the memory bugs that a GPU reports by itself, while a tool for other bugs runs."""
    stopped = [
        case["name"]
        for case in cases
        for record in reports[case["name"], False]
        if record["tool"] == "synccheck" and record["exit"] != 0
    ]
    return (
        f"Without a tool for memory bugs (under synccheck), the GPU ended "
        f"{len(stopped)} of these {len(cases)} kernels with an error: {', '.join(stopped)}. The "
        f"other {len(cases) - len(stopped)} ran to the end without an error."
    )


def bugs(cases, reports):
    rows = []
    for case in cases:
        records = reports[case["name"], False]
        link = f"[{case['name']}](../../{case['file']})"
        marked = sorted(case["lines"] + case["with"]) if case["kind"] not in OF_HOST else "–"
        ours = cell(simulated(records)["findings"], case, lambda finding: finding["check"])
        theirs = cell(on_gpu(records, case), case, lambda finding: finding["tool"])
        rows.append([link, ", ".join(map(str, marked)), ours, theirs])
    return table(["bug", "lines", "simulator", "compute-sanitizer"], rows)


def cell(findings, case, source):
    """Formats the reports that name marked lines; equal reports are merged, with the lines of all."""
    merged = {}
    for finding in findings:
        if names_it(case, finding) or finding["title"] == "Stack overflow":
            title = finding["title"]
            if finding.get("what") and case["kind"] == "mem":
                title += f", {finding['what']}"
            head = source(finding), finding["severity"], title
            lines, count = merged.get(head, (set(), 0))
            merged[head] = lines | set(finding["lines"]), count + finding["count"]
    texts = []
    for (where, severity, title), (lines, count) in merged.items():
        at = ", ".join(map(str, sorted(lines)))
        at = f", line{'s' if len(lines) > 1 else ''} {at}" if lines else ""
        warns = " warns" if severity == "warning" else ""
        times = f" ({count} times)" if count > 1 else ""
        texts.append(f"{where}{warns}: {title.replace('__', '')}{at}{times}")
    return "<br>".join(texts) or "–"
