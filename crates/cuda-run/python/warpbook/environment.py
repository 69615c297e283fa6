"""The environment in which programs find the simulator instead of NVIDIA's driver, as `cuda-run -- PROGRAM` sets it."""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from warpbook import _native
from warpbook.errors import NativeError

#: The names under which programs load the driver and NVML; the simulator's library implements both.
LIBRARIES = ("libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1")

#: The names under which cuda-run acts as another program: NVIDIA's assembler, which passes PTX through, and nvidia-smi.
PROGRAMS = ("ptxas", "nvidia-smi")


def environment(directory: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Creates a directory with links to the simulator and returns the variables that make programs use it.

    `directory` is by default in the user's cache. Variables such as `CUDA_PATH` that are already set are kept.

    Raises `NativeError` if the simulator is missing or the directory cannot be created.
    """
    links = Path(directory).absolute() if directory is not None else _default_directory()
    if ":" in str(links):
        raise NativeError(f"{links} contains a colon, which LD_LIBRARY_PATH cannot contain. Choose another directory.")
    if "\n" in str(links):
        raise NativeError(
            f"{str(links)!r} contains a line break, which KEY=VALUE lines cannot contain. Choose another."
        )
    try:
        _create_links(links)
    except OSError as error:
        raise NativeError(
            f"Cannot create the links to the simulator in {links}: {error.strerror}. Choose another directory "
            "with warpbook env --dir DIR, or with the variable XDG_CACHE_HOME."
        ) from None
    variables = {
        "LD_LIBRARY_PATH": _first(links, "LD_LIBRARY_PATH"),
        "PATH": _first(links / "bin", "PATH"),
        "CUDA_BACKEND": "sim",
    }
    # tinygrad searches only the first directory and the system's; Triton links to the library in the second and
    # assembles PTX with the third; Mojo assembles it with the fourth.
    defaults = {
        "CUDA_PATH": links,
        "TRITON_LIBCUDA_PATH": links,
        "TRITON_PTXAS_PATH": links / "bin" / "ptxas",
        "MODULAR_NVPTX_COMPILER_PATH": links / "bin" / "ptxas",
    }
    variables.update((name, str(path)) for name, path in defaults.items() if not os.environ.get(name))
    return variables


def is_active() -> bool:
    """Returns true if the dynamic linker of this process finds the simulator of this package first."""
    library = _native.library()
    for directory in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        candidate = Path(directory) / LIBRARIES[0]
        if directory and candidate.exists():
            return candidate.samefile(library)
    return False


def lines(variables: Mapping[str, str], shell: bool = False) -> str:
    """Formats variables as `KEY=VALUE` lines, or as commands for a shell.

    Raises `NativeError` if a value has a line break, which only commands for a shell can contain.
    """
    if shell:
        return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    for name, value in variables.items():
        if "\n" in value:
            raise NativeError(
                f"{name} contains a line break, which KEY=VALUE lines cannot contain. Use warpbook env --shell."
            )
    return "".join(f"{name}={value}\n" for name, value in variables.items())


def _first(directory: Path, variable: str) -> str:
    """Returns the value of a list of directories with this one first."""
    current = [entry for entry in os.environ.get(variable, "").split(":") if entry and entry != str(directory)]
    return ":".join([str(directory), *current])


def _create_links(directory: Path) -> None:
    (directory / "bin").mkdir(parents=True, exist_ok=True)
    library, cuda_run = _native.library(), _native.program("cuda-run")
    for name in LIBRARIES:
        _link(library, directory / name)
    for name in PROGRAMS:
        _link(cuda_run, directory / "bin" / name)


def _link(target: Path, link: Path) -> None:
    """Creates or replaces a link. Other processes may create the same link, or use it, at the same time."""
    if link.is_symlink() and os.readlink(link) == str(target):
        return
    with tempfile.TemporaryDirectory(prefix=".new-", dir=link.parent) as directory:
        new = Path(directory) / link.name
        new.symlink_to(target)
        new.replace(link)


def _default_directory() -> Path:
    """Returns the user's directory for this installation. Another installation has another one."""
    name = "native-" + hashlib.sha256(os.fsencode(_native.prefix().resolve())).hexdigest()[:12]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    directory = Path(cache).absolute() / "warpbook" / name
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if os.access(directory, os.W_OK):
            return directory
    except OSError:
        pass
    # Containers may have no home directory that can be written. A directory in /tmp must belong to this user, because
    # its libraries are loaded.
    private = Path(tempfile.gettempdir()) / f"warpbook-{os.getuid()}"
    try:
        private.mkdir(mode=0o700, exist_ok=True)
        status = private.lstat()
    except OSError as error:
        raise NativeError(f"Cannot create {directory} or {private}: {error.strerror}.") from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise NativeError(
            f"Cannot create {directory}, and {private} is not a directory that only this user can write. "
            "Set XDG_CACHE_HOME to a directory of this user."
        )
    return private / name
