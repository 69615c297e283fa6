//! The driver's library, under the name by which programs load it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use tempfile::TempDir;

use crate::ptxas;

/// As cargo names the library of the member `libcuda`.
const NAME: &str = "libwarpbook_cuda.so";

/// Where programs look for libraries first.
pub const PATHS: &str = "LD_LIBRARY_PATH";

/// A folder in which programs find the library, as long as this lives, and the place for what they tell.
pub struct Folder(TempDir);

impl Folder {
    /// Makes it.
    ///
    /// # Errors
    ///
    /// Where the library is not there, or the folder cannot be made.
    pub fn new() -> Result<Self> {
        let library = find()?;
        let folder = tempfile::Builder::new().prefix("cuda-run-").tempdir();
        let folder = Folder(folder.context("cannot make a temporary folder")?);
        // The first is the name that programs are linked to; the second is what some look for that load it later.
        // The library has NVML's functions as well.
        for name in ["libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1"] {
            link(&library, &folder.libraries()?.join(name))?;
        }
        let own = env::current_exe().context("cannot find this program itself")?;
        link(&own, &folder.assembler()?)?;
        folder.told()?;
        Ok(folder)
    }

    /// Where libraries are.
    pub fn libraries(&self) -> Result<PathBuf> {
        self.part("lib")
    }

    /// The stand-in for NVIDIA's assembler: this program by another name.
    pub fn assembler(&self) -> Result<PathBuf> {
        Ok(self.part("bin")?.join(ptxas::NAME))
    }

    /// Where processes tell what happens.
    pub fn told(&self) -> Result<PathBuf> {
        self.part("told")
    }

    fn part(&self, name: &str) -> Result<PathBuf> {
        let part = self.0.path().join(name);
        std::fs::create_dir_all(&part).context("cannot make a temporary folder")?;
        Ok(part)
    }

    /// Where libraries are looked for, those here first.
    ///
    /// # Errors
    ///
    /// Where the name of the folder for temporary files has a colon in it.
    pub fn paths(&self) -> Result<std::ffi::OsString> {
        let others = env::var_os(PATHS).filter(|paths| !paths.is_empty());
        let others: Vec<PathBuf> = others.iter().flat_map(env::split_paths).collect();
        let all = std::iter::once(self.libraries()?).chain(others);
        env::join_paths(all)
            .context("the folder for temporary files cannot be searched for libraries")
    }
}

/// The library that belongs to this program.
fn find() -> Result<PathBuf> {
    let own = env::current_exe().context("cannot find this program itself")?;
    let folder = own.parent().unwrap_or(Path::new(""));
    // cargo puts what it builds for this program into the first, and what it is asked to build itself into both.
    let mut places = [folder.join("deps").join(NAME), folder.join(NAME)].into_iter();
    places.find(|place| place.is_file()).ok_or_else(|| {
        anyhow!(
            "{NAME} is not beside cuda-run in {}; `cargo build -p libcuda` makes it",
            folder.display()
        )
    })
}

#[cfg(unix)]
fn link(library: &Path, name: &Path) -> Result<()> {
    std::os::unix::fs::symlink(library, name).context("cannot make a link to the library")
}

#[cfg(not(unix))]
fn link(_library: &Path, _name: &Path) -> Result<()> {
    anyhow::bail!("links to libraries are made on Unix alone")
}
