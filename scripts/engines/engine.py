"""The protocol of the engines of scripts/speed: one command per line, one line of JSON per reply.

The first line names the engine, or reports what is missing. `load` reads the launch that sim-bench
(src/speed.rs) has written to FOLDER, the only argument, runs it once and compares the result with the
expected one. `run` replies with the seconds per launch.
"""

import importlib
import json
import pathlib
import sys
import time

# A launch is repeated for at least this many seconds, and the total divided by the count, as in src/speed.rs.
MIN_SECONDS = 0.05

# Fills outputs before a launch; no correct result contains this value.
POISON = 0xFFFFFFFF


def serve(name, load):
    """Replies to commands until standard input closes. `load` creates a launch from a folder and its
    work.json; a launch has two methods: `run`, which waits for completion, and `output`, an array of words."""
    reply({"engine": name})
    folder = pathlib.Path(sys.argv[1])
    launch = None
    for command in sys.stdin:
        if command.strip() == "run":
            reply({"seconds": seconds(launch.run)})
            continue
        launch = None  # free the old launch first: both may not fit in memory
        work = json.loads((folder / "work.json").read_text())
        launch = load(folder, work)
        launch.run()
        if not (launch.output() == numpy.fromfile(folder / work["expected"], numpy.uint32)).all():
            sys.exit(f"error: {work['kernel']} computes a wrong result")
        reply({})


def require(module):
    """Imports a module, or reports that it is missing and exits."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing(str(error))


def missing(reason):
    reply({"missing": reason})
    sys.exit()


def seconds(run):
    start = time.perf_counter()
    runs = 0
    while (elapsed := time.perf_counter() - start) < MIN_SECONDS:
        run()
        runs += 1
    return elapsed / runs


def reply(value):
    print(json.dumps(value), flush=True)


numpy = require("numpy")
