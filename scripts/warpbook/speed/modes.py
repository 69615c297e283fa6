"""In how many ways the simulator is timed."""

# What is counted of a launch: nothing; what every launch counts for its modelled time; all of it.
COUNTED = ["nothing", "sample", "everything"]
THREADS = [1, 2]
MODES = [f"{counted} {threads}" for counted in COUNTED for threads in THREADS]
PROFILES = ["release", "dev"]
