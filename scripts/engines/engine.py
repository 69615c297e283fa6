"""What the engines of scripts/speed have in common: commands come one a line, and each is answered
by a line of JSON.

The first line of all says what the engine is, or what it misses. `load` reads the launch that
src/speed.rs of sim-bench has written to FOLDER, the only argument, and runs it once: its
result has to be right. `run` gives the seconds of a launch.
"""

import importlib
import json
import pathlib
import sys
import time

# A launch is repeated until it has taken this long, and timed as a whole, as by src/speed.rs.
LONG_ENOUGH = 0.05

# What an output is filled with before: a number that no result has.
POISON = 0xFFFFFFFF


def serve(name, load):
    """Answers until nobody asks. `load` makes of a folder and what its work.json says a launch,
    which has two methods: `run`, which waits until all is done, and `output`, its words."""
    answer({"engine": name})
    folder = pathlib.Path(sys.argv[1])
    launch = None
    for command in sys.stdin:
        if command.strip() == "run":
            answer({"seconds": seconds(launch.run)})
            continue
        launch = None  # not both at once in memory
        work = json.loads((folder / "work.json").read_text())
        launch = load(folder, work)
        launch.run()
        if not (launch.output() == numpy.fromfile(folder / work["expected"], numpy.uint32)).all():
            sys.exit(f"error: {work['kernel']} is wrong")
        answer({})


def needed(module):
    """Imports it, or says that it is missing and ends."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing(str(error))


def missing(what):
    answer({"missing": what})
    sys.exit()


def seconds(run):
    start = time.perf_counter()
    runs = 0
    while (elapsed := time.perf_counter() - start) < LONG_ENOUGH:
        run()
        runs += 1
    return elapsed / runs


def answer(value):
    print(json.dumps(value), flush=True)


numpy = needed("numpy")
