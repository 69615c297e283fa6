"""Comparison of the simulator's table of driver functions with NVIDIA's headers."""

import re
import sys
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).parents[2] / "crates/machinery/driver/cuda-driver/src/functions/table"

# A macro of cuda.h that maps a function to a version, and to `_ptsz` or `_ptds` if a program requests that.
MACRO = re.compile(r"^#\s*define\s+(cu[A-Z]\w+)\s+(?:__CUDA_API_(PT[DS][SZ])\()?(cu[A-Z]\w+)", re.M)
DECLARED = re.compile(r"\bCUDAAPI\s+(cu[A-Z]\w+)\s*\(")
TYPE = re.compile(r"\bPFN_(cu[A-Z][A-Za-z0-9]*)_v(\d+)(?:_(pt[ds][sz]))?\)")


def table():
    """Returns the table's functions with the version of CUDA that introduced each."""
    text = "\n".join(path.read_text() for path in sorted(TABLE.glob("*.rs")))
    return {name: int(version) for version, name in re.findall(r"\b(\d{4,5}) (cu[A-Z]\w+)", text)}


def exported(header):
    """Returns the names by which programs link a header's functions.

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
    # Programs compiled against older headers link the replaced name as well.
    return set(declared).union(*(macros[name] for name in declared))


def versions(typedefs):
    """Returns the version that introduced each function, from the typedefs of function pointers. The second oldest
    form of a function ends in `_v2`, and so on.

    >>> versions("(CUDAAPI *PFN_cuAdd_v2000)( (CUDAAPI *PFN_cuAdd_v3020)( (CUDAAPI *PFN_cuAdd_v7000_ptds)(")
    {'cuAdd': 2000, 'cuAdd_v2': 3020, 'cuAdd_v2_ptds': 7000}
    """
    shared, own = defaultdict(set), defaultdict(set)
    for name, version, stream in TYPE.findall(typedefs):
        if stream:
            own[name].add((int(version), stream))
        else:
            shared[name].add(int(version))
    result = {}
    for name, forms in shared.items():
        forms = sorted(forms)
        names = [name] + [f"{name}_v{number}" for number in range(2, len(forms) + 1)]
        result |= dict(zip(names, forms))
        for version, stream in sorted(own[name]):
            before = sum(form <= version for form in forms)
            result.setdefault(f"{names[max(before, 1) - 1]}_{stream}", version)
    return result


def read(folders, pattern):
    """Returns the text of all headers whose names match a pattern, the newest release last."""
    paths = sorted(path for folder in folders for path in Path(folder).rglob(pattern))
    return [path.read_text(errors="replace") for path in paths]


def main(usage):
    folders = sys.argv[1:]
    if not folders or folders[0].startswith("-"):
        sys.exit(usage)
    headers = [text for name in ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h")
               for text in read(folders, name)]
    if not headers:
        sys.exit("error: no cuda.h in " + ", ".join(folders))
    functions = table()
    declared = set().union(*map(exported, headers))
    introduced = versions("\n".join(read(folders, "cuda*Typedefs.h")))
    missing = sorted((declared | set(introduced)) - set(functions))
    wrong = sorted(name for name in introduced if name in functions and functions[name] != introduced[name])
    print(f"{len(functions)} functions in the table, {len(declared | set(introduced))} in the headers")
    for name in missing:
        print(f"missing: {name}" + (f", since {introduced[name]}" if name in introduced else ""))
    for name in wrong:
        print(f"{name}: since {introduced[name]}, not {functions[name]}")
    sys.exit(1 if missing or wrong else 0)
