"""Builds the release: see scripts/release."""

import collections
import datetime
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile

from . import ROOT, TARGET, programs
from . import flags as command_line
from .chapters import CHAPTERS
from .clients.install import once, quietly

TOOLS = TARGET / "tools" / "release"
# cargo-zigbuild links by zig, which contains the symbol versions of all releases of glibc.
PACKAGES = [
    "auditwheel==6.8.2",
    "cargo-zigbuild==0.24.1",
    "cyclonedx-python-lib[json-validation]==11.12.0",
    "hatchling==1.33.0",
    "ziglang==0.17.1",
]
GLIBC = "2.28"
# For the tests of the wheel, in addition to its extras.
TEST_PACKAGES = [
    "hatchling==1.33.0",
    "ipykernel==7.4.0",
    "nbclient==0.11.0",
    "numpy==2.4.6",
    "pytest==9.2.0",
    "pytest-xdist==3.8.0",
]

# The package's programs; the archive also has the chapters.
PROGRAMS = ["cuda-run", "exercises"]
LIBRARY = "libcuda"

# Other names by which programs load the library.
LIBRARY_NAMES = ["libcuda.so", "libnvidia-ml.so.1", "libgpuocelot.so"]

VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
PYTHON = ROOT / "crates" / "cuda-run" / "python"
HEADER = ROOT / "crates" / "machinery" / "driver" / "libcuda" / "include" / "warpbook.h"

# Parts of kernels/ that only tests and the book read.
LEFT_OUT = re.compile(r"kernels/(bugs/|exercises/[^/]*/(right|wrong|cheats)/)")

BIN = "Scripts" if os.name == "nt" else "bin"

LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)
MAX_WHEEL = 25_000_000


def main(doc):
    parser = command_line.parser(doc)
    parser.add_argument("--target", metavar="TRIPLE", default=programs.host())
    parser.add_argument("--to", type=pathlib.Path, metavar="FOLDER", default=TARGET / "dist")
    parser.add_argument("--only", choices=["archive", "wheel"])
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("--test", action="store_true")
    flags = parser.parse_args()
    if flags.dev and flags.target != programs.host():
        parser.error("--dev builds for this system only")
    if flags.test and flags.target != "x86_64-unknown-linux-gnu":
        parser.error(f"--test: files for {flags.target} are not tested here")
    tools = install_tools()
    target = Target(flags.target, flags.dev)
    packages = PROGRAMS if flags.only == "wheel" else [*PROGRAMS, *CHAPTERS]
    built = compile_all(target, packages, tools)
    flags.to.mkdir(parents=True, exist_ok=True)
    files = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        metadata = linked_packages(target, [*packages, LIBRARY])
        if flags.only != "wheel":
            prefix = scratch / f"warpbook-{VERSION}-{target.name}"
            stage(prefix, built, packages, target, metadata)
            bill = flags.to / f"{prefix.name}.cdx.json"
            bill.write_text(json.dumps(bill_of_materials(metadata), indent=1) + "\n", encoding="utf-8")
            files += [archive(prefix, flags.to, target), bill]
        if flags.only != "archive":
            files.append(wheel(scratch, built, target, metadata, flags.to, tools))
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (flags.to / f"SHA256SUMS-{target.name}").write_text("".join(sums), encoding="utf-8")
    for file in files:
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file}")
    if flags.test:
        test(files, tools)


class Target:
    """A system that the release is built for."""

    def __init__(self, triple, dev):
        self.triple = triple
        # True to use cargo's dev profile, and the linker and the C library of this machine.
        self.dev = dev
        self.linux = "-linux-gnu" in triple
        self.windows = "-windows-" in triple
        machine = triple.split("-")[0]
        system = "linux" if self.linux else "windows" if self.windows else "macos"
        # The name in files' names.
        self.name = f"{system}-{machine}"
        # The platform tag of the wheel.
        if self.linux and dev:
            self.platform = f"linux_{machine}"
        elif self.linux:
            self.platform = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
        elif self.windows:
            self.platform = {"x86_64": "win_amd64", "aarch64": "win_arm64"}[machine]
        else:
            self.platform = {"x86_64": "macosx_10_12_x86_64", "aarch64": "macosx_11_0_arm64"}[machine]

    def program(self, name):
        """Returns the file name of a program."""
        return f"{name}.exe" if self.windows else name

    @property
    def library(self):
        """The file name that cargo gives the library."""
        if self.linux:
            return "libwarpbook_cuda.so"
        return "warpbook_cuda.dll" if self.windows else "libwarpbook_cuda.dylib"

    @property
    def installed_library(self):
        """The file name in the release."""
        return "libcuda.so.1" if self.linux else self.library


