"""Generates and grades a class of students: see scripts/class."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

from . import ROOT, flags, programs

COURSE = ROOT / "kernels/exercises"

# Statements inserted into the first exercise's solution: an endless loop, and a fault.
BAD = {
    "endless": "for (volatile int j = 0; j >= 0; j = 1) {}",
    "crash": "*(volatile float *)0 = 1.0f;",
}
TEST = "    if (i < n)"

# One in this many submissions to the first exercise contains such a statement.
BAD_ONE_IN = 10


def main(doc):
    parser = flags.parser(doc, "--programs")
    parser.add_argument("--students", type=int, default=100, metavar="NUMBER")
    parser.add_argument("--jobs", type=int, metavar="NUMBER")
    parser.add_argument("--make", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.make:
        make(options.make, options.students)
        return
    with tempfile.TemporaryDirectory(prefix="class-") as folder:
        folder = pathlib.Path(folder)
        expected = make(folder / "class", options.students)
        grade(options, folder, expected)


def submissions(name):
    """Returns an exercise's file name, and the kind and text of each possible submission."""
    (solution,) = (COURSE / name).glob("solution.*")
    (start,) = (COURSE / name).glob("start.*")
    kinds = [("solution", solution), ("start", start)]
    kinds += [("wrong", file) for file in sorted((COURSE / name / "wrong").glob("*"))]
    texts = [(kind, file.read_text(encoding="utf-8")) for kind, file in kinds]
    return solution.name, texts


def make(folder, students):
    """Writes the class. Returns the kind of each submission, by student and exercise."""
    if folder.exists():
        sys.exit(f"error: {folder} exists already: choose another folder, or remove it")
    names = sorted(file.parent.name for file in COURSE.glob("*/exercise.toml"))
    course = [(name, *submissions(name)) for name in names]
    expected = {}
    for number in range(students):
        student = f"student-{number + 1:03}"
        (folder / student).mkdir(parents=True)
        for index, (name, file, texts) in enumerate(course):
            # Half of the submissions are correct, as in a real class; the others rotate.
            turn = number + index
            kind, text = texts[0] if turn % 2 else texts[turn // 2 % len(texts)]
            if index == 0 and number % BAD_ONE_IN == 0:
                kind, bad = list(BAD.items())[number // BAD_ONE_IN % len(BAD)]
                text = texts[0][1].replace(TEST, f"    {bad}\n{TEST}")
            (folder / student / file).write_text(text, encoding="utf-8")
            expected[student, name] = kind
    return expected


def grade(options, folder, expected):
    words = programs.chapter(options.programs, "exercises")
    programs.output([*words, "--help"])  # builds the program first if necessary, so that the time excludes it
    words += ["check", "--all", "--submissions", str(folder / "class")]
    words += ["--out", str(folder / "class.json")]
    words += ["--jobs", str(options.jobs)] if options.jobs else []
    start = time.monotonic()
    done = subprocess.run(words, cwd=folder, env=programs.environment(LC_ALL="C.UTF-8"))
    duration = time.monotonic() - start
    if done.returncode:
        sys.exit("error: grading failed, or some submissions have no verdict; see above")
    record = json.loads((folder / "class.json").read_text(encoding="utf-8"))
    wrong = [
        f"{result['student']}/{result['exercise']} is of kind {kind}, but its outcome is {result['outcome']}"
        for result in record["results"]
        if (kind := expected[result["student"], result["exercise"]])
        and (kind == "solution") != (result["outcome"] == "passed")
    ]
    minutes, seconds = divmod(round(duration), 60)
    print(f"{len(expected)} submissions in {minutes} min {seconds} s, {duration / len(expected):.2f} s per submission")
    if wrong:
        sys.exit("\n".join([f"error: {len(wrong)} submissions have an unexpected verdict:", *wrong[:20]]))
