"""Compiling and running a program, with cuda-run or with nvcc, and what came of it."""

import os
import pathlib
import signal
import subprocess
import tempfile
import threading

from .. import ROOT
from . import sizes, verdict

TOO_LONG = "takes too long"


class CudaRun:
    """With cuda-run, on the simulator."""

    def __init__(self, seconds, program):
        self.seconds = seconds
        self.program = [program] if program else built()

    def run(self, program, attempt, folder, seconds):
        command = [*self.program, *program.flags, *attempt.flags, *program.files, "--", *attempt.arguments]
        return start(command, program.folder, seconds)


class Nvcc:
    """With nvcc, on a GPU."""

    def __init__(self, seconds):
        self.seconds = seconds

    def run(self, program, attempt, folder, seconds):
        target = folder / "program"
        command = ["nvcc", "-O3", "-arch=native", *program.flags, *attempt.flags, *program.files, "-o", target]
        compiled, spent = start(command, program.folder, 300)
        if compiled is None or compiled.returncode != 0:
            return compiled, spent
        return start([target, *attempt.arguments], program.folder, seconds)


def built():
    """cuda-run as cargo builds it."""
    subprocess.run(["cargo", "build", "--quiet", "--locked", "-p", "cuda-run"], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return [target / "debug/cuda-run"]


def result(how, program, beside):
    """What became of a program, as a record."""
    needs = program.needs()
    if needs:
        return program.record("left out", why=needs)
    on_gpu = beside.get(program.key, {})
    with tempfile.TemporaryDirectory() as folder:
        record = program.record("") | largest(how, program, on_gpu, pathlib.Path(folder))
    # A file that only its own message tells of: what it wrote lies there.
    unnamed = (word for word in program.arguments if "." in word and not (program.folder / word).exists())
    lacking = next((word for word in unnamed if word in record.get("why", "")), None)
    return program.record("left out", why=f"data: {lacking}") if lacking else record


def largest(how, program, on_gpu, folder):
    """What came of the largest size that the time allows, beginning with the smallest."""
    left = how.seconds
    best, said = None, ""
    for attempt in sizes.attempts(program):
        # The next is mostly eight times as long.
        if best and (left < how.seconds * 2 / 3 or best["result"] not in (*verdict.GOOD, verdict.SILENT)):
            break
        done, spent = how.run(program, attempt, folder, left)
        if done is None:
            break
        left = max(left - spent, 1)
        found = verdict.judged(done, on_gpu if on_gpu.get("with") == str(attempt) else {})
        if found["result"] == "does not compile":
            return found
        # A size that nobody has thought of may be none: what goes wrong then says nothing.
        if attempt.guessed and "why" in found:
            said = said or f"with {attempt}: {found['why']}"
        else:
            best = {"size": attempt.size, "with": str(attempt)} | found
    own = " ".join(program.arguments)
    return best or {"result": TOO_LONG, "size": "own", "with": own, "why": said, "seconds": how.seconds}


def start(command, folder, seconds):
    """What a command did, or None where it took too long; and the processor's time that it took.

    The limit is one of the processor's time, so that it is the same on a machine with other work.
    """
    settings = {**os.environ, "CUDA_SIM_TIME_LIMIT": "none", "OMP_NUM_THREADS": "2"}
    limited = ["sh", "-c", f'ulimit -t {max(round(seconds), 1)}; exec "$@"', "sh", *map(str, command)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            limited,
            cwd=folder,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        # One that sleeps or waits for ever takes no time of the processor's, and others may keep it busy.
        waiting = threading.Timer(40 * seconds + 120, os.killpg, (process.pid, signal.SIGKILL))
        waiting.start()
        _, status, usage = os.wait4(process.pid, 0)
        waiting.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = [text(file) for file in (out, err)]
    spent = usage.ru_utime + usage.ru_stime
    if process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL, -signal.SIGXCPU, 128 + signal.SIGXCPU):
        return None, spent
    return subprocess.CompletedProcess(command, process.returncode, *texts), spent


def text(file):
    file.seek(0)
    return file.read().decode(errors="replace")
