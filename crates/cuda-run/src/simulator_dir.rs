//! The files that a program finds instead of NVIDIA's: the driver library, under the names by which programs load it,
//! and a stand-in for the assembler. `cuda-run -- PROGRAM` sets the variables that make programs use them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use chapter::installation;
use common::error::{describe, note};
use tempfile::TempDir;

use crate::nvidia_smi;

/// The file name that cargo gives the library of the crate `libcuda`.
const LIBRARY: &str = "libwarpbook_cuda.so";

/// The names by which programs load the library. They are linked to the first; some that load it at run time look for
/// the second. The library also implements NVML, and gpuocelot's function `ptx_run`.
const LIBRARY_NAMES: [&str; 4] = [
    "libcuda.so.1",
    "libcuda.so",
    "libnvidia-ml.so.1",
    "libgpuocelot.so",
];

/// The variable with the directories that the dynamic linker searches first.
pub const LIBRARY_PATH_VAR: &str = "LD_LIBRARY_PATH";

/// A temporary directory with the driver library, the `ptxas` stand-in, and the events of the program's
/// processes. It is deleted on drop.
pub struct SimulatorDir(TempDir);

impl SimulatorDir {
    /// Creates the directory.
    ///
    /// # Errors
    ///
    /// Fails if the library does not exist or the directory cannot be created.
    pub fn new() -> Result<Self> {
        let library = find_library()?;
        let directory = tempfile::Builder::new().prefix("cuda-run-").tempdir();
        let directory = SimulatorDir(directory.context("cannot create a temporary directory")?);
        for name in LIBRARY_NAMES {
            link(&library, &directory.library_dir()?.join(name))?;
        }
        let executable =
            env::current_exe().context("cannot determine the path of cuda-run's own executable")?;
        link(&executable, &directory.ptxas_path()?)?;
        link(
            &executable,
            &directory.command_dir()?.join(nvidia_smi::NAME),
        )?;
        directory.event_dir()?;
        Ok(directory)
    }

    /// Returns the directory with the libraries.
    pub fn library_dir(&self) -> Result<PathBuf> {
        self.subdirectory("lib")
    }

    /// Returns the path of the stand-in for NVIDIA's assembler, which is this program under another name.
    pub fn ptxas_path(&self) -> Result<PathBuf> {
        Ok(self.subdirectory("bin")?.join(PTXAS))
    }

    /// Returns the directory of commands for the program's PATH.
    fn command_dir(&self) -> Result<PathBuf> {
        self.subdirectory("commands")
    }

    /// Returns the directory for the processes' event files.
    pub fn event_dir(&self) -> Result<PathBuf> {
        self.subdirectory("events")
    }

    fn subdirectory(&self, name: &str) -> Result<PathBuf> {
        let subdirectory = self.0.path().join(name);
        std::fs::create_dir_all(&subdirectory).context("cannot create a temporary directory")?;
        Ok(subdirectory)
    }

    /// Returns the value of [`LIBRARY_PATH_VAR`] with this directory first.
    ///
    /// # Errors
    ///
    /// Fails if the path of the temporary directory contains a colon.
    pub fn library_path(&self) -> Result<OsString> {
        prepend(self.library_dir()?, LIBRARY_PATH_VAR)
    }

    /// Returns the value of `PATH` with the directory of commands first.
    ///
    /// # Errors
    ///
    /// Fails if the path of the temporary directory contains a colon.
    pub fn command_path(&self) -> Result<OsString> {
        prepend(self.command_dir()?, "PATH")
    }
}

/// Returns the value of a variable that lists directories, with `directory` first.
fn prepend(directory: PathBuf, variable: &str) -> Result<OsString> {
    let existing = env::var_os(variable).filter(|paths| !paths.is_empty());
    let existing: Vec<PathBuf> = existing.iter().flat_map(env::split_paths).collect();
    env::join_paths(std::iter::once(directory).chain(existing))
        .with_context(|| format!("cannot add the temporary directory to {variable}"))
}

