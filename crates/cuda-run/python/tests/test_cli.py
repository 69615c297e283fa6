"""The command `warpbook`, and the installed package."""

import importlib.metadata
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import warpbook
from warpbook.environment import environment, is_active


def test_the_wheel_contains_programs_library_and_types():
    package = Path(warpbook.__file__).parent
    assert warpbook.__version__ == importlib.metadata.version("warpbook")
    assert (package / "py.typed").exists()
    native = Path(os.environ.get("WARPBOOK_NATIVE", package / "_native"))
    for program in ("cuda-run", "exercises"):
        assert (native / "bin" / program).stat().st_mode & stat.S_IXUSR
    assert (native / "lib" / "libcuda.so.1").is_file()
    assert (native / "include" / "warpbook.h").is_file()


def test_all_names_can_be_imported_and_others_cannot():
    for name in warpbook.__all__:
        assert getattr(warpbook, name) is not None
        assert name in dir(warpbook)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        warpbook.nonsense  # noqa: B018


def test_help_and_version(cli, run_command):
    completed = cli("--help")
    assert completed.returncode == 0
    for command in ("run", "exercises", "nvidia-smi", "env", "summary", "compare"):
        assert f"\n    {command} " in completed.stdout
    assert cli("--version").stdout == f"warpbook {warpbook.__version__}\n"
    assert run_command(sys.executable, "-m", "warpbook", "--version").stdout == f"warpbook {warpbook.__version__}\n"


def test_without_a_command_the_help_is_an_error(cli):
    completed = cli()
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "warpbook run add.cu" in completed.stderr


def test_unknown_command_is_an_error(cli):
    completed = cli("nonsense")
    assert completed.returncode == 2
    assert "invalid choice: 'nonsense'" in completed.stderr


@pytest.mark.needs_clang
def test_run_keeps_arguments_output_and_exit_status(cli, programs):
    completed = cli("run", "--quiet", "add.cu", "--", "2", "7")
    assert completed.returncode == 7
    assert completed.stdout == "c[7] = 42\n"
    assert "stride 2" in completed.stderr


@pytest.mark.needs_clang
def test_run_reports_findings(cli, programs):
    completed = cli("run", "--check", "reverse.cu")
    assert completed.returncode == 1
    assert "read-after-write data race" in completed.stderr
    assert "reverse.cu:6" in completed.stderr


@pytest.mark.needs_clang
def test_the_example_of_the_readme(cli, tmp_path):
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    source, output = (readme.split(f"```{language}\n")[1].split("```\n")[0] for language in ("cuda", "console"))
    (tmp_path / "reverse.cu").write_text(source)
    command, _, *lines = output.splitlines()
    stderr = cli(*command.split()[2:]).stderr
    # The lines of the PTX depend on the version of clang.
    for line in lines:
        assert line.split(" (PTX")[0].rstrip("…") in stderr
    assert len(lines) > 6


def test_run_has_the_help_of_cuda_run(cli):
    completed = cli("run", "--help")
    assert completed.returncode == 0
    assert "--time-limit" in completed.stdout


def test_run_any_program_finds_the_simulator(cli, programs):
    completed = cli("run", "--", sys.executable, "driver.py", "add_one")
    assert (completed.returncode, completed.stdout) == (0, "1 2 3 4\n")
    assert "| add_one |" in completed.stderr


