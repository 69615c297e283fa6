"""The tables of docs/results/checks.md."""

from ..tables import table
from .kinds import FOR, KINDS, OF_HOST
from .verdicts import gpu_sees, names_it, on_gpu, sees, simulated


def sections(machine, cases, reports):
    parts = {"machine": describe(machine, cases, reports), "kinds": kinds(cases, reports)}
    for kind in KINDS:
        parts[kind] = mistakes([case for case in cases if case["kind"] == kind], reports)
    parts["unwatched"] = unwatched([case for case in cases if case["kind"] == "mem"], reports)
    return parts


def describe(machine, cases, reports):
    watched = [case for case in cases if case["kind"] in FOR]
    beside = [case for case in cases if case["kind"] not in FOR]
    found = sum(sees(case, reports[case["name"], False]) for case in watched)
    alone = sum(sees(case, reports[case["name"], False]) for case in beside)
    theirs = sum(gpu_sees(case, reports[case["name"], False]) for case in watched)
    spoken = [record for records in reports.values() for record in records if record["twin"]]
    ours = sum(bool(r["findings"]) for r in spoken if r["tool"] == "simulator")
    twins = {r["case"] for r in spoken if r["tool"] != "simulator" and r["findings"]}
    return (
        f"{machine['gpu']}, driver {machine['driver']}, compute-sanitizer "
        f"{machine['compute_sanitizer']}, {machine['date']}: {len(watched)} mistakes and as many "
        f"correct twins. The simulator finds {found} of the mistakes, compute-sanitizer {theirs}. "
        f"The simulator reports {ours or 'none'} of the twins, compute-sanitizer "
        f"{len(twins) or 'none'}. For {len(beside)} more compute-sanitizer has no tool; the "
        f"simulator finds {alone}."
    )


def kinds(cases, reports):
    rows = []
    for kind, meaning in KINDS.items():
        these = [case for case in cases if case["kind"] == kind]
        ours = sum(sees(case, reports[case["name"], False]) for case in these)
        theirs = sum(gpu_sees(case, reports[case["name"], False]) for case in these)
        gpu = f"{theirs} ({FOR[kind]})" if kind in FOR else "– (no tool)"
        rows.append([f"{kind}: {meaning}", len(these), ours, gpu])
    return table(["kind", "mistakes", "the simulator finds", "compute-sanitizer finds"], rows)


def unwatched(cases, reports):
    """Lists the memory bugs that a GPU reports by itself, while a tool for other bugs runs."""
    stopped = [
        case["name"]
        for case in cases
        for record in reports[case["name"], False]
        if record["tool"] == "synccheck" and record["exit"] != 0
    ]
    return (
        f"By itself, under a tool that looks for other things (synccheck), the GPU ended "
        f"{len(stopped)} of these {len(cases)} kernels with an error: {', '.join(stopped)}. The "
        f"other {len(cases) - len(stopped)} ran to their end as if nothing were wrong."
    )


def mistakes(cases, reports):
    rows = []
    for case in cases:
        records = reports[case["name"], False]
        link = f"[{case['name']}](../../{case['file']})"
        marked = sorted(case["lines"] + case["with"]) if case["kind"] not in OF_HOST else "–"
        ours = cell(simulated(records)["findings"], case, lambda one: one["check"])
        theirs = cell(on_gpu(records, case), case, lambda one: one["tool"])
        rows.append([link, ", ".join(map(str, marked)), ours, theirs])
    return table(["mistake", "lines", "the simulator", "compute-sanitizer"], rows)


def cell(found, case, source):
    """Formats the reports that name marked lines; equal reports are merged, with the lines of all."""
    alike = {}
    for one in found:
        if names_it(case, one) or one["title"] == "Stack overflow":
            title = one["title"]
            if one.get("what") and case["kind"] == "mem":
                title += f", {one['what']}"
            head = source(one), one["severity"], title
            lines, count = alike.get(head, (set(), 0))
            alike[head] = lines | set(one["lines"]), count + one["count"]
    texts = []
    for (where, severity, title), (lines, count) in alike.items():
        at = ", ".join(map(str, sorted(lines)))
        at = f", line{'s' if len(lines) > 1 else ''} {at}" if lines else ""
        warns = " warns" if severity == "warning" else ""
        times = f" ({count} times)" if count > 1 else ""
        texts.append(f"{where}{warns}: {title.replace('__', '')}{at}{times}")
    return "<br>".join(texts) or "–"
