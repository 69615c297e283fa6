"""Runs the steps of action.yml in a repository with a program that launches one kernel."""

import dataclasses
import functools
import platform
import re
import shutil

from .. import ROOT
from . import runner, tools

EXAMPLE = ROOT / "scripts/warpbook/workflows/example"
BASELINE = "counters.json"

# An annotation of GitHub: `error` with a file and a line, or without.
ANNOTATION = r"^::{level} (file=kernels/scale.cu,line=6,)?title={title}::.*{text}"


@dataclasses.dataclass
class Case:
    """A call of the action: its inputs, and what it must do."""

    name: str
    inputs: dict
    status: int = 0
    # Patterns that the log must contain, and others that it must not contain.
    log: tuple = ()
    absent: tuple = (r"^::error",)
    summary: tuple = ()
    sarif: bool = True


def annotation(level, title, text):
    return ANNOTATION.format(level=level, title=title, text=text)


# Each run prints the last number, which must be in the log. The stride 32 makes each load request need 32 sectors
# instead of 4. The defect is an access behind the end of an allocation, of which a GPU reports nothing.
COALESCED, STRIDED, DEFECT = "python3 launch.py 1", "python3 launch.py 32", "python3 launch.py 1 4"
OUT_OF_BOUNDS = annotation("error", "Out-of-bounds access", "right past the end of the 1020-byte allocation")
REGRESSION = annotation("error", "Counter got worse", "scale: global load sectors per request rose from 4 to 32")
CASES = [
    Case("a program without errors", {"run": COALESCED}, log=(r"^last: 510\.0$",), summary=(r"`scale`", "no findings")),
    Case(
        "a finding",
        {"run": DEFECT},
        status=1,
        log=(r"^last: 255\.0$", OUT_OF_BOUNDS),
        absent=(),
        summary=(r"`scale`", "out-of-bounds access", r"kernels/scale\.cu:6"),
    ),
    Case(
        "a finding that is only annotated",
        {"run": DEFECT, "fail-on-findings": "false"},
        log=(OUT_OF_BOUNDS,),
        absent=(),
    ),
    Case("without checks", {"run": DEFECT, "check": ""}, log=(r"^last: 255\.0$",)),
    Case("with another check", {"run": DEFECT, "check": "race,sync"}, log=(r"^last: 255\.0$",)),
    Case("another GPU", {"run": COALESCED, "device": "rtx3090"}, summary=("RTX 3090",)),
    Case("the baseline", {"run": COALESCED, "baseline": BASELINE}, log=("^No counter got worse",)),
    Case(
        "above the baseline",
        {"run": STRIDED, "baseline": BASELINE},
        status=1,
        log=(r"^last: 16320\.0$", REGRESSION),
        absent=(),
    ),
    Case(
        "above the baseline, only annotated",
        {"run": STRIDED, "baseline": BASELINE, "fail-on-findings": "false"},
        log=(REGRESSION,),
        absent=(),
    ),
    Case("within the tolerance", {"run": STRIDED, "baseline": BASELINE, "tolerance": "1000"}),
    Case(
        "no such baseline",
        {"run": COALESCED, "baseline": "none.json"},
        status=2,
        log=("There is no baseline none.json",),
    ),
    Case(
        "commands that fail",
        {"run": f"{COALESCED}\nexit 7\necho never"},
        status=7,
        log=(r"^last: 510\.0$",),
        absent=("^never",),
    ),
    Case("a pipeline that fails", {"run": "false | cat", "fail-on-findings": "false"}, status=1),
    Case(
        "commands on several lines",
        {"run": f'status=$(echo \'"$HOME"\')\necho "$status"\n{COALESCED}'},
        log=('^"\\$HOME"$',),
    ),
    Case(
        "no kernel",
        {"run": "true"},
        status=1,
        log=("the program launched no kernel",),
    ),
    Case("no kernel, which is allowed", {"run": "true", "require-kernels": "false"}),
    Case("no summary", {"run": COALESCED, "summary": "false"}),
    Case("the upload of SARIF", {"run": COALESCED, "upload-sarif": "true"}),
    # Inputs are values, not part of the shell commands.
    Case(
        "an invalid check",
        {"run": COALESCED, "check": "$(touch injected)mem; touch injected"},
        status=2,
        log=("invalid value",),
        absent=("^last",),
        sarif=False,
    ),
    Case(
        "an invalid GPU",
        {"run": COALESCED, "device": "$(touch injected)"},
        status=1,
        log=(annotation("error", "Program that could not be run", "CUDA_SIM_DEVICE"),),
        absent=("^last",),
    ),
]


