"""The driver's functions: those of the simulator's table, and those that NVIDIA's headers declare."""

import re
import sys
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).parents[2] / "crates/machinery/cuda-driver/src/functions/table"

# A macro of cuda.h that gives a function its version, and `_ptsz` or `_ptds` where a program asks for it.
MACRO = re.compile(r"^#\s*define\s+(cu[A-Z]\w+)\s+(?:__CUDA_API_(PT[DS][SZ])\()?(cu[A-Z]\w+)", re.M)
DECLARED = re.compile(r"\bCUDAAPI\s+(cu[A-Z]\w+)\s*\(")
TYPE = re.compile(r"\bPFN_(cu[A-Z][A-Za-z0-9]*)_v(\d+)(?:_(pt[ds][sz]))?\)")


def table():
    """The table's functions and the version of CUDA that each came with."""
    text = "\n".join(path.read_text() for path in sorted(TABLE.glob("*.rs")))
    return {name: int(version) for version, name in re.findall(r"\b(\d{4,5}) (cu[A-Z]\w+)", text)}


def exported(header):
    """The names that a header's functions are linked by.

    >>> sorted(exported('''
    ... #define cuAdd cuAdd_v2
    ... #define cuBlur __CUDA_API_PTSZ(cuBlur)
    ... CUresult CUDAAPI cuAdd(int); CUresult CUDAAPI cuBlur(int); /* CUDAAPI cuCut( */
    ... '''))
    ['cuAdd', 'cuAdd_v2', 'cuBlur', 'cuBlur_ptsz']
    """
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    macros = defaultdict(set)
    for name, own, linked in MACRO.findall(text):
        macros[name] |= {linked, f"{linked}_{own.lower()}"} if own else {linked}
    declared = DECLARED.findall(text)
    # A name that a macro replaces is linked as well, in programs of before.
    return set(declared).union(*(macros[name] for name in declared))


def versions(typedefs):
    """The version that each function came with, by the types of pointers to them: the second oldest form of
    a function ends in `_v2`, and so on.

    >>> versions("(CUDAAPI *PFN_cuAdd_v2000)( (CUDAAPI *PFN_cuAdd_v3020)( (CUDAAPI *PFN_cuAdd_v7000_ptds)(")
    {'cuAdd': 2000, 'cuAdd_v2': 3020, 'cuAdd_v2_ptds': 7000}
    """
    shared, own = defaultdict(set), defaultdict(set)
    for name, version, stream in TYPE.findall(typedefs):
        if stream:
            own[name].add((int(version), stream))
        else:
            shared[name].add(int(version))
    found = {}
    for name, forms in shared.items():
        forms = sorted(forms)
        names = [name] + [f"{name}_v{number}" for number in range(2, len(forms) + 1)]
        found |= dict(zip(names, forms))
        for version, stream in sorted(own[name]):
            before = sum(form <= version for form in forms)
            found.setdefault(f"{names[max(before, 1) - 1]}_{stream}", version)
    return found


def read(folders, pattern):
    """All headers of these names, the newest release last."""
    paths = sorted(path for folder in folders for path in Path(folder).rglob(pattern))
    return [path.read_text(errors="replace") for path in paths]


def main(usage):
    folders = sys.argv[1:]
    if not folders or folders[0].startswith("-"):
        sys.exit(usage)
    headers = [text for name in ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h")
               for text in read(folders, name)]
    if not headers:
        sys.exit("no cuda.h in " + ", ".join(folders))
    have = table()
    wanted = set().union(*map(exported, headers))
    came = versions("\n".join(read(folders, "cuda*Typedefs.h")))
    lacking = sorted((wanted | set(came)) - set(have))
    wrong = sorted(name for name in came if name in have and have[name] != came[name])
    print(f"{len(have)} functions in the table, {len(wanted | set(came))} in the headers")
    for name in lacking:
        print(f"lacking: {name}" + (f", since {came[name]}" if name in came else ""))
    for name in wrong:
        print(f"{name}: since {came[name]}, not {have[name]}")
    sys.exit(1 if lacking or wrong else 0)
