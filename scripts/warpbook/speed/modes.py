"""The configurations in which the simulator is timed."""

# The counters of a launch: none, those of the sample for its modelled time, or all.
COUNTED = ["nothing", "sample", "everything"]
THREADS = [1, 2]
MODES = [f"{counted} {threads}" for counted in COUNTED for threads in THREADS]
PROFILES = ["release", "dev"]