def check(machine):
    """Returns what the action does wrong. Prints each case."""
    contents = tools.yaml((ROOT / "action.yml").read_text("utf-8"))
    variables = machine.environment("action")
    expected = baseline(machine)
    wrong = []
    for number, case in enumerate(CASES):
        repository = new_repository(machine, f"action-{number}")
        shutil.copy(expected, repository)
        job = runner.Job(repository, variables)
        status = job.run_action(contents, {"wheel": str(machine.wheel), **case.inputs})
        differences = list(compare(case, status, job, repository))
        wrong += [f"action, {case.name}: {text}\n{job.log}" for text in differences]
        print(f"action, {case.name}: {'wrong' if differences else f'exit status {status}, as expected'}")
        print("".join(f"    not run: {text}\n" for text in job.not_run()), end="")
    return wrong + provided(machine, contents) + installed(machine, contents)


def new_repository(machine, name):
    """Creates a repository with programs, a test, and a copy of the action."""
    folder = machine.scratch / name / "repository"
    action = folder / ".github/actions/warpbook"
    action.mkdir(parents=True)
    shutil.copy(ROOT / "action.yml", action)
    for file in EXAMPLE.iterdir():
        shutil.copy(file, folder)
    return folder


@functools.cache
def baseline(machine):
    """Writes a baseline, as a user does it before the first run in CI. Returns the file."""
    job = runner.Job(new_repository(machine, "baseline"), machine.environment("baseline"))
    commands = [
        "pip install warpbook",
        f"warpbook run --quiet --json record.json -- {COALESCED}",
        f"warpbook compare record.json {BASELINE} --update",
    ]
    if job.run([{"run": command} for command in commands]):
        raise SystemExit(f"error: the baseline could not be written:\n{job.log}")
    return job.checkout / BASELINE


def compare(case, status, job, repository):
    """Yields the differences between a case and its run."""
    if status != case.status:
        yield f"exit status {status} instead of {case.status}"
    for pattern in case.log:
        if not re.search(pattern, job.log, re.MULTILINE):
            yield f"not in the log: {pattern}"
    for pattern in case.absent:
        if found := re.search(pattern, job.log, re.MULTILINE):
            yield f"in the log: {found[0]}"
    for pattern in case.summary:
        if not re.search(pattern, job.summary):
            yield f"not in the summary: {pattern}\n{job.summary}"
    if case.inputs.get("summary") == "false" and job.summary:
        yield "a summary"
    if list(repository.rglob("injected")):
        yield "an input was executed"
    if (repository / "warpbook.sarif").exists() != case.sarif:
        yield "no file warpbook.sarif" if case.sarif else "a file warpbook.sarif"
    uploads = [step.name for step in job.ran if step.name.startswith("github/codeql-action/upload-sarif@")]
    if bool(uploads) != (case.inputs.get("upload-sarif") == "true"):
        yield f"uploads: {uploads}"


def provided(machine, contents):
    """Runs the action without commands, and the program in a later step, which must find the simulator."""
    job = runner.Job(new_repository(machine, "provided"), machine.environment("provided"))
    status = job.run_action(contents, {"wheel": str(machine.wheel), "device": "rtx3090"})
    status = status or job.run([{"run": f"{COALESCED}\nwarpbook --version\nnvidia-smi -L", "shell": "bash"}])
    wrong = []
    for pattern in ("^last: 510", f"^warpbook {re.escape(machine.version)}$", "RTX 3090"):
        if status or not re.search(pattern, job.log, re.MULTILINE):
            wrong.append(f"action without commands: exit status {status}, or not in the log: {pattern}\n{job.log}")
    if not wrong:
        print("action without commands: a later step finds the simulator")
    refused = runner.Job(machine.scratch / "provided/repository", machine.environment("refused"))
    if not refused.run_action(contents, {"wheel": str(machine.wheel), "device": "h200\nBASH_ENV=/dev/null"}):
        wrong.append("action without commands: a line break in an input reaches GITHUB_ENV")
    return wrong


def installed(machine, contents):
    """Installs the wheel from the release of the action's repository; without that, the input is required."""
    release = machine.scratch / f"server/owner/name/releases/download/v{machine.version}"
    release.mkdir(parents=True)
    # A wheel of cargo's dev profile has another platform tag.
    tag = f"manylinux_2_28_{platform.machine()}"
    shutil.copy(machine.wheel, release / f"warpbook-{machine.version}-py3-none-{tag}.whl")
    released = {"server_url": f"file://{machine.scratch}/server", "action_repository": "owner/name"}
    wrong = []
    for number, (source, github) in enumerate({"its repository's release": released, "nowhere": {}}.items()):
        variables = machine.environment(f"installed-{number}")
        del variables["PIP_FIND_LINKS"]
        job = runner.Job(new_repository(machine, f"installed-{number}"), variables, **github)
        step = {"uses": "./.github/actions/warpbook", "with": {"run": COALESCED, "version": machine.version}}
        failed = bool(job.run([step]))
        if failed != (not github) or failed != ("The input wheel is required" in job.log):
            wrong.append(f"action, installed from {source}:\n{job.log}")
        else:
            print(f"action: installed from {source}{', an error as expected' if failed else ''}")
    return wrong
