"""The plug-in for pytest, in processes of its own."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

HEADER = """
import pytest
import driver

@pytest.fixture(scope="session")
def gpu():
    return driver.Driver()
"""


@pytest.fixture
def run_tests(pytester, programs, monkeypatch):
    """Returns a function that writes a test file and runs pytest in another process."""
    for name in ("driver.py", "kernels.ptx"):
        (pytester.path / name).write_bytes((programs / name).read_bytes())
    monkeypatch.chdir(pytester.path)

    def run(code, *options):
        pytester.makepyfile(test_it=HEADER + code)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)

    return run


CHECKED = ("--warpbook", "--warpbook-check")


def test_counters_can_be_asserted(run_tests):
    result = run_tests(
        """
def test_coalesced(gpu, warpbook):
    gpu.run("add_one")
    assert warpbook.record().kernel("add_one").sectors_per_load_request <= 4

def test_strided(gpu, warpbook):
    gpu.run("add_strided")
    assert warpbook.record().kernel("add_strided").sectors_per_load_request <= 4

def test_positions(gpu, warpbook):
    assert warpbook.kernels == ()
    gpu.run("add_one", wait=False)
    assert warpbook.record().kernels[0].launches == 1
    gpu.run("add_strided")
    gpu.run("add_one")
    assert [kernel.name for kernel in warpbook.record().kernels] == ["add_strided", "add_one"]
    assert [(kernel.name, kernel.launches) for kernel in warpbook.kernels] == [("add_one", 2), ("add_strided", 1)]
    assert warpbook.record().kernels == ()
""",
        "--warpbook",
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            "warpbook: NVIDIA H200*, no checks (--warpbook-check)",
            "*assert 32.0 <= 4*",
            "*= Warpbook: NVIDIA H200* =*",
            "| add_one     |     2 |        3 |*",
            "| add_strided |     2 |        2 |*",
        ]
    )


def test_a_finding_fails_the_test_in_which_it_occurs(run_tests):
    result = run_tests(
        """
def test_race(gpu):
    gpu.run("reverse", wait=False)

def test_other(gpu):
    gpu.run("add_one")
""",
        *CHECKED,
    )
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "warpbook: NVIDIA H200*, checks: mem, init, race, sync, host, stream",
            "read-after-write data race (128 times) in kernel reverse (and 1 more)",
            "error: race: read-after-write data race (128 times)",
            "  likely cause: a missing `__syncthreads()` between the two lines",
            "test_it.py::test_race: error: read-after-write data race*(and 1 more)",
            "FAILED test_it.py::test_race - Failed: read-after-write data race*",
        ]
    )
    assert "test_other:" not in result.stdout.str()


def test_a_finding_in_setup_or_teardown_is_an_error(run_tests):
    result = run_tests(
        """
@pytest.fixture
def before(gpu):
    gpu.run("reverse")

@pytest.fixture
def after(gpu):
    yield
    gpu.run("reverse")

def test_before(before): pass
def test_after(after): pass
""",
        *CHECKED,
    )
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["*ERROR at setup of test_before*", "*ERROR at teardown of test_after*"])


def test_other_outcomes_of_a_test_with_a_finding(run_tests):
    result = run_tests(
        """
def test_fails(gpu):
    gpu.run("reverse", wait=False)
    assert False, "the reason of the test"

def test_skips(gpu):
    gpu.run("reverse")
    pytest.skip()

@pytest.mark.xfail
def test_xfail(gpu):
    gpu.run("reverse")
""",
        *CHECKED,
        "-rf",
    )
    result.assert_outcomes(failed=2, xfailed=1)
    result.stdout.fnmatch_lines(
        [
            "E*AssertionError: the reason of the test",
            "*Findings of Warpbook*",
            "read-after-write data race*",
            "FAILED test_it.py::test_skips - Failed: read-after-write*",
        ]
    )
    assert "During handling" not in result.stdout.str()


def test_expected_findings(run_tests):
    result = run_tests(
        """
