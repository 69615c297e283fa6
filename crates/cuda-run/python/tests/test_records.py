"""Records, and comparisons with baselines."""

import copy
import dataclasses
import json
import pickle
import sys
import time

import pytest

import warpbook
from warpbook.compare import Baseline, compare
from warpbook.counters import COUNTERS
from warpbook.records import SCHEMA

MEASURED = {
    "schema": SCHEMA,
    "program": ["add.cu"],
    "arguments": ["8"],
    "status": 0,
    "gpu": {"name": "NVIDIA H200", "compute_capability": "9.0", "driver": "13.0", "time": "measured"},
    "kernels": [],
    "measured": [
        {
            "kernel": "add<float>",
            "launches": 2,
            "varied": False,
            "grid": [16, 2, 1],
            "block": [32, 8, 1],
            "milliseconds": 0.5,
        }
    ],
    "faults": [],
    "library_calls": [{"function": "cublasSgemm", "calls": 2, "estimated_ms": 0.25}],
    "ranges": [{"name": "step", "count": 3, "milliseconds": 1.5}],
    "failed_calls": [
        {
            "severity": "error",
            "function": "cudaMemcpy",
            "error": "cudaErrorInvalidValue",
            "meaning": "invalid argument",
            "reason": {"empty-launch": {}},
            "reason_kind": "null-pointer",
            "reason_text": "the source is null",
            "location": {"file": "add.cu", "line": 9},
            "calls": 2,
            "ignored": 1,
            "expected": False,
        }
    ],
}


@pytest.fixture
def record(record_files):
    return warpbook.Record.load(record_files["add_one"])


@pytest.fixture
def race(record_files):
    return warpbook.Record.load(record_files["reverse"])


def test_a_record_contains_kernels_with_counters(record):
    assert record.gpu == warpbook.Gpu("NVIDIA H200", "9.0", "13.0", "modelled")
    assert record.program == (sys.executable,) and record.arguments[-1] == "add_one"
    assert (record.status, record.ok, record.errors, record.ended) == (0, True, (), None)
    kernel = record.kernel("add_one")
    assert (kernel.launches, kernel.grid, kernel.block, kernel.varied) == (1, (1, 1, 1), (256, 1, 1), False)
    assert (kernel.blocks, kernel.threads_per_block) == (1, 256)
    assert (kernel.global_load_requests, kernel.global_load_sectors) == (8, 32)
    assert kernel.sectors_per_load_request == kernel.sectors_per_store_request == 4
    assert kernel.counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 32
    assert (kernel.bank_conflicts, kernel.shared_wavefronts, kernel.local_sectors) == (0, 0, 0)
    assert kernel.active_threads_per_warp == 32
    assert kernel.bound_by == "launch" and kernel.busy["launch"] == kernel.milliseconds
    assert 0 < kernel.milliseconds == kernel.milliseconds_per_launch == record.milliseconds
    assert kernel.occupancy.warps == 8 and kernel.occupancy.fraction == 8 / 64
    assert kernel.roofline.bytes == 2048 and kernel.roofline.intensity == 0


def test_strided_accesses_need_more_sectors(record_files):
    kernel = warpbook.Record.load(record_files["add_strided"]).kernel("add_strided")
    assert kernel.sectors_per_load_request == 32
    assert kernel.divergent_branches == 0


def test_each_counter_of_the_record_has_an_attribute(record):
    assert set(record.kernels[0].counters) == {counter.metric for counter in COUNTERS.values()}
    assert all("Nsight Compute" in (counter.__doc__ or "") for counter in COUNTERS.values())


def test_findings_are_problems_with_locations_and_causes(race):
    assert race.checks == ("race",) and not race.ok
    first = race.errors[0]
    assert (first.kind, first.check, first.kernel) == ("read-after-write", "race", "reverse")
    assert first.cause == "missing-barrier" and first.count == 128
    assert first.headline == "read-after-write data race (128 times)"
    assert str(first).startswith("error: race: read-after-write data race (128 times)\n  in kernel reverse")
    finding = race.findings[0]
    assert finding.thread == (128, 0, 0) and finding.other.thread == (127, 0, 0) and finding.other.writes
    assert finding.location is None and finding.ptx_line > 0