def install_tools():
    """Returns the folder of the tools' commands, in a virtual environment."""

    def make(folder):
        quietly([sys.executable, "-m", "venv", str(folder / "venv")], folder)
        python = folder / "venv" / BIN / "python"
        quietly([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], folder)

    return once(TOOLS, make) / "venv" / BIN


def compile_all(target, packages, tools):
    """Compiles the programs and the library. Returns the folder that contains them."""
    if target.dev:
        words = ["cargo", "build", "--locked"]
    else:
        words = ["cargo", "zigbuild" if target.linux else "build", "--locked", "--release"]
        words += ["--target", f"{target.triple}.{GLIBC}" if target.linux else target.triple]
    words += [word for package in [*packages, LIBRARY] for word in ("-p", package)]
    path = os.pathsep.join([str(tools), os.environ["PATH"]])
    strip = {} if target.dev else {"CARGO_PROFILE_RELEASE_STRIP": "true"}
    settings = programs.environment(PATH=path, CARGO_TARGET_DIR=str(TARGET), **strip)
    if subprocess.run(words, cwd=ROOT, env=settings, check=False).returncode:
        sys.exit("error: the release cannot be compiled: see the messages above")
    return TARGET / "debug" if target.dev else TARGET / target.triple / "release"


def stage(prefix, built, packages, target, metadata):
    """Creates the directory of an installation."""
    for folder in ("bin", "lib", "include", "share/warpbook/licenses"):
        (prefix / folder).mkdir(parents=True)
    for package in packages:
        shutil.copy2(built / target.program(package), prefix / "bin")
    shutil.copy2(built / target.library, prefix / "lib" / target.installed_library)
    shutil.copy2(HEADER, prefix / "include")
    share = prefix / "share" / "warpbook"
    # Messages name the formats described in docs/records.
    for file in [*tracked("kernels"), *tracked("docs/records")]:
        if not LEFT_OUT.match(file):
            (share / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, share / file)
    chapters = "  bin/raytrace-const                a chapter's program; so are the other ones in bin\n"
    text = README.format(version=VERSION, chapters=chapters if "raytrace-const" in packages else "")
    (prefix / "README.txt").write_text(text, encoding="utf-8")
    licences = share / "licenses"
    for file in ("LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy2(ROOT / file, licences)
    (licences / "THIRD-PARTY.txt").write_text(third_party(metadata), encoding="utf-8")
    for name, file in runtime_licences(target).items():
        if not file.is_file():
            sys.exit(f"error: {file} not found: a release must contain this licence")
        shutil.copyfile(file, licences / name)


README = """\
Warpbook {version}: CUDA programs without a GPU, on a simulator with memory counters and checks

  bin/cuda-run --profile FILE.cu    compiles a CUDA program with clang, runs it, and counts its memory accesses
  bin/cuda-run --check -- PROGRAM   runs any program that loads the CUDA driver, and finds errors in its kernels
  bin/exercises                     the course: exercises graded by results and counters (CUDA ones need clang)
{chapters}  lib/libcuda.so.1                  the simulator as CUDA's driver, for LD_LIBRARY_PATH; include/warpbook.h has more
  share/warpbook                    kernels and headers; licenses, also of the packages that are linked in

Each program describes its flags with --help. The directory can be moved as a whole.
"""


def tracked(folder):
    """Returns the tracked files below a folder, as paths from the root."""
    words = ["git", "ls-files", "-z", "--", folder]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip("\0").split("\0")


def linked_packages(target, names):
    """Returns cargo's metadata of the packages `names` and of all packages that they are linked with."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target.triple]
    metadata = json.loads(programs.output(words, cwd=ROOT))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    pending = [id for id, package in packages.items() if package["name"] in names and package["source"] is None]
    seen = {}
    while pending:
        id = pending.pop()
        if id in seen:
            continue
        seen[id] = [
            dependency["pkg"]
            for dependency in nodes[id]["deps"]
            # Build scripts and procedural macros run only while the program is compiled.
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            and not is_macro(packages[dependency["pkg"]])
        ]
        pending += seen[id]
    return {id: (packages[id], dependencies) for id, dependencies in seen.items()}


def is_macro(package):
    return any("proc-macro" in target["kind"] for target in package["targets"])


def runtime_licences(target):
    """Returns the licences of the libraries that the compiler and the linker add: their names and files."""
    rust = pathlib.Path(programs.output(["rustc", "--print", "sysroot"]).strip()) / "share" / "doc" / "rust"
    files = {"rust-standard-library.html": rust / "COPYRIGHT-library.html"}
    if target.linux and not target.dev:
        [zig] = (TOOLS / "venv").glob("lib/python*/site-packages/ziglang")
        files |= {"zig.txt": zig / "LICENSE", "libunwind.txt": zig / "lib" / "libunwind" / "LICENSE.TXT"}
    return files


def third_party(metadata):
    """Returns the licences of the linked packages, each text once."""
    texts = collections.defaultdict(list)
    for package, _ in sorted(metadata.values(), key=lambda entry: (entry[0]["name"], entry[0]["version"])):
        if package["source"] is None:
            continue
        label = f"{package['name']} {package['version']} ({package['license']})"
        folder = pathlib.Path(package["manifest_path"]).parent
        found = [path for path in sorted(folder.iterdir()) if path.is_file() and LICENCE_FILE.match(path.name)]
        for path in found:
            texts[path.read_text("utf-8", errors="replace").strip()].append(label)
        if not found:
            texts["The package contains no text of its licence, which is named above."].append(label)
    line = "=" * 100
    parts = ["\n".join([line, *labels, line, "", text, ""]) for text, labels in texts.items()]
    return "Warpbook is linked with the packages below, under these licences.\n\n" + "\n".join(parts)


def bill_of_materials(metadata):
    """Returns the software bill of materials in CycloneDX 1.6."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    sums = {(package["name"], package["version"]): package.get("checksum") for package in locked}
    url = {
        # Packages of the workspace are in no registry.
        package["id"]: f"pkg:cargo/{package['name']}@{package['version']}" if package["source"] else package["name"]
        for package, _ in metadata.values()
    }
    components = []
    for package, _ in metadata.values():
        checksum = sums.get((package["name"], package["version"]))
        components.append(
            {
                "type": "library",
                "bom-ref": url[package["id"]],
                "name": package["name"],
                "version": package["version"],
                **({"purl": url[package["id"]]} if package["source"] else {}),
                # Cargo still accepts a slash, the former spelling of OR.
                "licenses": [{"expression": re.sub(r" ?/ ?", " OR ", package["license"])}],
                **({"hashes": [{"alg": "SHA-256", "content": checksum}]} if checksum else {}),
            }
        )
    graph = [
        {"ref": url[id], "dependsOn": sorted({url[other] for other in others if other in url})}
        for id, (_, others) in metadata.items()
    ]
    whole = sorted(url[id] for id, (package, _) in metadata.items() if package["name"] in [*PROGRAMS, LIBRARY, *CHAPTERS])
    graph.append({"ref": "warpbook", "dependsOn": whole})
    time = datetime.datetime.fromtimestamp(commit_time(), datetime.UTC).isoformat()

    def key(entry):
        return entry.get("ref") or entry["bom-ref"]

    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {"type": "application", "name": "warpbook", "version": VERSION, "bom-ref": "warpbook"},
        },
        "components": sorted(components, key=key),
        "dependencies": sorted(graph, key=key),
    }


