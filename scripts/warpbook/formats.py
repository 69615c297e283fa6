"""Validates cuda-run's reports in machine-readable formats: see scripts/formats."""

import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from . import ROOT, TARGET, programs
from . import flags as command_line
from .clients import crates
from .clients.install import once, quietly

VALIDATORS = ["jsonschema==4.26.0", "xmlschema==4.3.2"]
SARIF = ("serde-sarif", "0.8.0", "src/schema.json")
JUNIT = ("pytest", "8.4.2", "testing/example_scripts/junit-10.xsd")
TOOLS = TARGET / "tools"

# Programs with the numbers of problems of each severity that they have at least; none if it is 0.
RUNS = {
    "kernels/notes/vector-add.cu": {"error": 0, "warning": 0},
    "crates/cuda-run/tests/programs/mistakes.cu": {"error": 5, "warning": 0},
    "crates/cuda-run/tests/programs/warp.cu": {"error": 0, "warning": 1},
    "crates/cuda-run/tests/programs/failures.cu": {"error": 14, "warning": 0},
    "crates/cuda-run/tests/programs/endless.cu": {"error": 1, "warning": 0},
    "crates/cuda-run/tests/programs/undeclared.cu": {"error": 2, "warning": 0},
}


def main(doc):
    parser = command_line.parser(doc)
    parser.add_argument("--program", type=pathlib.Path, metavar="CUDA-RUN")
    flags = parser.parse_args()
    program = [str(flags.program.resolve())] if flags.program else programs.chapter(None, "cuda-run")
    validate = validators()
    for name, least in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            files = {form: pathlib.Path(folder) / f"report.{form}" for form in ("json", "sarif", "junit")}
            outputs = [f"--json={files['json']}", "--sarif", files["sarif"], "--junit", files["junit"]]
            words = [*program, "--check", "--quiet", "--time-limit", "60", *outputs, str(ROOT / name)]
            ended = subprocess.run(
                words,
                env=programs.environment(CUDA_BACKEND="sim", CUDA_SIM_DEVICE=None, CUDA_SIM_TIME_LIMIT="2"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
            missing = [str(file) for file in files.values() if not file.exists()]
            if missing:
                sys.exit(f"{ended.stderr}error: {name}: no {', '.join(missing)}")
            for form, file in files.items():
                try:
                    validate[form](file)
                except Exception as error:  # the two libraries have no common class of errors
                    sys.exit(f"error: {name}: the report in {form} is not valid: {error}")
            found = [problem["severity"] for problem in json.loads(files["json"].read_text("utf-8"))["problems"]]
            counts = {severity: found.count(severity) for severity in least}
            if any(counts[severity] < least[severity] for severity in least) or (found and not sum(least.values())):
                sys.exit(f"{ended.stderr}error: {name}: {counts} problems, expected at least {least}")
            print(f"{name}: {counts['error']} errors and {counts['warning']} warnings, valid in all formats")


def validators():
    """Returns a function for each format that validates a file, and raises an exception if it is invalid."""
    name, version, path = SARIF
    sarif = once(TOOLS / f"{name}-{version}", lambda folder: crates.download(name, version, folder)) / "crate" / path
    folder = once(TOOLS / f"formats-{'-'.join(VALIDATORS)}", install)
    sys.path.insert(0, str(folder / "library"))
    import jsonschema
    import referencing
    import xmlschema

    def schema(path):
        return json.loads(path.read_text("utf-8"))

    def validator(contents, registry=None):
        kind = jsonschema.validators.validator_for(contents)
        kind.check_schema(contents)
        more = {"registry": registry} if registry else {}
        checked = kind(contents, format_checker=kind.FORMAT_CHECKER, **more)
        return lambda file: checked.validate(schema(file))

    common = referencing.Resource.from_contents(schema(ROOT / "docs/records/record.schema.json"))
    registry = referencing.Registry().with_resource("record.schema.json", common)
    junit = xmlschema.XMLSchema(str(folder / f"{JUNIT[0]}-{JUNIT[1]}" / JUNIT[2]))
    return {
        "json": validator(schema(ROOT / "docs/records/cuda-run.schema.json"), registry),
        "sarif": validator(schema(sarif)),
        "junit": lambda file: junit.validate(str(file)),
    }


def install(folder):
    """Installs the validators, and downloads the source of the package that contains JUnit's schema."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    quietly([*pip, "install", "--root-user-action", "ignore", "--target", "library", *VALIDATORS], folder)
    name, version, _ = JUNIT
    quietly([*pip, "download", "--no-deps", "--no-binary", ":all:", f"{name}=={version}"], folder)
    with tarfile.open(folder / f"{name}-{version}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
