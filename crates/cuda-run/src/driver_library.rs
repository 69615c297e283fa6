//! The driver library, under the names by which programs load it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use tempfile::TempDir;

use crate::ptxas;

/// The file name that cargo gives the library of the crate `libcuda`.
const NAME: &str = "libwarpbook_cuda.so";

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
        // Programs are linked to the first name; some that load the library at run time look for the second.
        // The library also implements NVML.
        for name in ["libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1"] {
            link(&library, &directory.library_dir()?.join(name))?;
        }
        let executable =
            env::current_exe().context("cannot determine the path of cuda-run's own executable")?;
        link(&executable, &directory.ptxas_path()?)?;
        directory.event_dir()?;
        Ok(directory)
    }

    /// Returns the directory with the libraries.
    pub fn library_dir(&self) -> Result<PathBuf> {
        self.subdirectory("lib")
    }

    /// Returns the path of the stand-in for NVIDIA's assembler, which is this program under another name.
    pub fn ptxas_path(&self) -> Result<PathBuf> {
        Ok(self.subdirectory("bin")?.join(ptxas::NAME))
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
    pub fn library_path(&self) -> Result<std::ffi::OsString> {
        let existing = env::var_os(LIBRARY_PATH_VAR).filter(|paths| !paths.is_empty());
        let existing: Vec<PathBuf> = existing.iter().flat_map(env::split_paths).collect();
        let directories = std::iter::once(self.library_dir()?).chain(existing);
        env::join_paths(directories)
            .context("cannot add the temporary directory to LD_LIBRARY_PATH")
    }
}

/// Finds the library that was built with this program.
fn find_library() -> Result<PathBuf> {
    let executable =
        env::current_exe().context("cannot determine the path of cuda-run's own executable")?;
    let directory = executable.parent().unwrap_or(Path::new(""));
    // cargo puts dependencies of this program into the first directory, and libraries built explicitly into
    // both.
    let mut candidates = [directory.join("deps").join(NAME), directory.join(NAME)].into_iter();
    candidates
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| {
            anyhow!(
                "{NAME} not found next to cuda-run in {}; build it with `cargo build -p libcuda`",
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
