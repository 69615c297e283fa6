"""The recording of the pytest plug-in: the events of this process, and those of the processes that it starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from warpbook import _native, recorder
from warpbook.profiling import EVENTS, PYTEST_EVENTS
from warpbook.records import Record, load_records


class Start:
    """A recording that has started."""

    def __init__(self) -> None:
        self.recording = recorder.start()
        self.children = Children()

    def stop(self) -> None:
        """Ends the recording and restores the variables of this process."""
        self.children.close()
        recorder.stop(self.recording)


_KEY = pytest.StashKey[Start]()


def start(config: pytest.Config) -> Start:
    """Starts the recording of a run of pytest, which ends with the run. Returns the running one if there is one."""
    if _KEY not in config.stash:
        config.stash[_KEY] = Start()
        config.add_cleanup(config.stash[_KEY].stop)
    return config.stash[_KEY]


class Children:
    """The events of the processes that this process starts.

    Each process appends its events to a file named after its ID, as for `cuda-run -- PROGRAM`. So the events survive any
    end of the process: `os._exit`, a signal, or the end of a worker of `multiprocessing`. cuda-run converts the files to
    a record.
    """

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix=PYTEST_EVENTS))
        # The second variable makes the processes count, as cuda-run does.
        variables = {EVENTS: str(self._directory), "CUDA_SIM_PROFILE": os.environ.get("CUDA_SIM_PROFILE") or "summary"}
        self._previous = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)

    def take(self, running: bool = False) -> list[Record]:
        """Returns the records of processes that have ended since the last call. `running` includes all others."""
        own = str(os.getpid())
        try:
            ids = [entry.name for entry in os.scandir(self._directory) if entry.name.isdigit() and entry.name != own]
        except OSError:
            # A test has removed the directory for temporary files.
            return []
        files = [str(self._directory / name) for name in sorted(ids, key=int) if running or not _is_running(name)]
        return self._convert(files) if files else []

    def _convert(self, files: list[str]) -> list[Record]:
        """Converts files of events to a record, and removes them."""
        with tempfile.TemporaryDirectory(prefix="warpbook-") as directory:
            file = Path(directory) / "record.json"
            command = [str(_native.program("cuda-run")), "--quiet", f"--json={file}", "--"]
            # cuda-run reports the files in its own directory of events.
            command += ["/bin/sh", "-c", 'mv -- "$@" "$CUDA_RUN_EVENTS"', "sh", *files]
            variables = {name: value for name, value in os.environ.items() if name != EVENTS}
            variables["CUDA_BACKEND"] = "sim"
            completed = subprocess.run(
                command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            if not file.exists():
                message = completed.stderr.decode("utf-8", "replace").strip()
                raise RuntimeError(f"cuda-run cannot read the events of processes: {message}")
            return load_records(file)

    def close(self) -> None:
        """Removes the files and restores the variables."""
        shutil.rmtree(self._directory, ignore_errors=True)
        for name, value in self._previous.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _is_running(process: str) -> bool:
    """Returns true if a process runs. A process that has ended is a zombie until its parent has waited for it."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
