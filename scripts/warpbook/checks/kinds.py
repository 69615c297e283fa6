"""The kinds of mistakes, and compute-sanitizer's tools for them."""

# compute-sanitizer's tools, and what they are asked for beside their defaults.
TOOLS = {
    "memcheck": ["--leak-check", "full"],
    "initcheck": [],
    "racecheck": ["--racecheck-report", "all"],
    "synccheck": [],
}

# Which of them is for which kind of mistake. None is for the host's memory.
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

# The kinds whose mistake is the host's: no line of a kernel is named.
OF_HOST = {"leak", "host"}
