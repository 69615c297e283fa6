"""The plug-in for pytest: `pytest --warpbook` runs the tests on the simulator.

    pytest --warpbook                             counts what the kernels of each test do
    pytest --warpbook --warpbook-check            and fails a test if a check finds an error in its kernels
    pytest --warpbook --warpbook-check=mem,race   the same with these checks only

    def test_add_is_coalesced(warpbook):
        add(a, b)
        assert warpbook.record().kernel("add").sectors_per_load_request <= 4

    @pytest.mark.warpbook_expect("race")
    def test_the_race_is_found(): ...

Kernels of processes that a test starts belong to the test during which the process ends, also if a signal or `os._exit`
ends it. A child of `fork` can use CUDA only if this process has not used it before, as with NVIDIA's driver.

Every run of pytest imports this module, so it imports the rest of the package only with `--warpbook`.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import sys
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pytest

if TYPE_CHECKING:
    from warpbook._pytest_session import TestRecorder

#: The checks of `--warpbook-check` without a list. Libraries and fixtures keep memory until the end of the process, so
#: leak is not among them.
DEFAULT_CHECKS = "mem,init,race,sync,host,stream"

CHECKS = {"mem", "init", "race", "sync", "leak", "host", "stream", "unused", "all"}

#: The name under which the session is registered, with --warpbook.
SESSION = "warpbook-session"

#: The oldest version of pluggy with the kind of hooks that the plug-in needs.
PLUGGY = (1, 2)

T = TypeVar("T", str, bytes)

# The process that has restarted itself. A second restart would not help.
_RESTARTED = "WARPBOOK_PYTEST_RESTARTED"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("warpbook", "CUDA without a GPU (Warpbook)")
    group.addoption(
        "--warpbook",
        action="store_true",
        help="run the tests on Warpbook's simulated GPU and count what kernels do; the other options imply this one",
    )
    group.addoption(
        "--warpbook-check",
        nargs="?",
        const=DEFAULT_CHECKS,
        metavar="LIST",
        help="fail tests in whose kernels a check finds an error: mem, init, race, sync, leak, host, "
        f"stream, a list of them, or all (without LIST: {DEFAULT_CHECKS})",
    )
    group.addoption("--warpbook-device", metavar="NAME", help="the GPU to simulate, such as rtx3090")
    group.addoption(
        "--warpbook-require-kernels", action="store_true", help="fail the run if it launches no kernel on the simulator"
    )
    parser.addini(
        "warpbook_require_kernels", "with --warpbook: fail the run if it launches no kernel", type="bool", default=False
    )


# The outermost wrapper runs before pytest redirects the output, and before conftest.py files can load the driver.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, None, None]:
    """With `--warpbook`, restarts pytest if this process does not find the simulator, and starts recording."""
    options = early_config.known_args_namespace
    if _is_enabled(options):
        _require_pluggy()
        if _prepare_process(args, options.warpbook_check, options.warpbook_device):
            # The path that followed --warpbook-check belongs to pytest.
            early_config.known_args_namespace = parser.parse_known_args(args, copy.copy(early_config.option))
        from warpbook._pytest_recording import start
        from warpbook.errors import WarpbookError

        try:
            # conftest.py files may launch kernels while they are imported.
            start(early_config)
        except (WarpbookError, OSError) as error:
            raise pytest.UsageError(f"--warpbook: {error}") from None
    yield


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker and, with `--warpbook`, the hooks that record the tests."""
    config.addinivalue_line(
        "markers",
        "warpbook_expect(*kinds): with --warpbook, the test passes only if each of these kinds of findings or checks, "
        'such as "race" or "out-of-bounds", is found in its kernels',
    )
    if _is_enabled(config.option):
        _require_pluggy()
        from warpbook._pytest_session import Session
        from warpbook.errors import WarpbookError

        try:
            session = Session(config)
        except WarpbookError as error:
            raise pytest.UsageError(f"--warpbook: {error}") from None
        config.pluginmanager.register(session, SESSION)


@pytest.fixture(name="warpbook")
def _warpbook_fixture(request: pytest.FixtureRequest) -> TestRecorder:
    """The kernels that the test has launched, with their counters. Skips the test without `--warpbook`."""
    session: Any = request.config.pluginmanager.get_plugin(SESSION)
    if session is None:
        pytest.skip("requires pytest --warpbook")
    recorder: TestRecorder = session.recorder(request.node)
    return recorder


