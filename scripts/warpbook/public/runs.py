"""Compilation and execution of programs with cuda-run or nvcc, and the outcomes."""

import datetime
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading

from .. import ROOT
from . import sizes, verdict

TOO_LONG = "takes too long"


class CudaRun:
    """cuda-run on the simulator."""

    on = "simulator"

    def __init__(self, seconds, program, backend="sim"):
        self.seconds = seconds
        self.program = [program] if program else built()
        self.settings = {"CUDA_BACKEND": backend, "CUDA_SIM_TIME_LIMIT": "none"}

    def result(self, program, on_gpu, folder):
        return largest(self, program, on_gpu, folder)

    def run(self, program, attempt, seconds):
        with tempfile.TemporaryDirectory() as folder:
            files, more = attempt.files(program, pathlib.Path(folder))
            flags = [*more, *program.flags, *attempt.flags]
            command = [*self.program, "-w", *flags, *files, "--", *attempt.arguments]
            return start(command, program.folder, seconds, self.settings)


class CudaRunOnGpu(CudaRun):
    """cuda-run on a GPU, at the program's own size or the largest one within the time limit. nvcc's record shows
    which sizes need not be tried."""

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
            outcome = verdict.judged(done, expected(on_gpu, program, attempt))
            # A guessed size may be invalid, so that an error with it is no evidence.
            if not (attempt.guessed and "why" in outcome):
                return {"size": attempt.size, "with": str(attempt)} | outcome
        return {"result": TOO_LONG, "size": "own", "with": str(own), "seconds": self.seconds}


class Nvcc:
    """nvcc on a GPU: the reference for the others, at each size that they are tried at."""

    on = "nvcc"

    def __init__(self, seconds):
        self.seconds = seconds

    def result(self, program, _, folder):
        printed, outcome = {}, {}
        compiled = {}
        for attempt in sizes.attempts(program):
            build = (*attempt.flags, *attempt.values.items())
            target = compiled.get(build) or folder / f"program{len(compiled)}"
            if build not in compiled:
                files, more = attempt.files(program, folder)
                flags = [*more, *program.flags, *attempt.flags]
                command = ["nvcc", "-w", "-O3", "-arch=native", *flags, *files, "-o", target]
                done, _ = start(command, program.folder, 300)
                if done is None or done.returncode != 0:
                    return {"result": verdict.UNCOMPILED, "why": verdict.first_error(done.stderr) if done else ""}
                compiled[build] = target
            done, _ = start([target, *attempt.arguments], program.folder, self.seconds)
            if done is None:
                outcome = {"result": TOO_LONG, "seconds": self.seconds}
                break
            outcome = verdict.judged(done, None)
            if done.returncode == 0:
                printed[str(attempt)] = verdict.numbers(done.stdout)
        return outcome | {"printed": printed}


def expected(on_gpu, program, attempt):
    """Returns the numbers that the program printed on a GPU with the same flags and arguments. Returns `None` if
    none was computed: all of them are arguments or literals of the source."""
    printed = on_gpu.get("printed", {}).get(str(attempt), [])
    constants = {*attempt.arguments, *verdict.NUMBER.findall(program.text)}
    return printed if set(printed) - constants else None


def built():
    """Builds cuda-run with cargo and returns its command."""
    subprocess.run(["cargo", "build", "--quiet", "--locked", "-p", "cuda-run"], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return [target / "debug/cuda-run"]


def result(toolchain, program, reference):
    """Runs a program and returns its record."""
    needs = program.needs()
    if needs:
        return program.record("left out", why=needs)
    on_gpu = reference.get(program.key, {})
    with tempfile.TemporaryDirectory() as folder:
        record = program.record("") | toolchain.result(program, on_gpu, pathlib.Path(folder))
    if on_gpu:
        record["nvcc"] = on_gpu["result"]
    record["date"] = datetime.date.today().isoformat()
    for key in ("why", "said"):
        if key in record:
            record[key] = without_paths(record[key], program)
    # A file argument that the error message names: input data that does not exist.
    unnamed = (word for word in program.arguments if "." in word and not (program.folder / word).exists())
    missing = next((word for word in unnamed if word in record.get("why", "")), None)
    return program.record("left out", why=f"data: {missing}") if missing else record


def without_paths(text, program):
    """Returns a message without the paths of this machine: of the program's folder, its collection, and copies of its
    files."""
    text = text.replace(str(program.folder), ".").replace(f"{program.top}/", "")
    return re.sub(rf"{re.escape(tempfile.gettempdir())}/tmp\w+", ".", text)


def largest(toolchain, program, on_gpu, folder):
    """Returns the outcome at the largest size within the time limit, after trying sizes from the smallest on."""
    remaining = toolchain.seconds
    best, message = None, ""
    for attempt in sizes.attempts(program):
        # The next size usually takes eight times as long.
        if best and (remaining < toolchain.seconds * 2 / 3 or best["result"] not in (*verdict.GOOD, verdict.SILENT)):
            break
        done, spent = toolchain.run(program, attempt, remaining)
        if done is None:
            break
        remaining = max(remaining - spent, 1)
        outcome = verdict.judged(done, expected(on_gpu, program, attempt))
        if outcome["result"] == verdict.UNCOMPILED:
            return outcome
        # A guessed size may be invalid, so that an error with it is no evidence.
        if attempt.guessed and "why" in outcome:
            message = message or f"with {attempt}: {outcome['why']}"
        else:
            best = {"size": attempt.size, "with": str(attempt)} | outcome
    own = " ".join(program.arguments)
    return best or {"result": TOO_LONG, "size": "own", "with": own, "why": message, "seconds": toolchain.seconds}


def start(command, folder, seconds, settings=None):
    """Runs a command and returns its result, or `None` if it exceeded the limit, and the processor time it took.

    The limit is processor time, so that other load on the machine does not affect it.
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
        # Processor time does not limit a process that sleeps or waits forever; other processes may also slow it down.
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
