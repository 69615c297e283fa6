"""Programs of collections without common build files: a program per source file with a `main` function."""

import re

from . import program

MAIN = re.compile(r"\b(?:w?main|_tmain)\s*\([^;{}]*\)\s*(?:noexcept\s*)?(?:->\s*int\s*)?(?:try\s*)?\{")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
CUDA = re.compile(r"<<<|#\s*include\s*[<\"](cuda|cublas|cufft|curand|nvrtc|thrust|cub/)|cuda[A-Z]\w+\(|\bcu[A-Z]\w+\(")
BUILD_FILES = ("Makefile", "makefile", "CMakeLists.txt")
# What a build file says, and the flag that it stands for.
FLAGS = (
    (re.compile(r"-rdc=true|-dc\b|--relocatable-device-code|CUDA_SEPARABLE_COMPILATION\s+ON"), "-rdc=true"),
    (re.compile(r"-fopenmp|OpenMP"), "-Xcompiler=-fopenmp"),
)
STANDARD = re.compile(r"-std=(c\+\+\d\w)|(?:CUDA|CXX)_STANDARD\s+(\d\d)")
# Options that are passed on as they are.
PASSED = re.compile(r"(?<!\S)(?!-DNDEBUG)(-use_fast_math|--use_fast_math|-D\w+(?:=[\w.]+)?)(?!\S)")


def programs(top):
    """Yields the programs of a collection in the order of their folders.

    If one file of a folder defines `main`, the folder's other sources belong to it, unless a source includes them.
    If several do, the other sources of a program are those for which it includes a header.
    """
    folders = sorted({path.parent for path in top.rglob("*") if path.suffix in program.SOURCES})
    for folder in folders:
        texts = {path: COMMENT.sub("", program.read(path)) for path in sorted(folder.iterdir()) if is_source(path)}
        mains = [path for path, text in texts.items() if MAIN.search(text)]
        included = {name.rpartition("/")[2] for text in texts.values() for _, name in program.INCLUDE.findall(text)}
        others = [path for path in texts if path not in mains and path.name not in included]
        for main in mains:
            own = [main, *(path for path in others if len(mains) == 1 or has_header(texts[main], path))]
            if not any(path.suffix == ".cu" or CUDA.search(texts[path]) for path in own):
                continue
            files = [path.name for path in own]
            name = (main if len(mains) > 1 else folder).relative_to(top)
            nearby = [path for path in folder.iterdir() if path.suffix in program.HEADERS]
            nearby += [path for path in texts if path.name in included]
            flags = build_flags(folder, top)
            yield program.Program(str(name), folder, files, flags, [], sources=[*own, *nearby])


def is_source(path):
    return path.suffix in program.SOURCES and path.is_file()


def has_header(text, path):
    """Returns true if the text includes the header of this source."""
    return any(name.rpartition("/")[2].partition(".")[0] == path.stem for _, name in program.INCLUDE.findall(text))


def build_flags(folder, top):
    """Returns the flags that the folder's build file gives to its programs, or else its parent's."""
    places = [folder, *([folder.parent] if folder != top else [])]
    files = [place / name for place in places for name in BUILD_FILES if (place / name).is_file()]
    text = program.read(files[0]) if files else ""
    flags = [flag for pattern, flag in FLAGS if pattern.search(text)]
    standard = STANDARD.search(text)
    if standard:
        flags.append(f"-std={standard[1] or f'c++{standard[2]}'}")
    headers = [parent / name for name in ("include", "inc", "common") for parent in (folder, folder.parent)]
    include = [f"-I{path}" for path in headers if path.is_dir()]
    return [*flags, *dict.fromkeys(PASSED.findall(text)), *include]
