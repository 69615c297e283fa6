"""Runs the workflows of all pages, and the commands of the pages that need the package `warpbook`."""

import re
import shutil

from .. import ROOT
from ..pages import console, markdown
from . import action, lint, runner, tools

# A command or an action that uses the package.
USES = re.compile(r"\b(pip install|warpbook run|actions/warpbook)\b")


def check(machine):
    """Returns what fails. Prints each job."""
    wrong = []
    baseline = action.baseline(machine)
    for number, (page, line, jobs) in enumerate(workflows()):
        if not USES.search(str(jobs)):
            print(f"{page.relative_to(ROOT)}:{line}: not run, because it does not use the package")
            continue
        repository = action.new_repository(machine, f"page-{number}")
        shutil.copy(baseline, repository)
        (repository / "wheels").mkdir()
        shutil.copy(machine.wheel, repository / "wheels")
        variables = machine.environment(f"page-{number}")
        save(page, repository, variables)
        for title, job in jobs.items():
            run = runner.Job(repository, {**variables, **job.get("env", {})})
            status = run.run(job["steps"])
            name = f"{page.relative_to(ROOT)}:{line}: job {title}"
            print(f"{name}: exit status {status}")
            print("".join(f"    not run: {text}\n" for text in run.not_run()), end="")
            if status:
                wrong.append(f"{name}: exit status {status}\n{run.log}")
    return wrong + shown(machine)


def workflows():
    """Yields the page, the line and the jobs of each workflow for GitHub, and of each configuration for GitLab."""
    for page, line, text in lint.workflows():
        yield page, line, tools.yaml(text)["jobs"]
    for page in lint.pages():
        for block in markdown.blocks(page.read_text(encoding="utf-8").split("\n")):
            jobs = tools.yaml("\n".join(block.lines)) if block.language == "yaml" else None
            if isinstance(jobs, dict) and "jobs" not in jobs:
                steps = {name: [{"run": line} for line in job.get("script", [])] for name, job in jobs.items()}
                yield page, block.first + 1, {name: {"steps": lines} for name, lines in steps.items()}


def save(page, repository, variables):
    """Writes the files of a page, such as a program, into a repository."""
    for step in console.commands(page.read_text(encoding="utf-8").split("\n")):
        if step.command.startswith("cat >"):
            console.run(step.command, repository, variables)


def shown(machine):
    """Runs the commands of the pages that need the package, and compares their output."""
    wrong = []
    for number, page in enumerate(lint.pages()):
        if page.name in console.PACKAGE_PAGES:
            differences, count = console.page(page, ROOT, machine.environment(f"shown-{number}"), False, {})
            print(f"{page.relative_to(ROOT)}: {count} commands, {len(differences)} of them with other output")
            wrong += differences
    return wrong