def test_a_record_of_a_gpu_has_times_and_no_counters():
    record = warpbook.Record.from_json(json.dumps(MEASURED))
    kernel = record.kernel("add")
    assert kernel.measured and kernel.milliseconds_per_launch == 0.25
    assert (kernel.grid, kernel.threads_per_block, kernel.occupancy) == ((16, 2, 1), 256, None)
    with pytest.raises(warpbook.RecordError, match=r"kernel add<float> has no counter l1tex.*it ran on a GPU"):
        kernel.global_load_sectors  # noqa: B018
    assert record.library_calls == (warpbook.LibraryCalls("cublasSgemm", 2, 0.25),)
    assert record.ranges == (warpbook.Range("step", 3, 1.5),)
    call = record.failed_calls[0]
    assert (call.reason, call.reason_kind) == ("the source is null", "null-pointer")
    assert str(call.location) == "add.cu:9"
    assert "0.5 ms measured (NVIDIA H200)" in repr(record)
    assert "| add<float> |" in str(record)


def test_unknown_fields_are_ignored():
    data = copy.deepcopy(MEASURED)
    data["future"] = {"a": 1}
    data["gpu"]["future"] = data["measured"][0]["future"] = True
    assert warpbook.Record.from_json(json.dumps(data)) == warpbook.Record.from_json(json.dumps(MEASURED))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "has schema 2, but this version reads schema 1.*Use the same version"),
        ({"program": None}, "is not a record of cuda-run"),
        ({"measured": [{}]}, "the field 'kernel' is missing"),
        ({"kernels": [[]]}, "is not a record of cuda-run"),
    ],
)
def test_invalid_records_are_rejected(change, message):
    with pytest.raises(warpbook.RecordError, match=message):
        warpbook.Record.from_json(json.dumps({**MEASURED, **change}))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "nonsense", '{"schema": 1'])
def test_other_text_is_rejected(text, tmp_path):
    with pytest.raises(warpbook.RecordError, match="the record is not|is not JSON"):
        warpbook.Record.from_json(text)
    file = tmp_path / "record.json"
    file.write_text(text)
    with pytest.raises(warpbook.RecordError, match="record.json is (not a record|empty)"):
        warpbook.Record.load(file)


def test_unknown_kernels_are_reported_with_a_suggestion(record):
    with pytest.raises(warpbook.RecordError, match=r"There is no kernel add_on\. Did you mean add_one\?"):
        record.kernel("add_on")
    with pytest.raises(warpbook.RecordError, match="No kernel was launched"):
        warpbook.Record(program=("x",)).kernel("add")


def test_template_arguments_can_be_omitted_if_the_name_is_unique(record):
    kernel = record.kernels[0]
    named = [dataclasses.replace(kernel, name=name) for name in ("ns::sum<float>(float *)", "add<int>", "add<float>")]
    record = dataclasses.replace(record, kernels=tuple(named))
    assert record.kernel("sum").name == "ns::sum<float>(float *)"
    assert record.kernel("add<int>").name == "add<int>"
    with pytest.raises(warpbook.RecordError, match="2 kernels are called add. Name one of them: add<int>, add<float>"):
        record.kernel("add")


def test_representations_are_short_and_tabular(record, race):
    assert repr(record).endswith("1 kernel, 0.00251 ms modelled (NVIDIA H200)>")
    assert repr(race).endswith("2 errors>")
    markdown = race._repr_markdown_()
    assert "| `reverse` |" in markdown and "**error: race** in `reverse`" in markdown
    lines = str(record).splitlines()
    assert len({len(line) for line in lines if line.startswith("|")}) == 1


def test_long_command_lines_are_shortened(record):
    code = "import time\n" + "time.sleep(0)\n" * 20
    line = repr(dataclasses.replace(record, program=("/usr/bin/python3",), arguments=("-c", code)))
    assert line.startswith("<Record of python3 -c 'import time time.sleep(0)") and "…: 1 kernel" in line
    assert len(line) < 160


def test_names_with_bars_do_not_split_cells(record):
    kernel = dataclasses.replace(record.kernels[0], name="f<(A|B)>")
    assert r"`f<(A\|B)>`" in dataclasses.replace(record, kernels=(kernel,))._repr_markdown_()


def test_records_can_be_copied_and_pickled(race):
    assert pickle.loads(pickle.dumps(race)) == race == copy.deepcopy(race)


def test_merge_adds_kernels_of_the_same_name(record, race):
    merged = warpbook.merge([record, record, race])
    kernel = merged.kernel("add_one")
    assert kernel.launches == 2 and kernel.global_load_sectors == 64 and not kernel.varied
    assert kernel.milliseconds == 2 * record.milliseconds and kernel.bound_by == "launch"
    assert kernel.roofline.bytes == 4096 and kernel.sectors_per_load_request == 4
    assert [kernel.name for kernel in merged.kernels] == ["add_one", "reverse"]
    assert len(merged.errors) == 2 and merged.checks == ("race",)
    assert warpbook.merge([race, race]).errors[0].count == 256
    with pytest.raises(ValueError, match="no records"):
        warpbook.merge([])


