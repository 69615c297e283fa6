"""The build of the wheel: its version, its tag, and the checks of the native prefix."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("hatchling")


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Loads the build script for an empty project."""
    specification = importlib.util.spec_from_file_location("build", Path(__file__).parent.parent / "hatch_build.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    (tmp_path / "warpbook").mkdir()
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.delenv("WARPBOOK_PLATFORM", raising=False)
    return module


@pytest.fixture
def initialize(build, tmp_path):
    """Returns a function that runs the build hook and returns the data of the build."""

    def run():
        hook = build.NativeBuildHook(str(tmp_path), {}, None, None, str(tmp_path), "wheel")
        data = {}
        hook.initialize("standard", data)
        return data

    return run


def add_program(root, mode=0o755):
    program = root / "warpbook" / "_native" / "bin" / "cuda-run"
    program.parent.mkdir(parents=True)
    program.touch()
    program.chmod(mode)


def test_the_version_is_the_one_of_the_release(build, tmp_path):
    file = tmp_path / "warpbook" / "_version.py"
    assert build.version() == "0.0.0+checkout"
    file.write_text('# generated\n__version__ = "1.2.3"\n')
    assert build.version() == "1.2.3"
    file.write_text("version = 1\n")
    with pytest.raises(ValueError, match="must contain a line such as"):
        build.version()


def test_the_tag_has_the_platform(initialize, tmp_path, monkeypatch):
    add_program(tmp_path)
    monkeypatch.setenv("WARPBOOK_PLATFORM", "manylinux_2_28_x86_64")
    assert initialize() == {"pure_python": False, "tag": "py3-none-manylinux_2_28_x86_64"}


def test_a_checkout_is_pure(initialize):
    assert initialize() == {}


def test_prefix_and_platform_belong_together(initialize, tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_PLATFORM", "manylinux_2_28_x86_64")
    with pytest.raises(ValueError, match="but there is no native prefix"):
        initialize()
    monkeypatch.delenv("WARPBOOK_PLATFORM")
    add_program(tmp_path)
    with pytest.raises(ValueError, match="WARPBOOK_PLATFORM is not set"):
        initialize()


def test_programs_must_be_executable(initialize, tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_PLATFORM", "manylinux_2_28_x86_64")
    add_program(tmp_path, 0o644)
    with pytest.raises(ValueError, match="cuda-run is not executable"):
        initialize()


def test_links_are_rejected(initialize, tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_PLATFORM", "manylinux_2_28_x86_64")
    add_program(tmp_path)
    (tmp_path / "warpbook" / "_native" / "link").symlink_to("bin")
    with pytest.raises(ValueError, match="is a symbolic link, which a wheel cannot contain"):
        initialize()