/// Finds the library that was built or installed with this program.
fn find_library() -> Result<PathBuf> {
    if let Some(prefix) = installation::prefix() {
        let library = prefix.join("lib").join(LIBRARY_NAMES[0]);
        ensure!(
            library.is_file(),
            "{} not found: this installation of Warpbook is incomplete",
            library.display()
        );
        return Ok(library);
    }
    let executable =
        env::current_exe().context("cannot determine the path of cuda-run's own executable")?;
    let directory = executable.parent().unwrap_or(Path::new(""));
    // cargo puts dependencies of this program into the first directory, and libraries built explicitly into
    // both.
    let mut candidates = [
        directory.join("deps").join(LIBRARY),
        directory.join(LIBRARY),
    ]
    .into_iter();
    candidates
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| {
            anyhow!(
                "{LIBRARY} not found next to cuda-run in {}; build it with `cargo build -p libcuda`",
                directory.display()
            )
        })
}

#[cfg(unix)]
fn link(library: &Path, name: &Path) -> Result<()> {
    std::os::unix::fs::symlink(library, name)
        .context("cannot create a symbolic link to the library")
}

#[cfg(not(unix))]
fn link(_library: &Path, _name: &Path) -> Result<()> {
    anyhow::bail!("symbolic links to libraries are supported only on Unix")
}

/// The name under which this program acts as the assembler.
const PTXAS: &str = "ptxas";

/// The version output. Triton parses the release; CUDA 12.8 is the last that it accepts for GPUs before
/// Blackwell.
const VERSION: &str = "ptxas: Warpbook's stand-in for NVIDIA's assembler, which passes PTX through\n\
                       Cuda compilation tools, release 12.8, V12.8.0";

/// Flags whose value is the next argument unless it follows `=`.
const WITH_VALUE: [&str; 10] = [
    "-o",
    "--output-file",
    "-arch",
    "--gpu-name",
    "-O",
    "--opt-level",
    "-m",
    "--machine",
    "-maxrregcount",
    "--maxrregcount",
];

/// Returns true if this program was called as the assembler, for programs that assemble PTX before they load it.
pub fn is_called_as_ptxas(words: &[OsString]) -> bool {
    let name = words.first().map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name == PTXAS)
}

/// Runs the stand-in for NVIDIA's assembler and returns the exit status. It passes the PTX through unchanged, because
/// the simulator loads PTX.
pub fn ptxas_main(words: &[OsString]) -> i32 {
    match assemble(&words[1..]) {
        Ok(()) => 0,
        Err(error) => {
            note(format_args!("ptxas: error: {}", describe(&error)));
            1
        }
    }
}

fn assemble(words: &[OsString]) -> Result<()> {
    let mut from = None;
    let mut to = PathBuf::from("elf.o");
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (flag, joined) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (&*text, None),
        };
        match flag {
            "--version" | "-V" => {
                println!("{VERSION}");
                return Ok(());
            }
            "-o" | "--output-file" => {
                let next = || words.next().map(|next| next.to_string_lossy().into_owned());
                to = joined
                    .or_else(next)
                    .context("-o requires a file name")?
                    .into();
            }
            // All other flags affect only the machine code, which is not generated.
            flag if WITH_VALUE.contains(&flag) && joined.is_none() => {
                words
                    .next()
                    .with_context(|| format!("{flag} requires a value"))?;
            }
            flag if flag.starts_with('-') && flag.len() > 1 => {}
            _ if from.is_some() => bail!("only one input file is supported"),
            _ => from = Some(PathBuf::from(word)),
        }
    }
    let from = from.context("no input file given")?;
    let ptx =
        fs::read_to_string(&from).with_context(|| format!("cannot read {}", from.display()))?;
    let is_ptx = ptx
        .lines()
        .any(|line| line.trim_start().starts_with(".version"));
    ensure!(
        is_ptx,
        "{} is not PTX: it has no .version directive",
        from.display()
    );
    fs::write(&to, ptx).with_context(|| format!("cannot write {}", to.display()))
}
