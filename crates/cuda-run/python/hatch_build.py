"""The build of the wheel: its version and its platform.

The wheel contains the programs and the library of the native prefix (`warpbook/_native`), which do not depend on
Python's version. Its tag is therefore `py3-none-PLATFORM`, with the platform from the variable `WARPBOOK_PLATFORM`,
such as `manylinux_2_28_x86_64`. Without a native prefix, in a checkout, the wheel contains only Python.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent

# The version of a checkout, which has no warpbook/_version.py: the release script writes the file.
CHECKOUT_VERSION = "0.0.0+checkout"


def version() -> str:
    """Returns the version in `warpbook/_version.py`."""
    try:
        text = (ROOT / "warpbook" / "_version.py").read_text(encoding="utf-8")
    except FileNotFoundError:
        return CHECKOUT_VERSION
    match = re.search(r"""^__version__\s*=\s*["']([^"']+)["']""", text, re.MULTILINE)
    if match is None:
        raise ValueError('warpbook/_version.py must contain a line such as __version__ = "1.2.3"')
    return match.group(1)


class NativeBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Gives the wheel the tag of its platform, and checks the native prefix."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Sets the tag.

        Raises `ValueError` if the native prefix and `WARPBOOK_PLATFORM` do not go together, or if a wheel cannot
        contain the prefix.
        """
        platform = os.environ.get("WARPBOOK_PLATFORM", "")
        native = ROOT / "warpbook" / "_native"
        if not native.is_dir():
            if platform:
                raise ValueError(f"WARPBOOK_PLATFORM={platform}, but there is no native prefix in {native}")
            return
        if not platform:
            raise ValueError(
                f"WARPBOOK_PLATFORM is not set: name the platform of the programs in {native}, "
                "such as manylinux_2_28_x86_64"
            )
        for path in sorted(native.rglob("*")):
            if path.is_symlink():
                raise ValueError(f"{path} is a symbolic link, which a wheel cannot contain: copy the file instead")
            if path.parent == native / "bin" and not os.access(path, os.X_OK):
                raise ValueError(f"{path} is not executable")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
