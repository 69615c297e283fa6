"""Matrix multiplication at many sizes, compared with cuBLAS: see scripts/sizes."""

from . import flags as shared, programs, records, tables
from .chapters import runs
from .results import measure, pages

# Each limit, and the rungs to compare with it.
RUNGS = {"cuBLAS, fp32": ["split k"], "cuBLAS, TF32": ["tensor cores", "warpgroups"]}


def main(doc):
    parser = shared.parser(doc, "--programs", "--save", "--from", "--into", "--check")
    flags = shared.parse(parser)
    if flags.source and (flags.programs or flags.save):
        parser.error("--from prints recorded results and measures nothing: --programs and --save do not apply")
    lines = records.read(flags.source) if flags.source else measured(flags)
    records.save(flags.save, lines)
    part = f"{pages.describe(lines[0])}\n\n{table(lines[1:])}"
    if flags.into:
        tables.insert({flags.into: {"sizes": part}}, flags.check, "the table of the records")
    else:
        print(part)


def measured(flags):
    """Returns the machine and a record per size."""
    lines = [measure.this_machine()]
    rungs = ",".join(rung.replace(" ", "-") for rungs in RUNGS.values() for rung in rungs)
    for chapter, sizes in runs("sizes"):
        arguments = f"--variant {rungs} {sizes}"
        lines.append(programs.record(flags.programs, chapter, arguments, "gpu", CUDA_BACKEND="gpu"))
        records.save(flags.save, lines)  # save early: the remaining runs may take minutes, and fail
    return lines


def table(lines):
    """Returns a table with a row per size: cuBLAS's time and variant, and each rung's time and share of cuBLAS's speed."""
    header = ["M×N×P"]
    for limit, rungs in RUNGS.items():
        header += [f"{limit}, ms", "variant"]
        header += [cell for rung in rungs for cell in (f"`{rung}`, ms", "share")]
    return tables.table(header, [row(record) for record in lines])


def row(record):
    inputs = record["inputs"]
    limits = {limit["name"]: limit for limit in record["limits"]}
    results = {result["variant"]: result for result in record["results"]}
    cells = ["×".join(str(inputs[side]) for side in "mnp")]
    for limit, rungs in RUNGS.items():
        library = limits[limit]
        cells += [pages.number(library["median_ms"]), library["variant"]]
        for rung in rungs:
            pages.require_verified(record, results[rung])
            time = results[rung]["median_ms"]
            cells += [pages.number(time), f"{100 * library['median_ms'] / time:.0f} %"]
    return cells
