"""Whether what a program printed says that its results are right."""

import math
import re

RIGHT_BY_ITSELF = "says that it is right"
AS_ON_GPU = "prints what the GPU prints"
GOOD = (RIGHT_BY_ITSELF, AS_ON_GPU)
UNCOMPILED = "does not compile"
SILENT = "runs, and says nothing of its results"

# Counts of what is wrong that are nought.
NOTHING = re.compile(
    r"\b(no|0|zero) (\w+ )?(mismatch\w*|errors?|failures?|fails?|differences?|incorrect|wrong)\b"
    r"|\b(mismatch\w*|errors?|failures?|failed|incorrect|wrong)(\s+\w+)?\s*[:=]\s*0+\b(?!\.)",
    re.I,
)
# What is wrong on purpose, or spoken of before it is looked for.
SPOKEN = re.compile(r"failed as expected|assertion failures|(check|test|look|verif)\w* (for|if|whether)[^\n]*", re.I)
WRONG = re.compile(
    r"\bFAIL(ED|S|URE)?\b|mismatch|\bincorrect|(not|n't) match|\bwrong\b|unsuccessful|\b(ERROR|Error)!|\bdiffers?\b"
    r"|\bnot (correct|equal|valid|passed|the same)\b|\bunequal\b|invalid checksum|\berror (at|@)",
    re.I,
)
RIGHT = re.compile(
    r"\bPASS(ED|ES)?\b|\bcorrect(ly)?\b|\bsuccess(ful|fully)?\b|\bmatch(es|ed)?\b|\bverified\b|\bOK\b|\bidentical\b|\bvalid\b"
    r"|(results?|outputs?) (are|is) (equal|the same)",
    re.I,
)
# What else may succeed or be correct than results.
PRAISE = re.compile(r"open|read|load|alloc|creat|initiali|launch|writ|saved|device|file|compil", re.I)
# How far results are from what the program has computed otherwise.
DISTANCE = re.compile(
    r"(?:\b(?:max|average|avg|mean|abs|rel|rms|total|norm|l1|l2)[a-z]*[^\n:=]{0,30}?(?:err|diff|dev(?!ice))[a-z]*"
    r"|\brmse|\berror (?:rate|\())"
    r"[^\n:=0-9]{0,40}[:=]?\s*([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf))",
    re.I,
)
NEAR = 1e-3
# How many of the numbers that a program prints are looked at.
KEPT = 2000
# PolyBench's own words, where a difference is counted.
COUNTED = re.compile(r"(?:Non-Matching CPU-GPU Outputs[^\n]*|Number of misses): (\d+)")
# Lines that say how long something took, or how fast it was.
TIMED = re.compile(r"time|second|\b[mun]?s\b|/s\b|flop|bandwidth|throughput|speed", re.I)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


def judged(done, expected):
    """What became of a program that has ended: `done` has its status and what it printed; `expected`, if it is
    known, the numbers that it should have printed."""
    complaint = "\n".join(line for line in done.stderr.splitlines() if not ours(line))
    printed = done.stdout + "\n" + complaint
    kept = {"status": done.returncode}
    if UNCOMPILED in done.stderr:
        return {"result": UNCOMPILED, "why": first_error(done.stderr.partition(UNCOMPILED)[2])}
    if done.returncode != 0:
        return kept | {"result": "ends with an error", "why": first_error(printed)}
    said, line = verdict(printed)
    # A kernel's fault is often the cause, and is no secret where the program does not look for errors.
    fault = next((line for line in complaint.splitlines() if line.startswith("warpbook:")), "")
    if said == "wrong":
        return kept | {"result": "says that it is wrong", "why": (fault or line).strip()[:150]}
    if said == "right":
        return kept | {"result": RIGHT_BY_ITSELF, "said": line.strip()[:150]}
    if expected and alike(expected, numbers(done.stdout)):
        return kept | {"result": AS_ON_GPU}
    if fault:
        return kept | {"result": "ends with an error", "why": fault[:150]}
    return kept | {"result": SILENT}


def verdict(printed):
    """\"right\" or \"wrong\", and the line that says so; or nothing."""
    right = None
    for line in printed.splitlines():
        rest, nothings = NOTHING.subn("", SPOKEN.sub("", line))
        counted = [int(number) for number in COUNTED.findall(line)]
        distances = [] if TIMED.search(line) else [float(number) for number in DISTANCE.findall(line)]
        if counted:
            wrong, good = any(counted), True
        else:
            wrong = WRONG.search(rest) or any(not abs(distance) <= NEAR for distance in distances)
            good = distances or nothings or (RIGHT.search(rest) and not PRAISE.search(rest))
        if wrong:
            return "wrong", line
        if good:
            right = right or line
    return ("right", right) if right else (None, "")


def ours(line):
    """Whether cuda-run says this, and nothing that went wrong."""
    summary = ("simulator:", "GPU:", "| ", "|-", "These times are a model's", "The program launched no kernel")
    summary += ("--profile times kernels on this GPU.", "nsys profile", "No launch of the program came to its end.")
    return line.startswith(summary) or re.match(r"warpbook: no NVIDIA GPU", line)


def numbers(text):
    """The first numbers of all lines that speak of no time."""
    lines = [line for line in text.splitlines() if not TIMED.search(line)]
    return [number for line in lines for number in NUMBER.findall(line)][:KEPT]


def alike(expected, printed):
    """Whether whole numbers are the same, and others near: compilers do not round sums in one order."""
    return len(expected) == len(printed) and all(map(near, expected, printed))


def near(one, other):
    whole = re.fullmatch(r"[-+]?\d+", one) and re.fullmatch(r"[-+]?\d+", other)
    return one == other if whole else math.isclose(float(one), float(other), rel_tol=NEAR, abs_tol=NEAR**2)


def first_error(text):
    """The line that says best what went wrong: one of an error, one of something that was not to be had, the last."""
    said = [line for line in text.splitlines() if "warning:" not in line]
    for what in (r"error|^warpbook:", r"assertion|invalid|unable|could not|cannot|can't|failed"):
        line = next((line for line in said if re.search(what, line, re.I)), None)
        if line:
            return line.strip()[:200]
    return last_line("\n".join(said))


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1].strip()[:200] if lines else ""