def test_merge_adds_lines_and_notices_other_shapes(record):
    def part(line, grid):
        lines = (warpbook.Line("a.cu", line, {"warps_at_barriers": 2}),)
        return dataclasses.replace(record, kernels=(dataclasses.replace(record.kernels[0], lines=lines, grid=grid),))

    kernel = warpbook.merge([part(3, (1, 1, 1)), part(3, (2, 1, 1)), part(4, (1, 1, 1))]).kernels[0]
    assert [(line.line, line.barrier_arrivals) for line in kernel.lines] == [(3, 4), (4, 2)]
    assert kernel.varied and kernel.grid == (1, 1, 1)


def test_files_with_a_line_per_process_are_merged(programs, run_command, cli):
    variables = dict(line.split("=", 1) for line in cli("env", "--dir", "links").stdout.splitlines())
    for kernel in ("add_one", "add_strided", "add_one"):
        completed = run_command(sys.executable, "driver.py", kernel, **variables, CUDA_SIM_JSON="all.json")
        assert completed.returncode == 0
    assert len(warpbook.load_records("all.json")) == 3
    merged = warpbook.Record.load("all.json")
    assert merged.kernel("add_one").launches == 2
    assert merged.kernel("add_strided").launches == 1


def test_the_time_to_read_a_file_is_linear_in_its_size(record_files, tmp_path):
    line = json.dumps(json.loads(record_files["add_one"].read_text())) + "\n"
    file = tmp_path / "all.json"

    def seconds(count):
        file.write_text(line * count)
        start = time.process_time()
        assert len(warpbook.load_records(file)) == count
        return time.process_time() - start

    seconds(10)
    small = min(seconds(100) for _ in range(3))
    # Twenty times the size took 80 times as long when the rest of the text was copied for each record.
    assert seconds(2000) < 40 * small


def with_counters(record, launches=1, **counters):
    """Returns a record whose kernel has these counters, and otherwise those of the record."""
    kernel = record.kernels[0]
    values = {**kernel.counters, **{COUNTERS[name].metric: value for name, value in counters.items()}}
    return dataclasses.replace(record, kernels=(dataclasses.replace(kernel, counters=values, launches=launches),))


def changes(record, other, tolerance=0):
    return [str(change) for change in compare(other, Baseline.of(record), tolerance).changes]


def test_the_cause_of_more_sectors_is_reported_once(record):
    more = with_counters(record, global_load_sectors=256)
    assert changes(record, more) == ["add_one: global load sectors per request rose from 4 to 32"]
    more = with_counters(record, global_load_sectors=64, global_load_requests=16)
    assert changes(record, more) == ["add_one: global load requests rose from 8 to 16"]


def test_wider_loads_are_no_regression(record):
    # A load of float4 has a quarter of the requests, and the same sectors.
    wider = with_counters(record, global_load_requests=2)
    result = compare(wider, Baseline.of(record))
    assert not result.regressions
    assert [str(change) for change in result.improvements] == ["add_one: global load requests fell from 8 to 2"]


def test_counters_that_appear_are_regressions(record):
    worse = with_counters(record, shared_load_bank_conflicts=31)
    assert changes(record, worse) == ["add_one: shared load bank conflicts rose from 0 to 31"]
    assert changes(record, worse, tolerance=1000) == changes(record, worse)
    assert changes(worse, record) == ["add_one: shared load bank conflicts fell from 31 to 0"]


def test_counters_are_compared_per_launch(record):
    double = {name: 2 * value for name, value in record.kernels[0].counters.items()}
    kernel = dataclasses.replace(record.kernels[0], counters=double, launches=2, milliseconds=2 * record.milliseconds)
    twice = dataclasses.replace(record, kernels=(kernel,))
    assert changes(record, twice) == ["add_one: number of launches rose from 1 to 2"]


def test_modelled_times_are_compared(record):
    kernel = dataclasses.replace(record.kernels[0], milliseconds=0.01)
    slower = dataclasses.replace(record, kernels=(kernel,))
    assert changes(record, slower) == ["add_one: modelled time in ms rose from 0.00251 to 0.01"]


def test_new_and_missing_kernels_are_listed(record, race):
    both = dataclasses.replace(record, kernels=record.kernels + race.kernels)
    assert compare(both, Baseline.of(record)).new == ("reverse",)
    assert compare(record, Baseline.of(both)).missing == ("reverse",)


def test_a_record_without_counters_is_no_baseline():
    with pytest.raises(warpbook.RecordError, match="contains no counters"):
        Baseline.of(warpbook.Record.from_json(json.dumps(MEASURED)))