@pytest.mark.warpbook_expect("race")
def test_check(gpu):
    gpu.run("reverse")

@pytest.mark.warpbook_expect("read-after-write", "write-after-read")
def test_kinds(gpu):
    gpu.run("reverse")

@pytest.mark.warpbook_expect("read-after-write")
def test_only_one_kind(gpu):
    gpu.run("reverse")

@pytest.mark.warpbook_expect("race", "mem")
def test_one_is_missing(gpu):
    gpu.run("reverse")

@pytest.mark.warpbook_expect("race")
def test_none(gpu):
    gpu.run("add_one")
""",
        *CHECKED,
        "--strict-markers",
    )
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines(
        [
            "write-after-read data race (128 times) in kernel reverse",
            "no finding of mem, which the marker warpbook_expect expects.",
            "no finding of race, which the marker warpbook_expect expects.",
            "test_it.py::test_check: error: read-after-write data race*(expected) (and 1 more)",
            "test_it.py::test_only_one_kind: error: write-after-read data race*reverse (and 1 more)",
        ]
    )


def test_only_expected_findings_keep_the_exit_status(run_tests):
    result = run_tests(
        """
@pytest.mark.warpbook_expect("race")
def test_race(gpu):
    gpu.run("reverse")
""",
        *CHECKED,
    )
    assert result.ret == 0


def test_expected_findings_without_checks_name_the_option(run_tests):
    result = run_tests(
        """
@pytest.mark.warpbook_expect("race")
def test_race(gpu):
    gpu.run("reverse")
""",
        "--warpbook",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*No checks are on: add --warpbook-check."])


def test_a_fault_fails_the_test_without_checks(run_tests):
    result = run_tests(
        """
def test_fault(gpu):
    with pytest.raises(AssertionError, match="700"):
        gpu.run("add_one", threads=1024)
""",
        "--warpbook",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*illegal address*"])


def test_findings_outside_of_tests_fail_the_run(run_tests):
    result = run_tests(
        """
driver.Driver().run("reverse")

def test_nothing(): pass
""",
        *CHECKED,
    )
    result.assert_outcomes(passed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["outside of tests: error: read-after-write data race*"])


def test_processes_started_by_a_test_belong_to_it(run_tests):
    result = run_tests(
        """
import subprocess, sys

def run(kernel):
    subprocess.run([sys.executable, "driver.py", kernel], check=True)

def test_count(warpbook):
    run("add_one")
    run("add_one")
    assert warpbook.record().kernel("add_one").launches == 2

def test_race():
    run("reverse")

def test_nothing(warpbook):
    assert warpbook.kernels == ()
""",
        *CHECKED,
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_race - Failed: read-after-write*"])


def test_recordings_can_be_used_in_tests(run_tests):
    result = run_tests(
        """
import warpbook as module

def test_both(gpu, warpbook):
    gpu.run("add_one")
    with module.recording() as recording:
        gpu.run("add_one")
    assert recording.record.kernel("add_one").launches == 1
    assert warpbook.record().kernel("add_one").launches == 2

def test_race(gpu):
    with module.recording() as recording:
        gpu.run("reverse")
    assert len(recording.record.errors) == 2
""",
        *CHECKED,
    )
    result.assert_outcomes(passed=1, failed=1)


def test_without_the_option_nothing_happens(run_tests):
    result = run_tests(
        """
import os, sys

def test_environment():
    assert "CUDA_RUN_EVENTS" not in os.environ and "WARPBOOK_PYTEST_RESTARTED" not in os.environ
    loaded = {name for name in sys.modules if name.startswith("warpbook.")}
    assert loaded - {"warpbook._version"} == {"warpbook.pytest_plugin"}

@pytest.mark.warpbook_expect("race")
def test_marker(): pass

