"""Compiling and running a program, with cuda-run or with nvcc, and what came of it."""

import datetime
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

    on = "simulator"

    def __init__(self, seconds, program, backend="sim"):
        self.seconds = seconds
        self.program = [program] if program else built()
        self.settings = {"CUDA_BACKEND": backend, "CUDA_SIM_TIME_LIMIT": "none"}

    def result(self, program, on_gpu, folder):
        return largest(self, program, on_gpu, folder)

    def run(self, program, attempt, seconds):
        command = [*self.program, "-w", *program.flags, *attempt.flags, *program.files, "--", *attempt.arguments]
        return start(command, program.folder, seconds, self.settings)


class CudaRunOnGpu(CudaRun):
    """With cuda-run, on a GPU: at the program's own size, or at the largest that ends in time. nvcc's program tells
    what need not be tried."""

    on = "GPU"

    def __init__(self, seconds, program):
        super().__init__(seconds, program, "gpu")

    def result(self, program, on_gpu, folder):
        own = sizes.attempts(program)[-1]
        for attempt in reversed(sizes.attempts(program)):
            if on_gpu.get("result") == TOO_LONG and str(attempt) not in on_gpu["printed"]:
                continue
            done, _ = self.run(program, attempt, self.seconds)
            if done is None:
                continue
            found = verdict.judged(done, expected(on_gpu, program, attempt))
            # A size that nobody has thought of may be none: what goes wrong then says nothing.
            if not (attempt.guessed and "why" in found):
                return {"size": attempt.size, "with": str(attempt)} | found
        return {"result": TOO_LONG, "size": "own", "with": str(own), "seconds": self.seconds}


class Nvcc:
    """With nvcc, on a GPU: what others are held against, at each size that they are tried at."""

    on = "nvcc"

    def __init__(self, seconds):
        self.seconds = seconds

    def result(self, program, _, folder):
        printed, found = {}, {}
        compiled = {}
        for attempt in sizes.attempts(program):
            flags = tuple(attempt.flags)
            target = compiled.get(flags) or folder / f"program{len(compiled)}"
            if flags not in compiled:
                command = ["nvcc", "-w", "-O3", "-arch=native", *program.flags, *flags, *program.files, "-o", target]
                done, _ = start(command, program.folder, 300)
                if done is None or done.returncode != 0:
                    return {"result": verdict.UNCOMPILED, "why": verdict.first_error(done.stderr) if done else ""}
                compiled[flags] = target
            done, _ = start([target, *attempt.arguments], program.folder, self.seconds)
            if done is None:
                found = {"result": TOO_LONG, "seconds": self.seconds}
                break
            found = verdict.judged(done, None)
            if done.returncode == 0:
                printed[str(attempt)] = verdict.numbers(done.stdout)
        return found | {"printed": printed}


def expected(on_gpu, program, attempt):
    """The numbers that the program printed on a GPU with the same flags and arguments; nothing where none of them
    was computed: they are its arguments, or stand in its source."""
    printed = on_gpu.get("printed", {}).get(str(attempt), [])
    given = {*attempt.arguments, *verdict.NUMBER.findall(program.text)}
    return printed if set(printed) - given else None


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
        record = program.record("") | how.result(program, on_gpu, pathlib.Path(folder))
    if on_gpu:
        record["nvcc"] = on_gpu["result"]
    record["date"] = datetime.date.today().isoformat()
    for told in ("why", "said"):
        if told in record:
            record[told] = record[told].replace(str(program.folder), ".")
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
        done, spent = how.run(program, attempt, left)
        if done is None:
            break
        left = max(left - spent, 1)
        found = verdict.judged(done, expected(on_gpu, program, attempt))
        if found["result"] == verdict.UNCOMPILED:
            return found
        # A size that nobody has thought of may be none: what goes wrong then says nothing.
        if attempt.guessed and "why" in found:
            said = said or f"with {attempt}: {found['why']}"
        else:
            best = {"size": attempt.size, "with": str(attempt)} | found
    own = " ".join(program.arguments)
    return best or {"result": TOO_LONG, "size": "own", "with": own, "why": said, "seconds": how.seconds}


def start(command, folder, seconds, settings=None):
    """What a command did, or None where it took too long; and the processor's time that it took.

    The limit is one of the processor's time, so that it is the same on a machine with other work.
    """
    settings = {**os.environ, "OMP_NUM_THREADS": "2", **(settings or {})}
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
        waiting = threading.Timer(10 * seconds + 60, os.killpg, (process.pid, signal.SIGKILL))
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
