"""Clients from crates.io, and their tests."""

import dataclasses
import os
import re
import shutil
import subprocess
import time

from ..programs import host
from .install import once, quietly

MANIFEST = """[package]
name = "client"
version = "0.0.0"
edition = "2021"

[lib]
path = "lib.rs"

[dependencies]
{name} = {{ version = "={version}", default-features = false }}

[workspace]
"""


def download(name, version, folder):
    """Downloads the crate's source into the subfolder `crate`."""
    (folder / "Cargo.toml").write_text(MANIFEST.format(name=name, version=version), encoding="utf-8")
    (folder / "lib.rs").touch()
    quietly(["cargo", "vendor", "--quiet", "sources"], folder)
    shutil.move(folder / "sources" / name, folder / "crate")
    shutil.rmtree(folder / "sources")


def installed(name, version):
    """Returns a function that downloads the crate's source into a folder."""

    def make(folder):
        download(name, version, folder)
        # Make the crate its own workspace, independently of the folder's location.
        with (folder / "crate/Cargo.toml").open("a", encoding="utf-8") as manifest:
            manifest.write("\n[workspace]\n")

    def install(flags):
        return once(flags.folder / f"{name}-{version}", make) / "crate"

    return install


@dataclasses.dataclass
class Suite:
    """Tests of a crate, as cargo runs them."""

    name: str
    ci: bool
    features: list
    known: dict
    only: str = ""
    left_out: dict = dataclasses.field(default_factory=dict)

    @staticmethod
    def key(test):
        """Returns the key of a test in `known`."""
        return test

    def run(self, flags, folder):
        command = ["cargo", "test", "--lib"]
        if self.features:
            command += ["--no-default-features", "--features", ",".join(self.features)]
        # One test at a time: the tests share a context, and waiting for a context while another thread
        # captures one of its streams is an error, on a GPU too.
        command += ["--", "--test-threads=1", *([self.only] if self.only else [])]
        command += [word for test in self.left_out for word in ("--skip", test)]
        toolkit = self.toolkit(flags, folder)
        environment = os.environ | {
            "CUDA_PATH": str(toolkit),
            "CUDA_LIBRARY_PATH": str(toolkit),
            # Not a member of this workspace: build into a separate target folder.
            "CARGO_TARGET_DIR": str(folder / "target"),
            "RUST_BACKTRACE": "0",
            # cargo splits the runner at blanks, which the program's path may contain.
            f"CARGO_TARGET_{host().upper().replace('-', '_')}_RUNNER": "cuda-run --quiet --time-limit 600 --",
            "PATH": os.pathsep.join([str(flags.program.parent), os.environ["PATH"]]),
        }
        start = time.monotonic()
        ended = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
        return {
            "command": f"cuda-run -- cargo test --lib{self.words()}",
            "seconds": round(time.monotonic() - start),
            "left out": self.left_out,
            **read(ended.stdout, ended.stderr, ended.returncode),
        }

    def words(self):
        features = f" --no-default-features --features {','.join(self.features)}" if self.features else ""
        return features + (f" {self.only}" if self.only else "")

    @staticmethod
    def toolkit(flags, folder):
        """Creates a fake CUDA toolkit, a header and a link to our library, for crates that build only with one."""
        toolkit = folder.parent / "toolkit"
        near = flags.program.parent
        candidates = [
            near.parent / "lib/libcuda.so.1",
            near / "deps/libwarpbook_cuda.so",
            near / "libwarpbook_cuda.so",
        ]
        library = next(file for file in candidates if file.exists())
        for part in ("include", "lib64"):
            (toolkit / part).mkdir(parents=True, exist_ok=True)
        (toolkit / "include/cuda.h").touch()
        link = toolkit / "lib64/libcuda.so"
        link.unlink(missing_ok=True)
        link.symlink_to(library)
        return toolkit


def read(output, errors, status):
    """Parses the output of Rust's test runner."""
    verdicts = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)", output, re.MULTILINE)
    failed = [test for test, verdict in verdicts if verdict == "FAILED"]
    if not verdicts or (status and not failed):
        raise SystemExit(f"error: the tests did not finish:\n{output}\n{errors}")
    return {
        "passed": sum(verdict == "ok" for _, verdict in verdicts),
        "skipped": sum(verdict == "ignored" for _, verdict in verdicts),
        "failed": [{"test": test, "why": reason(output, test)} for test in failed],
    }


def reason(output, test):
    """Returns the panic message of a failed test."""
    own = re.search(rf"---- {re.escape(test)} stdout ----\n(.*?)(?=\n---- |\nfailures:|\Z)", output, re.DOTALL)
    panic = re.search(r"panicked at [^\n]*:\n([^\n]+)", own.group(1) if own else "")
    return panic.group(1).strip() if panic else ""