def test_fixture(warpbook): pass
""",
        "--strict-markers",
        "-rs",
    )
    result.assert_outcomes(passed=2, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*requires pytest --warpbook"])
    assert "Warpbook:" not in result.stdout.str()


def test_a_run_without_kernels_says_so(run_tests):
    result = run_tests("def test_nothing(): pass", "--warpbook")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warning: no kernel was launched through libcuda.so.1, in this process or in *"])
    assert "warning:" not in run_tests("def test_nothing(): pass", "--warpbook", "--co").stdout.str()


@pytest.mark.parametrize("ini", [False, True])
@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_kernels_can_be_required(run_tests, pytester, ini, workers):
    if workers:
        pytest.importorskip("xdist")
    if ini:
        pytester.makeini("[pytest]\nwarpbook_require_kernels = true")
    options = ["--warpbook", *workers] if ini else ["--warpbook-require-kernels", *workers]
    result = run_tests("def test_nothing(): pass", *options)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: no kernel was launched through libcuda.so.1*"])
    assert run_tests('def test_add(gpu): gpu.run("add_one")', *options).ret == 0
    assert run_tests("def test_nothing(): pass", *options, "--co").ret == 0
    if ini:
        assert run_tests("def test_nothing(): pass").ret == 0


CHILDREN = """
import multiprocessing, os, signal, subprocess, sys

def work(kernel):
    driver.Driver().run(kernel)
    return kernel

def run(code, kernel):
    code = f"import driver, os; driver.Driver().run({kernel!r}); {code}"
    subprocess.run([sys.executable, "-c", code])
"""


def test_processes_that_end_in_any_way_are_recorded(run_tests):
    result = run_tests(
        CHILDREN + """
