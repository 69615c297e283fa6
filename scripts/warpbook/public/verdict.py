"""Verdicts on programs: whether their output states that the results are correct."""

import math
import re

# The records in docs/results contain these values.
CORRECT_BY_ITSELF = "reports correct results"
AS_ON_GPU = "prints the same numbers as on the GPU"
GOOD = (CORRECT_BY_ITSELF, AS_ON_GPU)
UNCOMPILED = "does not compile"
SILENT = "no verdict"
REPORTED_WRONG = "reports a wrong result"
ENDED_WITH_ERROR = "ends with an error"

# Counts of errors that are zero.
NO_ERRORS = re.compile(
    r"\b(no|0|zero) (\w+ )?(mismatch\w*|errors?|failures?|fails?|differences?|incorrect|wrong)\b"
    r"|\b(mismatch\w*|errors?|failures?|failed|incorrect|wrong)(\s+\w+)?\s*[:=]\s*0+\b(?!\.)",
    re.I,
)
# Intended errors, and announcements of checks.
ANNOUNCED = re.compile(
    r"failed as expected|assertion failures|(check|test|look|verif)\w* (for|if|whether)[^\n]*", re.I
)
WRONG = re.compile(
    r"\bFAIL(ED|S|URE)?\b|mismatch|\bincorrect|(not|n't) match|\bwrong\b|unsuccessful|\b(ERROR|Error)!|\bdiffers?\b"
    r"|\bnot (correct|equal|valid|passed|the same)\b|\bunequal\b|invalid checksum|\berror (at|@)",
    re.I,
)
CORRECT = re.compile(
    r"\bPASS(ED|ES)?\b|\bcorrect(ly)?\b|\bsuccess(ful|fully)?\b|\bmatch(es|ed)?\b|\bverified\b|\bOK\b|\bidentical\b|\bvalid\b"
    r"|(results?|outputs?) (are|is) (equal|the same)",
    re.I,
)
# Words for other things than results that may succeed or be correct.
UNRELATED = re.compile(r"open|read|load|alloc|creat|initiali|launch|writ|saved|device|file|compil", re.I)
# The deviation of the results from a reference that the program computed.
DISTANCE = re.compile(
    r"(?:\b(?:max|average|avg|mean|abs|rel|rms|total|norm|l1|l2)[a-z]*[^\n:=]{0,30}?(?:err|diff|dev(?!ice))[a-z]*"
    r"|\brmse|\berror (?:rate|\())"
    r"[^\n:=0-9]{0,40}[:=]?\s*([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf))",
    re.I,
)
TOLERANCE = 1e-3
# The number of printed numbers to compare.
MAX_NUMBERS = 2000
# PolyBench's phrases that count differences.
COUNTED = re.compile(r"(?:Non-Matching CPU-GPU Outputs[^\n]*|Number of misses): (\d+)")
# Lines that report a duration or a speed.
TIMED = re.compile(r"time|second|\b[mun]?s\b|/s\b|flop|bandwidth|throughput|speed", re.I)
# cuda-run's list of failed calls that the program ignored, which do not end it.
FAILED_CALLS = re.compile(r"^Failed calls: .*?^A failed call does nothing[^\n]*", re.M | re.S)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


def judged(done, expected):
    """Returns the outcome of a program that has ended. `done` has its status and output; `expected` has the numbers
    that it should have printed, if they are known."""
    stderr = FAILED_CALLS.sub("", done.stderr)
    complaint = "\n".join(line for line in stderr.splitlines() if not is_summary(line))
    printed = done.stdout + "\n" + complaint
    status = {"status": done.returncode}
    if UNCOMPILED in done.stderr:
        return {"result": UNCOMPILED, "why": first_error(done.stderr.partition(UNCOMPILED)[2])}
    if done.returncode != 0:
        return status | {"result": ENDED_WITH_ERROR, "why": first_error(printed)}
    # A kernel's fault is often the cause, and the reason if the program does not check for errors.
    faults = [line for line in complaint.splitlines() if line.startswith("warpbook:")]
    fault = next(iter(faults), "")
    stated, line = verdict("\n".join(line for line in printed.splitlines() if line not in faults))
    if stated == "wrong":
        return status | {"result": REPORTED_WRONG, "why": (fault or line).strip()[:150]}
    if stated == "correct":
        return status | {"result": CORRECT_BY_ITSELF, "said": line.strip()[:150]}
    if expected and all_close(expected, numbers(done.stdout)):
        return status | {"result": AS_ON_GPU}
    if fault:
        return status | {"result": ENDED_WITH_ERROR, "why": fault[:150]}
    return status | {"result": SILENT}


def verdict(printed):
    """Returns "correct" or "wrong" and the line that states it, or `None` and an empty line."""
    correct = None
    for line in printed.splitlines():
        rest, zero_counts = NO_ERRORS.subn("", ANNOUNCED.sub("", line))
        counted = [int(number) for number in COUNTED.findall(line)]
        distances = [] if TIMED.search(line) else [float(number) for number in DISTANCE.findall(line)]
        if counted:
            wrong, good = any(counted), True
        else:
            wrong = WRONG.search(rest) or any(not abs(distance) <= TOLERANCE for distance in distances)
            good = distances or zero_counts or (CORRECT.search(rest) and not UNRELATED.search(rest))
        if wrong:
            return "wrong", line
        if good:
            correct = correct or line
    return ("correct", correct) if correct else (None, "")


def is_summary(line):
    """Returns true if the line is cuda-run's own and reports no error."""
    summary = ("simulator:", "GPU:", "| ", "|-", "These times are modelled", "The program did not launch any kernels")
    summary += ("Use --profile to time the kernels on this GPU", "nsys profile", "No kernel launch completed.")
    return line.startswith(summary) or re.match(r"warpbook: no NVIDIA GPU", line)


def numbers(text):
    """Returns the first numbers of the output, without lines that report times."""
    lines = [line for line in text.splitlines() if not TIMED.search(line)]
    return [number for line in lines for number in NUMBER.findall(line)][:MAX_NUMBERS]


def all_close(expected, printed):
    """Returns true if integers are equal and other numbers close, since compilers order sums differently."""
    return len(expected) == len(printed) and all(map(is_close, expected, printed))


def is_close(expected, actual):
    whole = re.fullmatch(r"[-+]?\d+", expected) and re.fullmatch(r"[-+]?\d+", actual)
    if whole:
        return expected == actual
    return math.isclose(float(expected), float(actual), rel_tol=TOLERANCE, abs_tol=TOLERANCE**2)


def first_error(text):
    """Returns the line that best explains a failure: an error, a missing resource, or the last line."""
    lines = [line for line in text.splitlines() if "warning:" not in line]
    for pattern in (r"error|^warpbook:", r"assertion|invalid|unable|could not|cannot|can't|failed"):
        line = next((line for line in lines if re.search(pattern, line, re.I)), None)
        if line:
            return line.strip()[:200]
    return last_line("\n".join(lines))


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip()[:200] if lines else ""
