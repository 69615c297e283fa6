"""Fixtures of all tests. The tests run against the installed wheel: pip install WHEEL[notebook,test], then pytest."""

import os
import shutil
import subprocess
import sys
import unittest.mock
from pathlib import Path

import pytest

import warpbook

HERE = Path(__file__).parent

if (HERE.parent / "warpbook") in Path(warpbook.__file__).parents:
    pytest.exit(
        f"The tests would import the source folder {HERE.parent / 'warpbook'} instead of the installed wheel. "
        "Likely cause: python -m pytest, which adds the current directory to sys.path. Run pytest.",
        returncode=4,
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "needs_clang: the test compiles a CUDA program")


def pytest_collection_modifyitems(items):
    if not (shutil.which(os.environ.get("KERNEL_CLANG", "clang")) or shutil.which("clang-14")):
        for item in items:
            if item.get_closest_marker("needs_clang"):
                item.add_marker(pytest.mark.skip(reason="requires clang, to compile .cu files"))


@pytest.fixture(autouse=True)
def clean_process(monkeypatch, tmp_path):
    """Removes the variables of the simulator that the tests' own environment may contain.

    The current directory is an empty one, because python -m would import warpbook from the source folder.
    """
    monkeypatch.chdir(tmp_path)
    # Recordings set variables of this process.
    with unittest.mock.patch.dict(os.environ):
        for name in list(os.environ):
            if name.startswith(("CUDA_", "TRITON_", "MODULAR_", "WARPBOOK_PYTEST")) and name != "CUDA_RUN_CACHE":
                del os.environ[name]
        os.environ["CUDA_BACKEND"] = "sim"
        yield


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Copies the programs of the tests to an empty directory and makes it the current one."""
    for name in ("add.cu", "reverse.cu", "kernels.ptx", "driver.py"):
        shutil.copy(HERE / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run_command():
    """Returns a function that runs a command and returns the completed process, with its output as text."""

    def run(*words, **variables):
        environment = {**os.environ, **variables}
        return subprocess.run(
            [str(word) for word in words], capture_output=True, text=True, env=environment, timeout=120, check=False
        )

    return run


@pytest.fixture
def cli(run_command):
    """Returns a function that runs the installed command `warpbook`."""
    command = Path(sys.executable).parent / "warpbook"
    return lambda *words, **variables: run_command(command, *words, **variables)


@pytest.fixture(scope="session")
def record_files(tmp_path_factory):
    """Records of runs of driver.py, by kernel."""
    directory = tmp_path_factory.mktemp("records")
    command = Path(sys.executable).parent / "warpbook"
    files = {}
    for kernel in ("add_one", "add_strided", "reverse"):
        files[kernel] = directory / f"{kernel}.json"
        check = ["--check=race"] if kernel == "reverse" else []
        words = ["run", "--quiet", *check, f"--json={files[kernel]}", "--", sys.executable, HERE / "driver.py", kernel]
        completed = subprocess.run([command, *words], capture_output=True, check=False)
        assert completed.returncode == (1 if check else 0), completed.stderr
    return files
