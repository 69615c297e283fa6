"""The kinds of bugs, and compute-sanitizer's tool for each."""

# compute-sanitizer's tools, with their flags.
TOOLS = {
    "memcheck": ["--leak-check", "full"],
    "initcheck": [],
    "racecheck": ["--racecheck-report", "all"],
    "synccheck": [],
}

# The tool by kind of bug. There is no tool for the host's memory.
FOR = {
    "mem": "memcheck",
    "init": "initcheck",
    "race": "racecheck",
    "sync": "synccheck",
    "leak": "memcheck",
}
KINDS = {
    "mem": "accesses out of bounds or misaligned",
    "init": "reads of uninitialized memory",
    "race": "data races",
    "sync": "barriers and warp-wide instructions that not all threads reach",
    "leak": "memory leaks",
    "host": "host memory used by the host while a stream uses it",
}

# Bugs of the host program: their reports name no line of a kernel.
OF_HOST = {"leak", "host"}