def _is_enabled(options: argparse.Namespace) -> bool:
    checks, device = options.warpbook_check, options.warpbook_device
    return bool(options.warpbook or options.warpbook_require_kernels) or checks is not None or device is not None


def _require_pluggy() -> None:
    import pluggy

    version = tuple(int(number) for number in re.findall(r"\d+", pluggy.__version__)[:2])
    if version < PLUGGY:
        raise pytest.UsageError(
            f"--warpbook: pluggy {pluggy.__version__} is too old; version {'.'.join(map(str, PLUGGY))} or newer is "
            "required. Run pip install --upgrade pluggy."
        )


def _prepare_process(args: list[str], checks: str | None, device: str | None) -> bool:
    """Sets the variables of the simulator, and restarts this process if its libraries would not find the simulator.

    Returns true if `args` has been changed: a path that followed `--warpbook-check` is now an argument of its own.

    pytest is restarted with the variables that cuda-run sets, but not as a child of cuda-run. cuda-run would report
    each finding again at the end, and turn the exit status to 1 for findings that tests expect. The process keeps its
    ID, so signals and the exit status are pytest's own.
    """
    from warpbook.environment import environment, is_active
    from warpbook.errors import WarpbookError

    words = _command_line()
    changed = False
    if checks is not None and not _is_list(checks):
        # The option has no list and is followed by a path, which belongs to pytest. The option may be in addopts.
        position = _find_pair(args, "--warpbook-check", checks)
        if position is None:
            raise pytest.UsageError(
                f"--warpbook-check={checks}: this is not a list of checks. The checks are {', '.join(sorted(CHECKS))}."
            )
        args[position] += f"={DEFAULT_CHECKS}"
        changed = True
        position = _find_pair(words, b"--warpbook-check", os.fsencode(checks))
        if position is not None:
            words[position] += b"=" + DEFAULT_CHECKS.encode()
        checks = DEFAULT_CHECKS
    if checks is not None:
        os.environ["CUDA_SIM_CHECK"] = checks
    if device is not None:
        os.environ["CUDA_SIM_DEVICE"] = device
    try:
        if is_active() and words == _command_line():
            # A worker of pytest-xdist, a process started by the tests, or one with the variables of `warpbook env`.
            return changed
        if os.environ.get(_RESTARTED) == str(os.getpid()):
            raise pytest.UsageError(
                f"--warpbook: this process does not find the simulator: LD_LIBRARY_PATH is "
                f"{os.environ.get('LD_LIBRARY_PATH', '')!r}. Likely cause: a start-up file of Python changes it. "
                'Run eval "$(warpbook env --shell)" first.'
            )
        variables = environment()
    except WarpbookError as error:
        raise pytest.UsageError(f"--warpbook: {error}") from None
    _restart(words, {**os.environ, **variables, _RESTARTED: str(os.getpid())})


def _find_pair(words: list[T], first: T, second: T) -> int | None:
    """Returns the position of two adjacent words."""
    pairs = list(zip(words, words[1:]))
    return pairs.index((first, second)) if (first, second) in pairs else None


def _is_list(checks: str) -> bool:
    return all(check in CHECKS for check in checks.split(","))


def _command_line() -> list[bytes]:
    """Returns the arguments of this process. The list is empty on systems other than Linux."""
    try:
        # sys.orig_argv has the flags of Python as well, but only since Python 3.10.
        with open("/proc/self/cmdline", "rb") as file:
            return file.read().split(b"\0")[1:-1]
    except OSError:
        return []


def _restart(words: list[bytes], variables: Mapping[str, str]) -> NoReturn:
    """Replaces this process by one with other arguments and variables."""
    if not sys.platform.startswith("linux"):
        raise pytest.UsageError("--warpbook: programs can run on the simulator only on Linux")
    if "ipykernel" in sys.modules or sys.argv[0] in ("", "-"):
        raise pytest.UsageError(
            "--warpbook: this process cannot be restarted, because it is interactive. Run pytest from a shell, or "
            'start the process after eval "$(warpbook env --shell)".'
        )
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [os.fsencode(sys.executable), *words], variables)
