"""The native prefix: the directory with the programs and the library of Warpbook.

    bin/cuda-run, bin/exercises, lib/libcuda.so.1, include/warpbook.h, share/warpbook/

The wheel contains it as `warpbook/_native`. The variable `WARPBOOK_NATIVE` names another one, for development.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from warpbook.errors import NativeError

#: The variable with the directory that is used instead of the one in the package.
VARIABLE = "WARPBOOK_NATIVE"


def prefix() -> Path:
    """Returns the directory of the native prefix.

    Raises `NativeError` if there is none.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        directory = Path(chosen).absolute()
        if directory.is_dir():
            return directory
        raise NativeError(
            f"{VARIABLE}={chosen}: there is no such directory. "
            f"Unset {VARIABLE} to use the programs of the installed package."
        )
    directory = Path(__file__).absolute().parent / "_native"
    if directory.is_dir():
        return directory
    raise NativeError(
        f"The programs of Warpbook are missing: there is no directory {directory}. {_likely_cause()} "
        f"Or set {VARIABLE} to a directory with bin/cuda-run and lib/libcuda.so.1."
    )


def program(name: str) -> Path:
    """Returns the path of a program, such as `cuda-run`.

    Raises `NativeError` if it is missing or not executable.
    """
    path = _require(Path("bin") / name)
    if not os.access(path, os.X_OK):
        raise NativeError(
            f"{path} is not executable. Likely cause: the package was copied without its permissions. "
            "Reinstall it with pip install --force-reinstall warpbook."
        )
    return path


def library() -> Path:
    """Returns the path of `libcuda.so.1`, the simulator as CUDA's driver library.

    Raises `NativeError` if it is missing.
    """
    return _require(Path("lib") / "libcuda.so.1")


def _require(name: Path) -> Path:
    directory = prefix()
    path = directory / name
    if path.is_file():
        return path
    cause = (
        f"Likely cause: {VARIABLE} names a directory that is incomplete."
        if os.environ.get(VARIABLE)
        else "Likely cause: the installation is incomplete. Run pip install --force-reinstall warpbook."
    )
    raise NativeError(f"{name} is missing in {directory}. {cause}")


def _likely_cause() -> str:
    if sys.platform.startswith("linux"):
        return (
            "Likely cause: the package was installed from a checkout, without the programs. "
            "Install a wheel of a release: pip install warpbook."
        )
    return (
        f"Likely cause: there are no programs for this platform ({sys.platform}), only for Linux. "
        "Use Linux, a container, or on Windows WSL."
    )