@pytest.mark.parametrize("code", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_race(code):
    run(code, "reverse")

@pytest.mark.parametrize("code", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_counters(code, warpbook):
    run(code, "add_one")
    assert warpbook.record().kernel("add_one").sectors_per_load_request == 4
    run(code, "add_one")
    assert warpbook.record().kernel("add_one").launches == 1
    assert warpbook.kernels[0].launches == 2

@pytest.mark.warpbook_expect("race")
def test_expected():
    run("os._exit(0)", "reverse")

@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method):
    context = multiprocessing.get_context(method)
    with context.Pool(1) as pool:
        assert pool.map(work, ["add_one", "reverse"]) == ["add_one", "reverse"]
""",
        *CHECKED,
    )
    result.assert_outcomes(passed=5, failed=7)
    lines = [f"FAILED test_it.py::test_race?{code}* - Failed: read-after-write*" for code in ("pass", "os._exit")]
    lines += [f"FAILED test_it.py::test_multiprocessing?{method}? - Failed: read*" for method in ("fork", "spawn")]
    result.stdout.fnmatch_lines(["| reverse *", *lines])


def test_processes_that_outlive_the_tests_are_reported(run_tests, pytester):
    result = run_tests(
        CHILDREN + """
def test_start():
    code = "import driver; driver.Driver().run('reverse'); print('done', flush=True); import time; time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "done\\n"
    open("process", "w").write(str(process.pid))
""",
        *CHECKED,
    )
    os.kill(int((pytester.path / "process").read_text()), signal.SIGKILL)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["outside of tests: error: read-after-write data race*"])


def test_the_record_of_profile_does_not_fail_a_test(run_tests):
    result = run_tests(
        """
import subprocess, sys
import warpbook as module

def test_profile():
    assert len(module.profile([sys.executable, "driver.py", "reverse"], check="race").errors) == 2

def test_run():
    words = ["run", "--quiet", "--check=race", "--", sys.executable, "driver.py", "reverse"]
    assert subprocess.run([sys.executable, "-m", "warpbook", *words]).returncode == 1
""",
        *CHECKED,
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_run - Failed: read-after-write*"])


def test_the_files_of_events_are_removed(run_tests, tmp_path, monkeypatch):
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    code = CHILDREN + """
def test_add(gpu):
    gpu.run("add_one")
    run("pass", "add_one")
    assert len([name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("warpbook-pytest-")]) == 1
"""
    run_tests(code, "--warpbook", "--basetemp=base").assert_outcomes(passed=1)
    # These runs end before or during the configuration.
    assert run_tests(code, "--warpbook", "--version").ret == 0
    assert run_tests(code, "--warpbook", "--nonsense").ret == pytest.ExitCode.USAGE_ERROR
    assert [entry.name for entry in directory.iterdir() if entry.name.startswith("warpbook")] == []


def test_kernels_launched_by_conftest_are_recorded(run_tests, pytester):
    pytester.makeconftest('import driver\ndriver.Driver().run("reverse")')
    result = run_tests("def test_nothing(warpbook): assert warpbook.kernels == ()", *CHECKED)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["| reverse *", "outside of tests: error: read-after-write data race*"])


def test_kernels_launched_by_conftest_of_a_worker_are_recorded(run_tests, pytester):
    pytest.importorskip("xdist")
    pytester.makeconftest(
        'import driver, os\nif "PYTEST_XDIST_WORKER" in os.environ:\n    driver.Driver().run("add_one")'
    )
    result = run_tests("def test_nothing(): pass", "--warpbook", "-n2")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["| add_one |     2 |        2 |*"])


def test_the_fixture_does_not_hide_errors(run_tests):
    result = run_tests(
        """
def test_record(gpu, warpbook):
    gpu.run("reverse")
    assert warpbook.record().kernel("reverse").launches == 1

def test_kernels(gpu, warpbook):
    gpu.run("reverse")
    assert len(warpbook.kernels) == 1
    warpbook.kernels

@pytest.fixture
def before(gpu, warpbook):
    gpu.run("reverse")
    warpbook.record()

def test_setup(before): pass

@pytest.mark.warpbook_expect("race")
def test_expected(gpu, warpbook):
    gpu.run("reverse")
    assert len(warpbook.record().errors) == 2

@pytest.mark.warpbook_expect("read-after-write")
def test_one_is_unexpected(gpu, warpbook):
    gpu.run("reverse")
    warpbook.record()

@pytest.fixture
def after(gpu, warpbook):
    yield
    gpu.run("reverse")
    warpbook.record()

def test_teardown(after): pass

def test_other(gpu, warpbook):
    gpu.run("add_one")
    assert warpbook.record().errors == ()
""",
        *CHECKED,
    )
    # The test whose teardown fails has passed before.
    result.assert_outcomes(passed=3, failed=3, errors=2)
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_record - Failed: read-after-write*"])


@pytest.mark.parametrize("ci", ["", "true"])
def test_a_finding_is_reported_once(run_tests, monkeypatch, ci):
    # With CI, pytest does not shorten the lines of its summary.
    monkeypatch.setenv("CI", ci)
    result = run_tests(
        CHILDREN + """
def test_race(gpu): gpu.run("reverse")
def test_child(): run("pass", "reverse")
""",
        *CHECKED,
    )
    result.assert_outcomes(failed=2)
    output = result.stdout.str()
    assert output.count("in kernel reverse, block") == 4, output
    assert "Captured stderr" not in output


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        (
            '("raec")',
            "*test_it.py::test_race: warpbook_expect('raec') is unknown. The checks are mem, *read-after-write*",
        ),
        ('("race", 5)', "*warpbook_expect(5) is unknown*"),
        ("", "*test_it.py::test_race: the marker warpbook_expect requires the kinds*The checks are mem, *"),
        ("()", "*the marker warpbook_expect requires the kinds*"),
        ('(kind="race")', "*the marker warpbook_expect requires the kinds*"),
    ],
)
def test_invalid_expectations_are_usage_errors(run_tests, marker, message):
    code = f"@pytest.mark.warpbook_expect{marker}\ndef test_race(gpu): gpu.run('reverse')"
    result = run_tests(code, *CHECKED)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_the_kinds_are_those_of_the_simulator(cli):
    from warpbook._pytest_session import KINDS

    sarif = json.loads(cli("run", "--quiet", "--format=sarif", "--", "true").stdout)
    rules = {rule["id"] for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
    assert rules - set(KINDS) == {"compile-error", "undefined-symbol", "link-error", "invalid-plan", "not-run"}
    assert set(KINDS) <= rules


def test_an_old_pluggy_is_a_usage_error(run_tests, pytester):
    (pytester.path / "old.py").write_text("import pluggy; pluggy.__version__ = '1.0.0'")
    pytester.syspathinsert()
    result = run_tests("def test_nothing(): pass", "--warpbook", "-p", "old")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--warpbook: pluggy 1.0.0 is too old; version 1.2 or newer is required*"])
    run_tests("def test_nothing(): pass", "-p", "old").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "options", [["--warpbook-check"], ["--warpbook-check=race"], ["--warpbook-check", "test_it.py"]]
)
def test_checks_imply_the_plugin(run_tests, options):
    result = run_tests('def test_race(gpu): gpu.run("reverse")', *options)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["warpbook: NVIDIA H200*, checks: *race*"])


def test_the_device_implies_the_plugin(run_tests):
    result = run_tests('def test_add(gpu): gpu.run("add_one")', "--warpbook-device=rtx3090")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["warpbook: NVIDIA GeForce RTX 3090*"])


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_path_can_follow_the_option_in_the_configuration(run_tests, pytester, workers):
    if workers:
        pytest.importorskip("xdist")
    pytester.makeini("[pytest]\naddopts = --warpbook-check")
    (pytester.path / "test_other.py").write_text("def test_other(): pass")
    result = run_tests('def test_race(gpu): gpu.run("reverse")', "test_it.py", *workers)
    # The option swallows the path if it is the next word.
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["warpbook: *checks: mem, init, race, sync, host, stream"])


def test_the_device_can_be_chosen(run_tests):
    result = run_tests('def test_add(gpu): gpu.run("add_one")', "--warpbook", "--warpbook-device=rtx3090")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["warpbook: NVIDIA GeForce RTX 3090*"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--warpbook-device=nonsense"], "*--warpbook: The simulator has no such GPUs: CUDA_SIM_DEVICE=nonsense*"),
        (["--warpbook-check=mem,nonsense"], "*mem,nonsense: this is not a list of checks. The checks are all, host, *"),
    ],
)
def test_invalid_options_are_usage_errors(run_tests, options, message):
    result = run_tests("def test_nothing(): pass", "--warpbook", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


@pytest.mark.parametrize("active", [False, True])
def test_a_path_can_follow_the_option_without_a_list(run_tests, cli, monkeypatch, active):
    if active:
        for line in cli("env", "--dir", "links").stdout.splitlines():
            monkeypatch.setenv(*line.split("=", 1))
    result = run_tests('def test_race(gpu): gpu.run("reverse")', *CHECKED, "test_it.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["warpbook: *checks: mem, init, race, sync, host, stream"])
    result = run_tests('def test_race(gpu): gpu.run("reverse")', "--warpbook", "--warpbook-check", "mem", "test_it.py")
    result.assert_outcomes(passed=1)


def test_missing_programs_are_a_usage_error(run_tests, monkeypatch):
    monkeypatch.setenv("WARPBOOK_NATIVE", "/none/native")
    result = run_tests("def test_nothing(): pass", "--warpbook")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--warpbook: WARPBOOK_NATIVE=/none/native: there is no such directory*"])


def test_an_option_that_comes_too_late_is_a_usage_error(run_tests, pytester):
    pytester.makeconftest("def pytest_cmdline_main(config): config.option.warpbook = True")
    result = run_tests("def test_nothing(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the simulator was not selected before pytest started*addopts in pytest.ini*"])


def test_the_option_can_be_in_the_configuration(run_tests, pytester):
    pytester.makeini("[pytest]\naddopts = --warpbook --warpbook-check=mem,race")
    result = run_tests('def test_race(gpu): gpu.run("reverse")')
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["warpbook: *checks: mem, race"])


def test_stopping_at_the_first_failure(run_tests):
    result = run_tests(
        """
def test_race(gpu): gpu.run("reverse")
def test_never(): pass
""",
        *CHECKED,
        "-x",
    )
    result.assert_outcomes(failed=1)


def test_workers_of_xdist(run_tests):
    pytest.importorskip("xdist")
    result = run_tests(
        """
@pytest.mark.parametrize("number", range(4))
def test_add(gpu, warpbook, number):
    gpu.run("add_one")
    assert warpbook.record().kernel("add_one").launches == 1

def test_race(gpu):
    gpu.run("reverse")
""",
        *CHECKED,
        "-n2",
    )
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        ["*2 workers*", "| add_one |     4 |        4 |*", "test_it.py::test_race: error: read-after-write*"]
    )


def test_a_test_can_run_pytest_itself(run_tests):
    result = run_tests(
        """
import os, subprocess, sys

def test_outer(request):
    del os.environ["LD_LIBRARY_PATH"]
    command = [sys.executable, "-m", "pytest", "--warpbook", "-p", "no:cacheprovider", "-k", "inner", "test_it.py"]
    assert subprocess.run(command).returncode == 0

def test_inner(gpu, warpbook):
    gpu.run("add_one")
    assert warpbook.kernels[0].launches == 1
""",
        "--warpbook",
        "-k",
        "outer",
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("start", [["-m", "pytest"], ["-X", "dev", "-m", "pytest"], ["start.py"], ["-c", "SCRIPT"]])
def test_the_restart_keeps_the_command_line(run_tests, pytester, start):
    run_tests("""
import sys

def test_process(gpu):
    print("developer mode", sys.flags.dev_mode)
    print("in the path", "" in sys.path or __import__("os").getcwd() in sys.path)
""")
    script = (
        "import sys, pytest; print('started'); status = pytest.main(sys.argv[1:]); print('ended'); sys.exit(status)"
    )
    (pytester.path / "start.py").write_text(script)
    words = [script if word == "SCRIPT" else word for word in start]
    completed = subprocess.run(
        [sys.executable, *words, "--warpbook", "-q", "-s", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stdout
    assert f"developer mode {'dev' in start}" in completed.stdout
    assert "in the path True" in completed.stdout
    # Scripts that call pytest run again from their start, and their end is reached.
    assert completed.stdout.count("started") == (2 if "-m" not in start else 0)
    assert completed.stdout.count("ended") == (1 if "-m" not in start else 0)


def test_an_interactive_process_is_not_restarted(run_tests, pytester):
    run_tests("def test_nothing(): pass")
    completed = subprocess.run(
        [sys.executable],
        input="import pytest; print(pytest.main(['--warpbook']))",
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.stdout.strip() == "4" or "USAGE_ERROR" in completed.stdout
    assert "cannot be restarted, because it is interactive" in completed.stderr


def test_an_environment_that_loses_its_variables_is_an_error(run_tests, pytester):
    (pytester.path / "sitecustomize.py").write_text("import os; os.environ.pop('LD_LIBRARY_PATH', None)")
    os.environ["PYTHONPATH"] = str(pytester.path)
    try:
        result = run_tests("def test_nothing(): pass", "--warpbook")
    finally:
        del os.environ["PYTHONPATH"]
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*this process does not find the simulator: LD_LIBRARY_PATH is ''*"])


def test_an_interrupt_reaches_the_tests(run_tests, pytester):
    run_tests("def test_slow():\n    print('waiting', flush=True)\n    import time; time.sleep(30)\n", "--co")
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--warpbook", "-s", "-p", "no:cacheprovider"],
        stdout=subprocess.PIPE,
        text=True,
    )
    start = time.monotonic()
    for line in process.stdout:
        if "waiting" in line:
            break
    process.send_signal(signal.SIGINT)
    output = process.stdout.read()
    assert process.wait() == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in output and time.monotonic() - start < 20
