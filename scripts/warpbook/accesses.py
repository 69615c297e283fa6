"""Measures the cost of single warp accesses on a GPU: see scripts/accesses."""

import csv
import pathlib
import sys
import tempfile

from . import ROOT, flags as shared, programs

TABLE = ROOT / "crates/machinery/simulator/cuda-sim/src/profile/traffic/h200.txt"

# Counters by memory and operation, in the table's order.
GLOBAL = "pipe_lsu_mem_global_op_"
COUNTERS = {
    "shared": {
        None: [
            "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
        ]
    },
    "global": {
        "load": [
            "l1tex__data_pipe_lsu_wavefronts.sum",
            f"l1tex__t_sectors_{GLOBAL}ld.sum",
            f"l1tex__t_set_accesses_{GLOBAL}ld.sum",
        ],
        "store": ["l1tex__data_pipe_lsu_wavefronts.sum", f"l1tex__t_sectors_{GLOBAL}st.sum"],
        "atomic": ["l1tex__data_pipe_lsu_wavefronts.sum", f"l1tex__t_sectors_{GLOBAL}red.sum"],
    },
    "constant": {None: ["idc__requests.sum"]},
    "copy": {
        None: [
            f"smsp__sass_l1tex_t_sectors_{GLOBAL}ldgsts.sum",
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
        ]
    },
}


def names(memory, operation):
    counters = COUNTERS[memory]
    return counters.get(operation) or counters[None]


def measured(program, table, memory, cases):
    """Returns the counters of all cases of a memory, minus those of a launch without the access."""
    every = sorted({name for group in COUNTERS[memory].values() for name in group})
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--clock-control", "none", "--cache-control", "none"]
    command += ["--metrics", ",".join(every), str(program), memory, str(table)]
    lines = programs.output(command).splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        sys.exit("error: ncu counted nothing: this user may lack the permission to read the GPU's counters")
    rows = [row for row in csv.DictReader(lines[start:]) if row["ID"].isdigit()]
    if len(rows) != len(cases):
        sys.exit(f"error: {memory}: ncu counted {len(rows)} launches of {len(cases)}")
    results = []
    for case, row in zip(cases, rows):
        result = [int(row[name].replace(",", "")) for name in names(memory, case.split()[1])]
        results.append(result)
    if memory == "constant":
        # Parameters are constants too. One address in all lanes is one request.
        baseline = {}
        for case, result in zip(cases, results):
            _, _, size, mask, *pattern = case.split()
            if mask == "ffffffff" and pattern == ["step", "0"]:
                baseline[size] = result[0] - 1
        for case, result in zip(cases, results):
            size = case.split()[2]
            if size not in baseline:
                missing = f"constant load {size} ffffffff step 0"
                sys.exit(f"error: the table has no case `{missing}` to compare with")
            result[0] -= baseline[size]
    elif memory != "copy":
        # Every launch has one additional wavefront.
        for result in results:
            result[0] -= 1
    return results


def main(doc):
    parser = shared.parser(doc, "--check")
    parser.add_argument("table", nargs="?", type=pathlib.Path, default=TABLE)
    options = shared.parse(parser)
    try:
        lines = options.table.read_text().splitlines()
    except OSError as error:
        sys.exit(f"error: {options.table} cannot be read: {error.strerror}")
    cases = {memory: [] for memory in COUNTERS}
    for line in lines:
        if line and not line.startswith("#"):
            memory = line.split()[0]
            if memory not in cases:
                sys.exit(f"error: {options.table}: unknown memory in the line {line}")
            cases[memory].append(line.split(" = ")[0])
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "accesses"
        source = ROOT / "scripts/accesses.cu"
        programs.output(["nvcc", "-O3", "-arch=native", str(source), "-o", str(program)])
        results = {}
        for memory, listed in cases.items():
            if listed:
                counted = measured(program, options.table.resolve(), memory, listed)
                results.update(zip(listed, counted))
    differ = 0
    for line in lines:
        case, _, expected = line.partition(" = ")
        if case not in results:
            if not options.check:
                print(line)
            continue
        counted = " ".join(map(str, results[case]))
        if not options.check:
            print(f"{case} = {counted}")
        elif counted != expected:
            differ += 1
            print(f"{line}, but here {counted}")
    if options.check:
        print(f"{differ} of {len(results)} cases differ")
        sys.exit(1 if differ else 0)
