"""The hooks of the pytest plug-in with `--warpbook`: recording of each test, failures, and the summary."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from warpbook._pytest_recording import start
from warpbook._simulator import process_simulator
from warpbook.environment import is_active
from warpbook.errors import NativeError
from warpbook.records import Kernel, Problem, Record, merge
from warpbook.summary import milliseconds, number, table

#: The attribute of reports and of the output of xdist's workers: data of simple types, which xdist can transfer.
ATTRIBUTE = "warpbook"

#: The kinds of problems that a test can expect.
KINDS = (
    *("out-of-bounds", "use-after-free", "null-pointer", "wrong-space", "other-array", "misaligned"),
    *("ignored-address-mode", "extern-arrays", "stack-overflow", "invalid-call", "unwritten-device-memory"),
    *("byte-fill", "unwritten-result", "unwritten-shared-memory", "unwritten-local-memory", "read-after-write"),
    *("write-after-read", "write-after-write", "one-store-two-values", "copy-not-awaited", "between-blocks"),
    *("divergent-barrier", "ended-before-barrier", "mixed-barriers", "barrier-never-opens", "grid-barrier"),
    *("invalid-barrier", "mask-lacks-caller", "absent-lanes", "asked-absent-lane", "warp-incomplete", "leaked"),
    *("host-memory-touched", "host-memory-changed", "stream-race", "graph-race", "freed-in-use"),
    *("used-before-allocation", "unused-input", "assert", "trap", "timeout", "interrupted", "fault", "failed-call"),
    *("wrong-result", "rejected-module", "not-simulated", "program-stopped"),
)

#: The checks that a test can expect. The last ones stand for faults, failed calls and rejected modules.
EXPECTED_CHECKS = ("mem", "init", "race", "sync", "leak", "host", "stream", "unused", "run", "api", "modules")


@dataclass
class _Test:
    """The state of a test that is running."""

    #: The checks or kinds that the test expects.
    expected: tuple[str, ...]
    #: The records of the test so far.
    parts: list[Record] = field(default_factory=list)
    #: The unexpected errors that no phase has reported.
    errors: list[Problem] = field(default_factory=list)
    #: The text of unexpected findings by phase, for phases that failed for another reason.
    sections: dict[str, str] = field(default_factory=dict)
    #: The phases that failed because of unexpected findings alone.
    failed: set[str] = field(default_factory=set)

    def expects(self, problem: Problem) -> bool:
        """Returns true if the test expects the problem."""
        return problem.kind in self.expected or problem.check in self.expected

    def take_errors(self) -> list[Problem]:
        """Returns the unexpected errors since the last call."""
        errors, self.errors = self.errors, []
        return errors

    def missing(self) -> list[str]:
        """Returns the expected kinds that were not found."""
        found = {name for part in self.parts for problem in part.problems for name in (problem.kind, problem.check)}
        return [name for name in self.expected if name not in found]


_STATE = pytest.StashKey[_Test]()


class TestRecorder:
    """The fixture `warpbook`: the kernels that the test has launched."""

    __test__ = False

    def __init__(self, session: Session, test: _Test) -> None:
        self._session = session
        self._test = test
        self._position = 0

    def record(self) -> Record:
        """Waits for all submitted work, and returns the record since the test began or since the last call.

        Kernels that the fixtures of the test launched are included.
        """
        self._session.take(self._test)
        parts = self._test.parts[self._position :]
        self._position = len(self._test.parts)
        return _merge(parts)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels since the test began."""
        self._session.take(self._test)
        return _merge(self._test.parts).kernels


