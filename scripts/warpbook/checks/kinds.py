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
    "mem": "accesses outside what was allocated, or not aligned",
    "init": "reads of what nobody wrote",
    "race": "accesses in no order",
    "sync": "barriers, and others of several threads, to which not all come",
    "leak": "memory that nobody frees",
    "host": "memory of the host's that it uses while work in a stream does",
}

# Bugs of the host program: their reports name no line of a kernel.
OF_HOST = {"leak", "host"}