def test_run_is_replaced_by_the_native_program(cli):
    command = [str(Path(sys.executable).parent / "warpbook"), "run", "--quiet", "--", "sleep", "30"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        name = ""
        for _ in range(500):
            name = Path(f"/proc/{process.pid}/exe").resolve().name
            if name == "cuda-run":
                break
            signal.sigtimedwait([], 0.01)
        assert name == "cuda-run"
    finally:
        process.kill()
        process.wait()
    assert cli("run", "--quiet", "--time-limit", "0.2", "--", "sleep", "30").returncode == 124


def test_exercises(cli):
    completed = cli("exercises", "--help")
    assert completed.returncode == 0
    assert "exercises [OPTIONS]" in completed.stdout
    # The start files are created in the current directory, and messages name this command.
    completed = cli("exercises")
    assert "warpbook exercises check 01-first-thread" in completed.stdout
    assert Path("exercises/01-first-thread.cu").is_file()


def test_nvidia_smi_lists_simulated_gpus(cli):
    assert cli("nvidia-smi", "-L").stdout.startswith("GPU 0: NVIDIA H200")
    listed = cli("nvidia-smi", "-L", CUDA_SIM_DEVICE="rtx3090", CUDA_SIM_DEVICES="2").stdout.splitlines()
    assert len(listed) == 2
    assert "RTX 3090" in listed[1]


def test_missing_prefix_is_reported_with_the_next_step(cli, tmp_path):
    completed = cli("run", "add.cu", WARPBOOK_NATIVE=str(tmp_path / "none"))
    assert completed.returncode == 1
    assert "none: there is no such directory. Unset WARPBOOK_NATIVE" in completed.stderr
    completed = cli("exercises", WARPBOOK_NATIVE=str(tmp_path))
    assert completed.returncode == 1
    assert f"bin/exercises is missing in {tmp_path}" in completed.stderr


def test_programs_that_cannot_be_executed_are_reported(cli, tmp_path):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "cuda-run"
    program.write_text("no program")
    assert f"{program} is not executable" in cli("run", "add.cu", WARPBOOK_NATIVE=str(tmp_path)).stderr
    program.chmod(0o755)
    assert "the package is for another platform" in cli("run", "add.cu", WARPBOOK_NATIVE=str(tmp_path)).stderr


def test_a_package_without_programs_names_the_cause(run_command, tmp_path):
    # A copy of the Python files, as in a checkout.
    copy = tmp_path / "warpbook"
    copy.mkdir()
    for file in Path(warpbook.__file__).parent.glob("*.py"):
        if file.name != "_version.py":
            (copy / file.name).write_bytes(file.read_bytes())
    completed = run_command(
        sys.executable, "-m", "warpbook", "run", "add.cu", PYTHONPATH=str(tmp_path), WARPBOOK_NATIVE=""
    )
    assert completed.returncode == 1
    assert "Likely cause: the package was installed from a checkout" in completed.stderr
    version = run_command(sys.executable, "-m", "warpbook", "--version", PYTHONPATH=str(tmp_path)).stdout
    assert version == "warpbook 0.0.0+checkout\n"


def variables_of(output):
    lines = output.splitlines()
    assert all("=" in line for line in lines), output
    return dict(line.split("=", 1) for line in lines)


def test_env_makes_programs_find_the_simulator(cli, run_command, programs):
    variables = variables_of(cli("env", "--dir", "links", LD_LIBRARY_PATH="/other").stdout)
    links = programs / "links"
    assert variables["LD_LIBRARY_PATH"] == f"{links}:/other"
    assert variables["CUDA_PATH"] == str(links)
    for name in ("libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1"):
        assert (links / name).is_symlink()
    assert run_command(sys.executable, "driver.py", "add_one", **variables).stdout == "1 2 3 4\n"
    assert run_command("nvidia-smi", "-L", **variables).stdout.startswith("GPU 0:")
    assert "release 12" in run_command(variables["TRITON_PTXAS_PATH"], "--version").stdout


def test_env_by_default_uses_the_cache_and_can_be_repeated(cli, tmp_path):
    first = variables_of(cli("env", XDG_CACHE_HOME=str(tmp_path), CUDA_PATH="/mine").stdout)
    assert first["LD_LIBRARY_PATH"].startswith(f"{tmp_path}/warpbook/native-")
    assert "CUDA_PATH" not in first
    again = variables_of(cli("env", **{"XDG_CACHE_HOME": str(tmp_path), "CUDA_PATH": "/mine", **first}).stdout)
    # The Triton and Mojo variables are set already.
    assert again == {name: first[name] for name in ("LD_LIBRARY_PATH", "PATH", "CUDA_BACKEND")}


def test_env_replaces_links_to_another_installation(cli, tmp_path):
    (tmp_path / "libcuda.so.1").symlink_to("/nonexistent/libcuda.so.1")
    assert cli("env", "--dir", tmp_path).returncode == 0
    assert (tmp_path / "libcuda.so.1").exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [
        "bin",
        "libcuda.so",
        "libcuda.so.1",
        "libnvidia-ml.so.1",
    ]


def test_env_quotes_for_a_shell(cli, run_command, tmp_path):
    directory = tmp_path / "with blank"
    text = cli("env", "--shell", "--dir", directory).stdout
    completed = run_command("sh", "-c", f'{text}\nprintf %s "$LD_LIBRARY_PATH"')
    assert completed.stdout.split(":")[0] == str(directory)


def test_env_prints_values_with_blanks_as_they_are(cli, run_command, tmp_path):
    path = f"/mnt/c/Program Files:{os.environ['PATH']}"
    directory = tmp_path / "with blank"
    completed = cli("env", "--dir", directory, PATH=path)
    assert completed.stderr == ""
    variables = variables_of(completed.stdout)
    assert variables["PATH"] == f"{directory}/bin:{path}"
    assert variables["CUDA_PATH"] == str(directory)
    text = cli("env", "--shell", "--dir", directory, PATH=path).stdout
    assert run_command("/bin/sh", "-c", f'{text}\n/usr/bin/printf %s "$PATH"').stdout == variables["PATH"]
    # A shell would split the values of $(warpbook env).
    assert "env $(" not in cli("env", "--help").stdout


def test_env_rejects_line_breaks(cli, tmp_path):
    completed = cli("env", "--dir", tmp_path / "a\nb")
    assert (completed.returncode, completed.stdout) == (1, "")
    assert "contains a line break" in completed.stderr
    completed = cli("env", "--dir", tmp_path, LD_LIBRARY_PATH="/a\nINJECTED=1")
    assert (completed.returncode, completed.stdout) == (1, "")
    assert "LD_LIBRARY_PATH contains a line break" in completed.stderr and "--shell" in completed.stderr
    assert cli("env", "--shell", "--dir", tmp_path, LD_LIBRARY_PATH="/a\nb").returncode == 0


def test_env_reports_a_directory_that_cannot_be_used(cli, tmp_path):
    file = tmp_path / "file"
    file.touch()
    completed = cli("env", "--dir", file)
    assert completed.returncode == 1
    assert f"Cannot create the links to the simulator in {file}" in completed.stderr
    assert "contains a colon" in cli("env", "--dir", tmp_path / "a:b").stderr


def test_env_without_a_home_directory_uses_a_private_one(cli, tmp_path):
    file = tmp_path / "file"
    file.touch()
    variables = variables_of(cli("env", XDG_CACHE_HOME=str(file), TMPDIR=str(tmp_path)).stdout)
    private = tmp_path / f"warpbook-{os.getuid()}"
    assert Path(variables["CUDA_PATH"]).parent == private
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    private.chmod(0o777)
    completed = cli("env", XDG_CACHE_HOME=str(file), TMPDIR=str(tmp_path))
    assert completed.returncode == 1
    assert "is not a directory that only this user can write" in completed.stderr


def test_is_active_compares_the_library_that_is_found_first(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    assert not is_active()
    monkeypatch.setenv("LD_LIBRARY_PATH", environment(tmp_path / "ours")["LD_LIBRARY_PATH"])
    assert is_active()
    other = tmp_path / "other"
    other.mkdir()
    (other / "libcuda.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{other}:{os.environ['LD_LIBRARY_PATH']}")
    assert not is_active()


def test_summary_is_markdown(cli, record_files):
    completed = cli("summary", record_files["add_strided"], record_files["reverse"])
    assert completed.returncode == 0
    text = completed.stdout
    assert "**`python" in text and "no errors" in text
    assert "| `add_strided` |" in text and "| `reverse`" in text
    header = next(line for line in text.splitlines() if line.startswith("| kernel"))
    assert "sectors per load request" in header and "bank conflicts" not in header
    assert "**error: race** in `reverse`" in text
    assert text.count("```") % 2 == 0 and "likely cause: a missing `__syncthreads()`" in text


def test_summary_of_a_file_that_is_no_record(cli, programs):
    completed = cli("summary", "kernels.ptx")
    assert completed.returncode == 2
    assert "kernels.ptx is not a record" in completed.stderr
    assert "Cannot read none.json: No such file or directory" in cli("summary", "none.json").stderr


def test_summary_into_a_closed_pipe_is_quiet(cli, record_files, run_command):
    command = Path(sys.executable).parent / "warpbook"
    completed = run_command("sh", "-c", f"'{command}' summary '{record_files['reverse']}' | true")
    assert completed.stderr == ""


COMMANDS = [
    ["--help"],
    ["--version"],
    ["summary", "--help"],
    ["env", "--dir", "links"],
    ["summary", "RECORD"],
    ["compare", "RECORD", "baseline.json"],
    ["compare", "RECORD", "other.json", "--update"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_an_error_without_a_traceback(run_command, cli, record_files, words, unbuffered):
    record = str(record_files["add_one"])
    cli("compare", record, "baseline.json", "--update")
    command = [str(Path(sys.executable).parent / "warpbook"), *(record if word == "RECORD" else word for word in words)]
    completed = run_command("sh", "-c", '"$@" > /dev/full', "sh", *command, PYTHONUNBUFFERED=unbuffered)
    assert completed.stderr == "warpbook: error: Cannot write to standard output: No space left on device.\n"
    assert completed.returncode == 2


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_outputs_are_no_traceback(run_command, cli, record_files, words, closed):
    record = str(record_files["add_one"])
    cli("compare", record, "baseline.json", "--update")
    command = [str(Path(sys.executable).parent / "warpbook"), *(record if word == "RECORD" else word for word in words)]
    completed = run_command("sh", "-c", f'"$@" {closed}', "sh", *command)
    assert "Traceback" not in completed.stderr and "Exception" not in completed.stderr
    # Results that cannot be written are an error. The comparison also has an exit status.
    lost = ">&-" in closed.split() and words[0] in ("env", "summary") and "--help" not in words
    assert completed.returncode == (2 if lost else 0)
    if lost and closed == ">&-":
        assert completed.stderr == "warpbook: error: Cannot write to standard output: it is closed.\n"


def test_native_programs_can_have_closed_outputs(run_command):
    command = Path(sys.executable).parent / "warpbook"
    completed = run_command("sh", "-c", f"'{command}' run --quiet -- true >&-")
    assert (completed.returncode, completed.stderr) == (0, "")


def test_names_that_the_encoding_lacks_are_escaped(cli, record_files, tmp_path):
    data = json.loads(record_files["add_one"].read_text())
    data["kernels"][0]["kernel"] = "add\ud800é"
    file = tmp_path / "record.json"
    file.write_text(json.dumps(data))
    for variables in ({}, {"PYTHONIOENCODING": "ascii"}):
        completed = cli("summary", file, **variables)
        assert completed.returncode == 0 and "add\\ud800é" in completed.stdout
    cli("compare", record_files["add_one"], "baseline.json", "--update")
    other = json.loads(record_files["reverse"].read_text())
    other["kernels"] += data["kernels"] + json.loads(record_files["add_one"].read_text())["kernels"]
    file.write_text(json.dumps(other))
    completed = cli("compare", file, "baseline.json", PYTHONIOENCODING="ascii")
    assert completed.returncode == 0 and "new: add\\ud800\\xe9 is not" in completed.stdout


@pytest.fixture
def idle(cli):
    """The record of a program that does not use CUDA."""
    cli("run", "--quiet", "--check", "--json", "idle.json", "--", "true")
    return Path("idle.json").absolute()


def test_summary_of_a_program_without_kernels_claims_nothing(cli, idle):
    completed = cli("summary", idle)
    assert completed.returncode == 0
    assert completed.stdout.splitlines()[0] == "**`true`** no kernels"
    assert "No process launched a kernel on the simulator, so nothing was counted or checked." in completed.stdout
    assert "no errors" not in completed.stdout and "no findings" not in completed.stdout


def test_summary_can_require_kernels(cli, idle, record_files):
    completed = cli("summary", "--require-kernels", idle)
    assert completed.returncode == 1 and "**`true`**" in completed.stdout
    assert "warpbook: error: The records contain no kernel. Likely cause" in completed.stderr
    assert cli("summary", "--require-kernels", idle, record_files["add_one"]).returncode == 0


def test_summary_has_a_title(cli, idle, record_files):
    assert cli("summary", "--title", "unit\ntests [1]", idle).stdout.startswith("**unit tests \\[1\\]** no kernels\n")
    both = cli("summary", "--title", "tests", idle, record_files["add_one"]).stdout
    assert "**tests (idle.json)** no kernels" in both and "**tests (add\\_one.json)** no errors" in both


@pytest.fixture
def strided(record_files, tmp_path):
    """A record of add_one whose counters are those of add_strided."""
    data = json.loads(record_files["add_strided"].read_text())
    for name in (data["kernels"][0], data["kernels"][0]["launch"]):
        name["kernel"] = "add_one"
    file = tmp_path / "strided.json"
    file.write_text(json.dumps(data))
    return file


def test_compare_writes_a_small_sorted_baseline(cli, record_files, tmp_path):
    baseline = tmp_path / "baseline.json"
    completed = cli("compare", record_files["add_one"], baseline, "--update")
    assert completed.returncode == 0
    assert completed.stdout == f"{baseline}: written, 1 kernel\n"
    text = baseline.read_text()
    counters = json.loads(text)["kernels"]["add_one"]
    assert counters["global_load_requests"] == 8 and counters["global_load_sectors"] == 32
    assert list(counters) == sorted(counters)
    assert '\n      "global_load_sectors": 32,\n' in text and text.endswith("}\n")
    completed = cli("compare", record_files["add_one"], baseline)
    assert (completed.returncode, completed.stdout) == (0, "No counter got worse: 1 kernel\n")


def test_compare_fails_if_a_counter_got_worse(cli, record_files, strided, tmp_path):
    baseline = tmp_path / "baseline.json"
    cli("compare", record_files["add_one"], baseline, "--update")
    completed = cli("compare", strided, baseline)
    assert completed.returncode == 1
    assert "worse: add_one: global load sectors per request rose from 4 to 32\n" in completed.stdout
    assert "--update" in completed.stdout
    completed = cli("compare", strided, baseline, "--format", "github")
    expected = "::error title=Counter got worse::add_one: global load sectors per request rose from 4 to 32\n"
    assert completed.returncode == 1 and expected in completed.stdout


def test_compare_tolerates_a_percentage(cli, record_files, strided, tmp_path):
    baseline = tmp_path / "baseline.json"
    cli("compare", record_files["add_one"], baseline, "--update")
    assert cli("compare", strided, baseline, "--tolerance", "700").returncode == 0
    assert cli("compare", strided, baseline, "--tolerance", "699%").returncode == 1
    assert cli("compare", strided, baseline, "--tolerance", "-1").returncode == 2


@pytest.mark.parametrize("value", ["abc", "-1", "nan", "inf", "", "%"])
def test_compare_explains_an_invalid_tolerance(cli, value):
    completed = cli("compare", "a.json", "b.json", f"--tolerance={value}")
    assert completed.returncode == 2
    assert f"argument --tolerance: {value!r} is not a percentage of at least 0, such as 5 or 2.5%" in completed.stderr


def test_update_replaces_the_baseline_at_once(cli, record_files, tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("{}")
    target.chmod(0o640)
    link.symlink_to("target.json")
    inode = target.stat().st_ino
    assert cli("compare", record_files["add_one"], link, "--update").returncode == 0
    assert link.is_symlink() and "add_one" in target.read_text()
    assert target.stat().st_ino != inode and stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.json", "target.json"]


def test_update_of_a_new_file_follows_the_umask(cli, record_files, run_command, tmp_path):
    command = Path(sys.executable).parent / "warpbook"
    words = f"'{command}' compare '{record_files['add_one']}' new.json --update"
    assert run_command("sh", "-c", f"umask 027; {words}").returncode == 0
    assert stat.S_IMODE((tmp_path / "new.json").stat().st_mode) == 0o640


def test_an_error_keeps_the_baseline(monkeypatch, record_files, tmp_path):
    from warpbook.compare import Baseline

    file = tmp_path / "baseline.json"
    file.write_text("old")

    def fail(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(warpbook.RecordError, match="Cannot write the baseline .*: No space left on device"):
        Baseline.of(warpbook.Record.load(record_files["add_one"])).save(file)
    assert file.read_text() == "old" and [entry.name for entry in tmp_path.iterdir()] == ["baseline.json"]


def test_update_in_a_missing_directory_is_an_error(cli, record_files):
    completed = cli("compare", record_files["add_one"], "none/baseline.json", "--update")
    assert completed.returncode == 2
    assert "Cannot write the baseline none/baseline.json: No such file or directory" in completed.stderr


def test_compare_names_the_file_of_a_record_without_counters(cli, idle):
    completed = cli("compare", idle, "baseline.json", "--update")
    assert completed.returncode == 2
    assert f"{idle} contains no counters. Likely cause: the program launched no kernel" in completed.stderr


BROKEN = [
    ("kernels.0.kernel", 5, "kernels[0].kernel is 5, but must be a string"),
    ("kernels.0.launches", None, "kernels[0].launches is null, but must be an integer"),
    ("kernels.0.launches", 0, "kernels[0].launches is 0, but must be an integer of 64 bits and at least 1"),
    ("kernels.0.launches", "a", 'kernels[0].launches is "a"'),
    ("kernels.0.counters.warps_at_barriers", "1", 'kernels[0].counters.warps_at_barriers is "1"'),
    ("kernels.0.counters.warps_at_barriers", 10**400, "kernels[0].counters.warps_at_barriers is 1000"),
    ("kernels.0.model.milliseconds", float("nan"), "NaN is not a JSON value"),
    ("kernels.0.model.milliseconds", float("inf"), "Infinity is not a JSON value"),
    ("kernels.0.launch.grid", ["a", "b", "c"], 'kernels[0].launch.grid[0] is "a"'),
    ("kernels.0.launch.grid", [1, 1], "kernels[0].launch.grid is [1, 1], but must be a list of three integers"),
    ("kernels.0.model.parts", [5], "kernels[0].model.parts[0] is 5, but must be an object"),
    ("kernels", None, "kernels is null, but must be a list"),
    ("gpu.name", 5, "gpu.name is 5, but must be a string"),
    ("status", "zero", 'status is "zero"'),
    ("program", 5, "program is 5, but must be a list"),
    ("problems", [{"kind": "x", "check": "run", "message": "", "severity": "bad", "count": 1}], "problems[0].severity"),
]


@pytest.mark.parametrize(("place", "value", "message"), BROKEN)
def test_a_record_with_a_wrong_value_is_an_error_with_its_place(cli, record_files, place, value, message):
    data = json.loads(record_files["add_one"].read_text())
    *parents, last = (int(name) if name.isdigit() else name for name in place.split(".", 3))
    target = data
    for name in parents:
        target = target[name]
    target[last] = value
    Path("broken.json").write_text(json.dumps(data))
    for words in (["summary", "broken.json"], ["compare", "broken.json", "b.json", "--update"]):
        completed = cli(*words)
        assert completed.returncode == 2 and completed.stdout == ""
        assert (
            completed.stderr.startswith("warpbook: error: broken.json is not a record") and message in completed.stderr
        )


def test_numbers_too_large_for_a_float_are_an_error(cli, record_files):
    text = record_files["add_one"].read_text()
    milliseconds = json.dumps(json.loads(text)["kernels"][0]["model"]["milliseconds"])
    Path("broken.json").write_text(text.replace(milliseconds, "1e999"))
    completed = cli("summary", "broken.json")
    assert completed.returncode == 2 and "milliseconds is Infinity, but must be a number" in completed.stderr


@pytest.mark.parametrize("words", [["summary", "deep.json"], ["compare", "RECORD", "deep.json"]])
def test_deep_nesting_is_an_error(cli, record_files, words):
    Path("deep.json").write_text("[" * 200_000)
    completed = cli(*(record_files["add_one"] if word == "RECORD" else word for word in words))
    assert completed.returncode == 2 and "Traceback" not in completed.stderr
    assert "deep.json is not" in completed.stderr or "nested too deeply" in completed.stderr


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ({"add_one": 5}, "kernels.add_one is 5, but must be an object"),
        ({"add_one": {"launches": 0}}, "kernels.add_one.launches is 0"),
        ({"add_one": {"launches": None}}, "kernels.add_one.launches is null"),
        ({"add_one": {"global_load_sectors": "1"}}, 'kernels.add_one.global_load_sectors is "1"'),
        ({"add_one": {"milliseconds": float("nan")}}, "NaN is not a JSON value"),
        ({}, "contains no kernel"),
        ([], "is not a baseline of schema 1"),
    ],
)
def test_a_baseline_with_a_wrong_value_is_an_error_with_its_place(cli, record_files, kernels, message):
    Path("baseline.json").write_text(json.dumps({"schema": 1, "gpu": "NVIDIA H200", "kernels": kernels}))
    completed = cli("compare", record_files["add_one"], "baseline.json")
    assert completed.returncode == 2 and completed.stdout == ""
    assert "baseline.json" in completed.stderr and message in completed.stderr


def test_compare_reports_files_that_cannot_be_compared(cli, record_files, tmp_path):
    baseline = tmp_path / "baseline.json"
    completed = cli("compare", record_files["add_one"], baseline)
    assert completed.returncode == 2
    assert f"There is no baseline {baseline}. Write one with --update." in completed.stderr
    cli("compare", record_files["add_one"], baseline, "--update")
    completed = cli("compare", record_files["reverse"], baseline)
    assert completed.returncode == 2
    assert "it contains add_one, the record reverse" in completed.stderr
    data = json.loads(baseline.read_text())
    baseline.write_text(json.dumps({**data, "gpu": "NVIDIA GeForce RTX 3090"}))
    completed = cli("compare", record_files["add_one"], baseline)
    assert completed.returncode == 2
    assert "The baseline is of the NVIDIA GeForce RTX 3090, the record of the NVIDIA H200" in completed.stderr
    baseline.write_text("{}")
    assert "is not a baseline of schema 1" in cli("compare", record_files["add_one"], baseline).stderr