class Session:
    """The recording of a test run."""

    def __init__(self, config: pytest.Config) -> None:
        if not is_active():
            raise NativeError(
                "the simulator was not selected before pytest started. Likely cause: the option was added by a plug-in "
                "or by a conftest.py file. Pass it on the command line, or with addopts in pytest.ini."
            )
        self._device = process_simulator().device_names()[0]
        self._checks = os.environ.get("CUDA_SIM_CHECK", "")
        self._start = start(config)
        self._config = config
        #: The record of work outside of tests, such as in modules while they are imported.
        self._outside = _Test(expected=())
        self._kernels: dict[str, tuple[int, int, float]] = {}
        self._problems: list[tuple[str, list[str]]] = []
        self._outside_errors = 0

    def take(self, test: _Test, running: bool = False) -> None:
        """Waits for all submitted work, and adds its record and its unexpected errors to a test.

        `running` includes processes that have not ended.
        """
        parts = [self._start.recording.take(), *self._start.children.take(running)]
        parts = [part for part in parts if part.kernels or part.problems]
        test.parts += parts
        test.errors += [problem for part in parts for problem in part.errors if not test.expects(problem)]

    def recorder(self, item: pytest.Item) -> TestRecorder:
        """Returns the value of the fixture for a test."""
        return TestRecorder(self, item.stash[_STATE])

    def pytest_report_header(self) -> str:
        checks = f"checks: {self._checks.replace(',', ', ')}" if self._checks else "no checks (--warpbook-check)"
        return f"warpbook: {self._device}, {checks}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not hasattr(self._config, "workerinput"):
            for item in session.items:
                _expected(item)
        self.take(self._outside)

    # As the innermost wrappers, these hooks run while the output of the test is captured, and other plug-ins see the
    # failure like one of the test itself.
    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        expected = _expected(item)
        item.stash[_STATE] = _Test(expected)
        return (yield from self._phase(item, "setup"))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self._phase(item, "call"))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        return (yield from self._phase(item, "teardown"))

    def _phase(self, item: pytest.Item, when: str) -> Generator[None, Any, Any]:
        """Runs a phase of a test, and fails it if there is an unexpected error in its kernels."""
        test = item.stash[_STATE]
        try:
            result = yield
        except (KeyboardInterrupt, SystemExit, pytest.exit.Exception):
            raise
        except BaseException as error:
            self.take(test)
            errors = test.take_errors()
            if errors and isinstance(error, pytest.skip.Exception):
                test.failed.add(when)
                raise pytest.fail.Exception(_failure(errors), pytrace=False) from None
            if errors:
                test.sections[when] = _failure(errors)
            raise
        self.take(test)
        errors = test.take_errors()
        if errors:
            test.failed.add(when)
            pytest.fail(_failure(errors), pytrace=False)
        if when == "call" and test.missing():
            hint = "" if self._checks else " No checks are on: add --warpbook-check."
            pytest.fail(
                f"no finding of {', '.join(test.missing())}, which the marker warpbook_expect expects.{hint}",
                pytrace=False,
            )
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        test = item.stash.get(_STATE, None)
        if test is None:
            return report
        if call.when in test.sections:
            report.sections.append(("Findings of Warpbook", test.sections[call.when]))
        crash = getattr(report.longrepr, "reprcrash", None)
        if call.when in test.failed and crash is not None:
            # Otherwise pytest's summary repeats the whole report if the variable CI is set.
            crash.message = crash.message.partition("\n")[0]
        if call.when == "teardown":
            setattr(report, ATTRIBUTE, _digest(test))
            del item.stash[_STATE]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        digest = getattr(report, ATTRIBUTE, None)
        if digest is not None:
            self._add(digest, report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Adds the work outside of tests of a worker of pytest-xdist."""
        digest = getattr(node, "workeroutput", {}).get(ATTRIBUTE)
        if digest is not None:
            self._add_outside(digest)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.take(self._outside, running=True)
        digest = _digest(self._outside)
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[ATTRIBUTE] = digest
            return
        self._add_outside(digest)
        failed = self._outside_errors or (self._requires_kernels() and not self._kernels)
        if failed and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._config.option.collectonly and not self._problems:
            return
        terminalreporter.section(f"Warpbook: {self._device}")
        if not self._kernels:
            level, color = ("error", "red") if self._requires_kernels() else ("warning", "yellow")
            terminalreporter.write_line(
                f"{level}: no kernel was launched through libcuda.so.1, in this process or in its child processes",
                **{color: True},
            )
        if self._kernels:
            rows = [
                [name, number(tests), number(launches), milliseconds(time)]
                for name, (tests, launches, time) in sorted(self._kernels.items())
            ]
            header = ["kernel", "tests", "launches", "modelled ms"]
            terminalreporter.write_line(table(header, rows, [False, True, True, True]))
        if self._problems:
            terminalreporter.write_line("")
        for where, (first, *others) in self._problems:
            more = f" (and {len(others)} more)" if others else ""
            terminalreporter.write_line(f"{where}: {first}{more}")

    def _add(self, digest: Any, where: str) -> None:
        for name, launches, time in digest["kernels"]:
            known = self._kernels.get(name, (0, 0, 0.0))
            self._kernels[name] = (known[0] + 1, known[1] + launches, known[2] + time)
        if digest["problems"]:
            self._problems.append((where, digest["problems"]))

    def _add_outside(self, digest: Any) -> None:
        self._add(digest, "outside of tests")
        self._outside_errors += digest["errors"]

    def _requires_kernels(self) -> bool:
        option = self._config.option
        required = option.warpbook_require_kernels or self._config.getini("warpbook_require_kernels")
        return bool(required) and not option.collectonly


def _expected(item: pytest.Item) -> tuple[str, ...]:
    """Returns the arguments of the markers of a test.

    Raises `pytest.UsageError` if they are not kinds of findings or checks.
    """
    kinds: list[str] = []
    for marker in item.iter_markers("warpbook_expect"):
        unknown = [kind for kind in marker.args if kind not in (*KINDS, *EXPECTED_CHECKS)]
        if marker.kwargs or not marker.args:
            raise pytest.UsageError(
                f"{item.nodeid}: the marker warpbook_expect requires the kinds that the test expects, such as "
                f'warpbook_expect("race"). {_kinds()}'
            )
        if unknown:
            raise pytest.UsageError(f"{item.nodeid}: warpbook_expect({unknown[0]!r}) is unknown. {_kinds()}")
        kinds += marker.args
    return tuple(kinds)


def _kinds() -> str:
    return f"The checks are {', '.join(EXPECTED_CHECKS)}; the kinds are {', '.join(KINDS)}."


def _digest(test: _Test) -> dict[str, Any]:
    """Returns the data for the summary."""
    record = _merge(test.parts)
    # The summary shows only the first problem of a test, so the expected ones come last.
    shown = sorted((problem for problem in record.problems if problem.severity != "note"), key=test.expects)
    return {
        "kernels": [[kernel.name, kernel.launches, kernel.milliseconds] for kernel in record.kernels],
        "problems": [
            f"{problem.severity}: {_line(problem)}{' (expected)' if test.expects(problem) else ''}" for problem in shown
        ],
        "errors": len(record.errors),
    }


def _merge(parts: Iterable[Record]) -> Record:
    return merge([Record(program=()), *parts])


def _failure(errors: list[Problem]) -> str:
    """Returns the message of a test that fails. Its first line appears in pytest's short summary."""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return "\n\n".join([_line(errors[0]) + more, *(str(problem) for problem in errors)])


def _line(problem: Problem) -> str:
    place = f"{problem.location}: " if problem.location else ""
    kernel = f" in kernel {problem.kernel}" if problem.kernel and problem.kernel not in problem.headline else ""
    return f"{place}{problem.headline}{kernel}"
