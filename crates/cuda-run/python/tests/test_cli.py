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


def test_env_omits_a_path_with_blanks(cli, tmp_path):
    completed = cli("env", "--dir", tmp_path, PATH=f"/mnt/c/Program Files:{os.environ['PATH']}")
    assert "PATH" not in variables_of(completed.stdout)
    assert "--shell" in completed.stderr


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
