"""Compiling and running a program, with cuda-run or with nvcc, and what came of it."""

import dataclasses
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from .. import ROOT

WRONG = re.compile(
    r"\bFAIL|\bfailed\b|mismatch|incorrect|not match|\bwrong\b|INVALID|unsuccessful|Test (is )?failed", re.I
)
RIGHT = re.compile(
    r"\bPASS|\bcorrect|\bsuccess|\bmatch|verified|\bOK\b|Non-Matching CPU-GPU Outputs[^\n]*: 0\b"
    r"|(max|maximum|average|absolute|relative|rms|l2)[^\n]{0,30} error[^\n]{0,20}[:=] *[-+0-9.e]+",
    re.I,
)
# PolyBench's own words, where a difference is counted.
COUNTED = re.compile(r"Non-Matching CPU-GPU Outputs[^\n]*: (\d+)")
# Lines that say how long something took, or how fast it was.
TIMED = re.compile(r"time|second|\b[mun]?s\b|/s\b|flop|bandwidth|throughput|speed", re.I)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


class CudaRun:
    """With cuda-run, on the simulator."""

    def __init__(self, seconds, program):
        self.seconds = seconds
        self.program = [program] if program else built()

    def run(self, program, attempt, folder):
        command = [*self.program, *program.flags, *attempt.flags, *program.files, "--", *attempt.arguments]
        return start(command, program.folder, self.seconds)


class Nvcc:
    """With nvcc, on a GPU."""

    def __init__(self, seconds):
        self.seconds = seconds

    def run(self, program, attempt, folder):
        target = folder / "program"
        command = ["nvcc", "-O3", "-arch=native", *program.flags, *attempt.flags, *program.files, "-o", target]
        compiled = start(command, program.folder, 300)
        if compiled is None or compiled.returncode != 0:
            return compiled
        return start([target, *attempt.arguments], program.folder, self.seconds)


@dataclasses.dataclass
class Attempt:
    """How a program is compiled and run: flags beside its own, and its arguments; whether those are guessed."""

    flags: list
    arguments: list
    guessed: bool = False

    def __str__(self):
        return " ".join([*self.flags, *self.arguments])


def built():
    """cuda-run as cargo builds it."""
    subprocess.run(["cargo", "build", "--quiet", "--locked", "-p", "cuda-run"], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return [target / "debug/cuda-run"]


def result(how, program, beside):
    """What became of a program, as a record."""
    record = {"collection": program.collection, "program": program.name}
    library, missing = program.library(), program.missing()
    if library:
        return record | {"result": "left out", "why": library}
    if missing:
        return record | {"result": "left out", "why": f"data: {pathlib.Path(missing).name}"}
    with tempfile.TemporaryDirectory() as folder:
        on_gpu = beside.get((program.collection, program.name), {})
        for attempt in attempts(program):
            done = how.run(program, attempt, pathlib.Path(folder))
            if done is None:
                continue
            record["with"] = str(attempt)
            found = judged(done, on_gpu if on_gpu.get("with") == record["with"] else {})
            # A size that nobody has thought of may be none: what goes wrong then says nothing.
            if not attempt.guessed or "why" not in found:
                return record | found
    return record | {"result": "takes too long", "with": str(attempts(program)[0])}


def attempts(program):
    """As the program is; with its own smaller sizes; with one repetition, which mostly is the last argument; and
    with all sizes smaller."""
    arguments = program.arguments
    found = [Attempt([], arguments), *(Attempt([flag], arguments) for flag in program.smaller())]
    numbers = [place for place, word in enumerate(arguments) if re.fullmatch(r"\d+", word)]
    if not numbers:
        return found
    once = [*arguments]
    once[numbers[-1]] = "1"
    found.append(Attempt([], once, guessed=True))
    for divisor in (8, 64):
        smaller = [*once]
        for place in numbers[:-1] or numbers:
            smaller[place] = str(max(int(arguments[place]) // divisor, 1))
        found.append(Attempt([], smaller, guessed=True))
    return found


def start(command, folder, seconds):
    """What a command did, or None where it took too long."""
    settings = {**os.environ, "CUDA_SIM_TIME_LIMIT": "none", "OMP_NUM_THREADS": "2"}
    with subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        env=settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def judged(done, on_gpu):
    """Whether what a program printed is right."""
    printed = done.stdout + "\n" + "\n".join(line for line in done.stderr.splitlines() if not ours(line))
    kept = {"numbers": fingerprint(done.stdout), "status": done.returncode}
    if "does not compile" in done.stderr:
        return {"result": "does not compile", "why": first_error(done.stderr.partition("does not compile")[2])}
    counted = [int(number) for number in COUNTED.findall(printed)]
    if done.returncode != 0:
        return kept | {"result": "ends with an error", "why": first_error(done.stderr) or last_line(done.stdout)}
    wrong = any(counted) if counted else WRONG.search(printed)
    if wrong:
        line = next((line for line in printed.splitlines() if WRONG.search(line)), "its outputs differ")
        return kept | {"result": "says that it is wrong", "why": line.strip()[:150]}
    if RIGHT.search(printed):
        return kept | {"result": "says that it is right"}
    if on_gpu.get("numbers") and on_gpu["numbers"] == kept["numbers"]:
        return kept | {"result": "prints what the GPU prints"}
    return kept | {"result": "runs, and says nothing of its results"}


def ours(line):
    return line.startswith(("warpbook:", "simulator:", "| ", "|-")) or "These times are a model's" in line


def fingerprint(text):
    """The numbers of all lines that speak of no time: few as they are, or a hash of them."""
    lines = [" ".join(NUMBER.findall(line)) for line in text.splitlines() if not TIMED.search(line)]
    numbers = "\n".join(filter(None, lines))
    return hashlib.sha256(numbers.encode()).hexdigest()[:16] if numbers else ""


def first_error(text):
    lines = [line for line in text.splitlines() if "error" in line.lower() and not line.startswith("simulator:")]
    return lines[0].strip()[:200] if lines else last_line(text)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip()[:200] if lines else ""
