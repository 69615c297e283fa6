"""Runs the steps of a job or of an action as GitHub's runner does: in shells of their own, connected by files."""

import dataclasses
import pathlib
import re
import subprocess
import tempfile

from . import tools
from .expressions import Evaluator

# GitHub's commands for a shell: the first if a step names bash, the second if it names none.
SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"], None: ["bash", "-e"]}
FILES = {"GITHUB_ENV": "env", "GITHUB_PATH": "path", "GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "step_summary"}
SECONDS = 300


@dataclasses.dataclass
class Step:
    """A step that ended: its name, exit status (`None` if it did not run, with the reason), and output."""

    name: str
    status: int | None
    output: str


class Job:
    """A job on a machine: its checkout, its variables, and the steps so far."""

    def __init__(self, checkout, variables, **github):
        self.checkout = pathlib.Path(checkout)
        self.temp = pathlib.Path(tempfile.mkdtemp(dir=self.checkout.parent, prefix="runner-"))
        defaults = {"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_SERVER_URL": "https://github.invalid"}
        folders = {"GITHUB_WORKSPACE": str(self.checkout), "RUNNER_TEMP": str(self.temp), "RUNNER_OS": "Linux"}
        self.variables = {**variables, **defaults, **folders}
        if "server_url" in github:
            self.variables["GITHUB_SERVER_URL"] = github["server_url"]
        self.github = {"workspace": str(self.checkout), **github}
        self.ran = []
        self.summary = ""

    def run(self, steps, inputs=None):
        """Runs the steps of a job, or those of an action with its inputs. Returns 0 or the first other exit status."""
        failed, outputs = 0, {}
        for step in steps:
            contexts = {
                "github": self.github,
                "inputs": inputs or {},
                "steps": outputs,
                "runner": {"os": "Linux", "temp": str(self.temp)},
                "env": self.variables,
            }
            evaluator = Evaluator(contexts, bool(failed), self.files_exist)
            name = step.get("name") or step.get("uses") or step["run"].strip().split("\n")[0]
            if not evaluator.condition(step.get("if", "success()")):
                self.ran.append(Step(name, None, "its condition is false"))
                continue
            status, results = self.uses(step, evaluator) if "uses" in step else self.shell(step, name, evaluator)
            outputs[step.get("id", "")] = {"outputs": results}
            failed = failed or (0 if step.get("continue-on-error") else status)
        return failed

    def files_exist(self, patterns):
        return any(list(self.checkout.glob(pattern)) for pattern in patterns)

    def uses(self, step, evaluator):
        """Runs the action of a step if it is in the checkout. Returns its exit status and its outputs."""
        action = step["uses"]
        if not action.startswith("./"):
            self.ran.append(Step(action, None, "it is another project's action"))
            return 0, {}
        contents = tools.yaml((self.checkout / action / "action.yml").read_text("utf-8"))
        return self.run_action(contents, evaluator.texts(step.get("with", {}))), {}

    def run_action(self, action, given):
        """Runs an action with these inputs. Returns its exit status."""
        if unknown := given.keys() - action["inputs"].keys():
            raise SystemExit(f"error: the action has no input {', '.join(unknown)}")
        inputs = {name: given.get(name, entry["default"]) for name, entry in action["inputs"].items()}
        return self.run(action["runs"]["steps"], inputs)

    def shell(self, step, name, evaluator):
        """Runs a step in a shell. Returns its exit status and its outputs."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.temp))
        script = folder / "script.sh"
        script.write_text(evaluator.text(step["run"]), encoding="utf-8")
        files = {variable: folder / file for variable, file in FILES.items()}
        for file in files.values():
            file.touch()
        settings = evaluator.texts(step.get("env", {}))
        environment = {**self.variables, **settings, **{key: str(file) for key, file in files.items()}}
        ended = subprocess.run(
            [*SHELLS[step.get("shell")], str(script)],
            cwd=self.checkout / step.get("working-directory", "."),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
        self.ran.append(Step(name, ended.returncode, ended.stdout))
        self.variables.update(assignments(files["GITHUB_ENV"].read_text("utf-8")))
        for line in files["GITHUB_PATH"].read_text("utf-8").split():
            self.variables["PATH"] = f"{line}:{self.variables['PATH']}"
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
        return ended.returncode, assignments(files["GITHUB_OUTPUT"].read_text("utf-8"))

    @property
    def log(self):
        """The output of all steps."""
        return "".join(f"## {step.name}\n{step.output}\n" for step in self.ran)

    def not_run(self):
        """Yields what did not run, with the reason."""
        for step in self.ran:
            if step.status is None and "condition" not in step.output:
                yield f"{step.name}: {step.output}"
            yield from re.findall(r"^not run, (.*)", step.output, re.MULTILINE)


def assignments(text):
    """Returns the variables of a file such as GITHUB_ENV: lines NAME=VALUE, or several lines after NAME<<END."""
    result, lines = {}, iter(text.splitlines())
    for line in lines:
        if several := re.fullmatch(r"([\w-]+)<<(.+)", line):
            result[several[1]] = "\n".join(iter(lambda: next(lines), several[2]))
        elif "=" in line:
            name, _, result_value = line.partition("=")
            result[name] = result_value
        elif line:
            raise SystemExit(f"error: not a line of an environment file: {line}")
    return result