def commit_time():
    """Returns the time of the commit, which all files in an archive get, so that the archive is reproducible."""
    return int(programs.output(["git", "log", "-1", "--format=%ct"], cwd=ROOT))


def archive(prefix, folder, target):
    """Packs an installation. Returns the archive."""
    if target.windows:
        file = folder / f"{prefix.name}.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as pack:
            for path in sorted(prefix.rglob("*")):
                pack.write(path, path.relative_to(prefix.parent))
        return file
    if target.linux:
        for name in LIBRARY_NAMES:
            (prefix / "lib" / name).symlink_to(target.installed_library)
    time = commit_time()

    def reproducible(entry):
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = time, 0, 0, "root", "root"
        return entry

    file = folder / f"{prefix.name}.tar.gz"
    with gzip.GzipFile(file, "wb", mtime=time) as packed, tarfile.open(fileobj=packed, mode="w") as pack:
        pack.add(prefix, prefix.name, filter=reproducible)
    return file


def wheel(scratch, built, target, metadata, folder, tools):
    """Builds the wheel. Returns its file."""
    package = scratch / "python"
    shutil.copytree(PYTHON, package, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.egg-info", "dist"))
    (package / "warpbook" / "_version.py").write_text(f'__version__ = "{VERSION}"\n', encoding="utf-8")
    stage(package / "warpbook" / "_native", built, PROGRAMS, target, metadata)
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy2(ROOT / name, package)
    out = scratch / "wheel"
    settings = programs.environment(WARPBOOK_PLATFORM=target.platform, SOURCE_DATE_EPOCH=str(commit_time()))
    quietly([str(tools / "hatchling"), "build", "-t", "wheel", "-d", str(out)], package, env=settings)
    [file] = out.glob("*.whl")
    if target.linux and not target.dev:
        check_platform(file, target, tools)
    if file.stat().st_size > MAX_WHEEL and not target.dev:
        sys.exit(f"error: {file.name} has {file.stat().st_size / 1e6:.1f} MB; at most {MAX_WHEEL / 1e6:.0f} are allowed")
    return pathlib.Path(shutil.copy2(file, folder))


def check_platform(file, target, tools):
    """Exits with an error if a library or a program in the wheel needs a newer system than its tag says."""
    text = quietly([str(tools / "auditwheel"), "show", str(file)], file.parent)
    tags = re.findall(r'"(manylinux_(\d+)_(\d+)_\w+)"', text)
    newest = max((tuple(map(int, version)) for _, *version in tags), default=None)
    if newest is None or newest > tuple(map(int, GLIBC.split("."))):
        sys.exit(f"error: {file.name} is not compatible with {target.platform}:\n{text}")


def test(files, tools):
    """Tests the files."""
    for file in files:
        if file.name.endswith(".tar.gz"):
            test_archive(file)
        elif file.suffix == ".whl":
            test_wheel(file)
        else:
            validate = (
                "import sys; from cyclonedx.validation.json import JsonStrictValidator; "
                "from cyclonedx.schema import SchemaVersion; "
                "sys.exit(str(e) if (e := JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())) else 0)"
            )
            quietly([str(tools / "python"), "-c", validate, str(file)], file.parent)
            print(f"{file.name}: valid")


# Commands in the empty root file system, with a part of their output and their exit status.
EMPTY_SYSTEM = [
    ("bin/vector-add", "correct", 0),
    ("bin/raytrace-const --profile", "correct", 0),
    ("bin/cuda-run share/warpbook/kernels/notes/vector-add.cu", "apt-get install clang", 1),
    ("bin/cuda-run -- bin/cuda-run --version", "cuda-run 0.", 0),
    ("bin/cuda-run --quiet -- nvidia-smi -L", "GPU 0: NVIDIA H200 (simulated)", 0),
    ("bin/exercises list", "first-thread", 0),
    ("bin/exercises check 01", "apt-get install clang", 2),
]


def test_archive(file):
    """Runs the programs of the archive in a root file system that contains only them and the C library."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        with tarfile.open(file) as pack:
            pack.extractall(root, filter="data")
        [prefix] = root.iterdir()
        for name in ("tmp", "dev", "proc"):
            (root / name).mkdir()
        listing = programs.output(["ldd", str(prefix / "bin" / "cuda-run"), str(prefix / "lib" / "libcuda.so.1")])
        for library in sorted(set(re.findall(r"(/\S+\.so\S*) \(", listing))):
            to = root / library.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(library, to)
        for command, expected, status in EMPTY_SYSTEM:
            program, *arguments = command.split()
            words = [shutil.which("unshare"), "--map-root-user", "--mount", "--pid", "--fork"]
            words += ["--mount-proc=/proc", "--root", str(root), "--wd", f"/{prefix.name}"]
            done = subprocess.run(
                [*words, f"/{prefix.name}/{program}", *arguments],
                env={"HOME": "/tmp", "PATH": "/none"},
                capture_output=True,
                text=True,
                check=False,
            )
            output = done.stdout + done.stderr
            if done.returncode != status or expected not in output:
                sys.exit(
                    f"{output}error: {file.name}: `{command}` in an empty root file system exited with "
                    f"{done.returncode} instead of {status}, or did not print {expected!r}"
                )
    print(f"{file.name}: {len(EMPTY_SYSTEM)} commands work without Rust and clang")


def test_wheel(file):
    """Runs the tests of the Python package with the wheel, in a new virtual environment."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        quietly([sys.executable, "-m", "venv", "venv"], folder)
        commands = folder / "venv" / BIN
        quietly([str(commands / "pip"), "install", "--quiet", f"{file}[notebook,test]", *TEST_PACKAGES], folder)
        package = shutil.copytree(PYTHON, folder / "python", ignore=shutil.ignore_patterns("__pycache__"))
        settings = programs.environment(PYTHONPATH=None, WARPBOOK_NATIVE=None, CUDA_BACKEND=None)
        # `python -m pytest` would import the source folder.
        words = [str(commands / "pytest"), "-q", "-p", "no:cacheprovider"]
        if subprocess.run(words, cwd=package, env=settings, check=False).returncode:
            sys.exit(f"error: {file.name}: the tests failed")
