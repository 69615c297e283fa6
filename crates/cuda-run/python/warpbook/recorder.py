"""Recording of the kernels that this process launches."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from warpbook._simulator import Simulator, process_simulator
from warpbook.errors import RecordingError
from warpbook.records import Record, merge


class Recording:
    """A recording of the kernels that this process launches."""

    def __init__(self) -> None:
        self._parts: list[Record] = []
        self._active = False

    @property
    def record(self) -> Record:
        """The record since the start; in the block, up to now, after waiting for all submitted work.

        Raises `RecordingError` if the recording has not started.
        """
        if self._active:
            _RECORDER.take()
        if not self._parts:
            raise RecordingError("The recording has not started. Use it in: with warpbook.recording() as recording")
        return merge(self._parts)

    def take(self) -> Record:
        """Returns the record since the start or the last call of this method, and goes on recording.

        Raises `RecordingError` if the recording is not running.
        """
        if not self._active:
            raise RecordingError("The recording is not running.")
        _RECORDER.take()
        parts, self._parts = self._parts, []
        return merge(parts)


@contextmanager
def recording() -> Iterator[Recording]:
    """Records the kernels that this process launches in a block, with their counters and the findings of the checks.

        with warpbook.recording() as recording:
            ...  # code that launches kernels through libcuda.so.1
        print(recording.record.kernel("add").sectors_per_load_request)

    The process must run on the simulator (`warpbook run -- python3 program.py`, or the variables of `warpbook env`). If
    there is no driver at all, as in a notebook without a GPU, this function loads the simulator and sets these
    variables, so that libraries that load the driver later find it. The variable `CUDA_SIM_CHECK=all` selects checks;
    set it before the first call of CUDA. Recordings can be nested.

    Raises `NativeError` if the process uses NVIDIA's driver, and `RecordingError` if the simulator cannot record.
    """
    result = start()
    try:
        yield result
    finally:
        stop(result)


def start() -> Recording:
    """Starts a recording that `stop` ends."""
    return _RECORDER.start()


def stop(recording: Recording) -> None:
    """Ends a recording. Its record stays available."""
    _RECORDER.stop(recording)


class _Recorder:
    """The recordings of this process. The library has only one recording, whose parts are distributed to all."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._simulator: Simulator | None = None
        self._active: list[Recording] = []

    def start(self) -> Recording:
        with self._lock:
            if self._active:
                # The work until now does not belong to the new recording.
                self.take()
            else:
                simulator = process_simulator()
                status = simulator.record_start()
                if status != 0:
                    raise RecordingError(f"The simulator cannot record: warpbook_record_start returned {status}.")
                self._simulator = simulator
            started = Recording()
            started._active = True
            self._active.append(started)
            return started

    def stop(self, recording: Recording) -> None:
        with self._lock:
            if recording._active:
                self.take()
                recording._active = False
                self._active.remove(recording)

    def take(self) -> None:
        """Adds the record since the last call to all recordings."""
        with self._lock:
            text = self._simulator.record_take() if self._simulator else None
            if text is None:
                raise RecordingError(
                    "The simulator is not recording. Likely cause: this process is a fork of the recorded one."
                )
            part = Record.from_json(text, "the recording")
            for recording in self._active:
                recording._parts.append(part)


_RECORDER = _Recorder()
