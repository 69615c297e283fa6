"""The exceptions of this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warpbook.records import Record


class WarpbookError(Exception):
    """Base class of the exceptions of this package."""


class NativeError(WarpbookError):
    """A program or library of Warpbook that is missing or cannot be used on this platform."""


class CudaRunError(WarpbookError):
    """A program that could not be compiled or run.

    The exit status of a program that ran is no error: `Record.status` contains it.
    """

    def __init__(self, message: str, command: Sequence[str], status: int, output: str, record: Record | None) -> None:
        super().__init__(message)
        #: The command line of cuda-run.
        self.command = tuple(command)
        #: The exit status of cuda-run: 2 for an invalid command line, otherwise 1.
        self.status = status
        #: The standard error of cuda-run, with the messages of the compiler.
        self.output = output
        #: The record, whose problems contain the errors of the compiler; `None` if cuda-run wrote none.
        self.record = record


class RecordError(WarpbookError):
    """A file or text that is not a record, or a record that lacks the requested kernel or counter."""


class RecordingError(WarpbookError):
    """A recording that cannot be started or read."""


class PtxError(WarpbookError):
    """A kernel in PTX that could not be loaded or launched, or that failed."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        #: The `CUresult`, such as 218 for PTX that is not valid.
        self.status = status
