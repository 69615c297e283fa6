"""The cell magic `%%cuda`, which compiles and runs a CUDA program in a notebook.

%load_ext warpbook

%%cuda --check -- 1000
#include <cstdio>
...
"""

from __future__ import annotations

import codecs
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import SVG, display

from warpbook import _native
from warpbook.errors import CudaRunError, WarpbookError
from warpbook.profiling import is_source
from warpbook.records import Record


class CellError(CudaRunError):
    """A cell whose program could not be compiled or run, or failed. The output above it states the reason."""

    def _render_traceback_(self) -> list[str]:
        # IPython calls this method. The traceback of this package does not help the user.
        return [f"CellError: {self}"]


@dataclass
class Options:
    """The line of a cell: the flags of the magic and those of cuda-run."""

    name: str = "cell.cu"
    record: str | None = None
    plot: bool = False
    plot_name: str | None = None
    raise_error: bool = True
    flags: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    @classmethod
    def parse(cls, line: str) -> Options:
        """Parses the line.

        Raises `UsageError` if a flag of the magic is invalid. The other flags are checked by cuda-run.
        """
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"%%cuda: {error} in: {line}") from None
        options = cls()
        if "--" in words:
            position = words.index("--")
            words, options.arguments = words[:position], words[position + 1 :]
        remaining = iter(words)
        for word in remaining:
            flag, has_value, value = word.partition("=")
            if flag in ("--name", "--record"):
                value = value if has_value else next(remaining, "")
                if not value:
                    raise UsageError(f"%%cuda: {flag} requires a value, such as {flag} x.cu or {flag}=x.cu")
                setattr(options, flag[2:], value)
            elif flag == "--plot":
                options.plot, options.plot_name = True, value or None
            elif word == "--no-raise-error":
                options.raise_error = False
            elif flag == "--json":
                raise UsageError(
                    "%%cuda: --json is reserved: the magic writes and reads the record itself. Use --record VARIABLE "
                    "to get the record."
                )
            else:
                options.flags.append(word)
        if not is_source(options.name) or Path(options.name).name != options.name:
            raise UsageError(f"%%cuda: --name {options.name} must be the name of a file, such as x.cu")
        if options.record and not options.record.isidentifier():
            raise UsageError(f"%%cuda: --record {options.record} must be the name of a variable")
        return options


@magics_class
class CudaMagics(Magics):
    """The magics of this extension."""

    @cell_magic
    def cuda(self, line: str, cell: str) -> None:
        """Compiles the cell as a CUDA program with clang and runs it on the simulator.

            %%cuda [FLAGS] [--name FILE.cu] [--plot[=NAME]] [--record VARIABLE] [--no-raise-error] [-- ARGUMENTS]

        FLAGS are those of `warpbook run`, such as `--check`, `--profile=lines`, `--device rtx3090` or `-O3`. Lines are
        numbered as in the cell, with this line as line 1.

            --name FILE.cu      the name of the program in messages and reports
            --plot[=NAME]       shows the plot of times, memory requests and a roofline; with NAME, also writes it
            --record VARIABLE   assigns the `warpbook.Record` of the run to a variable
            --no-raise-error    does not raise an error if the program fails or a check finds an error
        """
        options = Options.parse(line)
        with tempfile.TemporaryDirectory(prefix="warpbook-") as directory:
            self._run(options, cell, Path(directory))

    def _run(self, options: Options, cell: str, directory: Path) -> None:
        # The empty first line stands for the line of the magic, so that all line numbers are those of the cell.
        source = directory / options.name
        source.write_text("\n" + cell, encoding="utf-8")
        json = directory / "record.json"
        plot = options.plot_name or f"{directory}/plot"
        command = [
            str(_native.program("cuda-run")),
            *(f"-I{os.getcwd()}", f"--json={json}", *([f"--plot={plot}"] if options.plot else [])),
            *options.flags,
            str(source),
            *(["--", *options.arguments] if options.arguments else []),
        ]

        def clean(text: str) -> str:
            """Removes the temporary directory, whose files do not exist afterwards."""
            return text.replace(f"The plot: {directory}/plot.svg, {directory}/plot.png\n", "").replace(
                f"{directory}/", ""
            )

        status = stream(command, clean)
        record = None
        if json.exists():
            record = Record.from_json(clean(json.read_text(encoding="utf-8")))
        if options.record and self.shell is not None:
            self.shell.user_ns[options.record] = record
        # with_suffix would replace the part of a name such as v1.5 after its last dot.
        image = Path(f"{plot}.svg")
        if options.plot and image.exists():
            display(SVG(data=clean(image.read_text(encoding="utf-8"))))  # type: ignore[no-untyped-call]
        if status != 0 and options.raise_error:
            raise CellError(_failure(options.name, status, record), command, status, "", record)


def stream(command: list[str], clean: Callable[[str], str]) -> int:
    """Runs a command, prints its output while it runs, and returns its exit status. `clean` edits whole lines.

    Standard error is printed like standard output, in the same order, because most of it is the report.
    """
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    with process:
        assert process.stdout is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        pending = ""
        try:
            while True:
                data = os.read(process.stdout.fileno(), 65536)
                pending += decoder.decode(data, final=not data)
                end = pending.rfind("\n") + 1 if data else len(pending)
                print(clean(pending[:end]), end="", flush=True)
                pending = pending[end:]
                if not data:
                    return process.wait()
        except KeyboardInterrupt:
            # Jupyter interrupts the whole process group. cuda-run then reports the lines at which the threads are.
            try:
                output, _ = process.communicate(timeout=5)
                print(clean(pending + output.decode("utf-8", "replace")), end="", flush=True)
            except subprocess.TimeoutExpired:
                process.kill()
            raise


def _failure(name: str, status: int, record: Record | None) -> str:
    """Returns the reason of a failure in one line."""
    if record is not None and record.ended:
        return f"{name}: {record.ended}"
    errors = record.errors if record is not None else ()
    if errors:
        first = errors[0]
        place = str(first.location) if first.location else name
        headline = re.sub(r"\s+", " ", first.headline)
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        return f"{place.rpartition(os.sep)[2]}: {headline}{more}"
    if status == 2:
        return "invalid flags: see warpbook run --help"
    return f"{name}: exit status {status}"


def register(shell: Any) -> None:
    """Registers the cell magic. Prints a message if the native programs are missing."""
    shell.register_magics(CudaMagics)
    try:
        _native.program("cuda-run")
    except WarpbookError as error:
        print(f"warpbook: {error}", file=sys.stderr)
