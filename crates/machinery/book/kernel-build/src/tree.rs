//! The layout of a checkout.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::sources::Sources;

/// Directories below `kernels` without committed PTX: the course's exercises, and whole programs.
const EXCLUDED_DIRS: [&str; 2] = ["exercises/", "notes/"];

/// A checkout of Warpbook with `kernels/*.cu` and `kernels/ptx/*.ptx`.
///
/// On every platform, files are named by their paths from the root with forward slashes, such as
/// `kernels/raytrace-const.cu`.
#[derive(Debug, Clone)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Returns the checkout that contains `inside`: the nearest ancestor, or `inside` itself, that has both a
    /// `kernels` directory and a `Cargo.toml`.
    pub fn find(inside: &Path) -> Result<Self, Error> {
        inside
            .ancestors()
            .find(|dir| dir.join("kernels").is_dir() && dir.join("Cargo.toml").is_file())
            .map(|root| Self { root: root.into() })
            .ok_or_else(|| Error::NoTree {
                inside: inside.into(),
            })
    }

    /// Returns the checkout's root directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path on this machine of a file in the checkout.
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// Returns the path of the committed PTX of kernel `name`, which may not exist.
    pub fn ptx(&self, name: &str) -> PathBuf {
        self.path(&ptx_file(name))
    }

    /// Reads the sources of kernel `name`.
    pub fn sources(&self, name: &str) -> Result<Sources, Error> {
        let names = self.kernels()?;
        if !names.iter().any(|known| known == name) {
            return Err(Error::NoKernel {
                name: name.into(),
                known: names.join(", "),
            });
        }
        Sources::read(self, name)
    }

    /// Returns the sorted names of all kernels: `raytrace-const` for `kernels/raytrace-const.cu`. Files in
    /// [`EXCLUDED_DIRS`] are not kernels: exercises are compiled when a submission is graded, and programs when
    /// they are run.
    pub fn kernels(&self) -> Result<Vec<String>, Error> {
        let mut names = names(&self.root.join("kernels"), ".cu")?;
        names.retain(|name| {
            !EXCLUDED_DIRS
                .iter()
                .any(|excluded| name.starts_with(excluded))
        });
        Ok(names)
    }

    /// Returns the sorted names of all committed PTX files.
    pub fn committed(&self) -> Result<Vec<String>, Error> {
        let dir = self.root.join("kernels/ptx");
        if dir.is_dir() {
            names(&dir, ".ptx")
        } else {
            Ok(Vec::new())
        }
    }
}

/// Returns the path of a kernel's source in the checkout.
pub(crate) fn source_file(name: &str) -> String {
    format!("kernels/{name}.cu")
}

/// Returns the path of a kernel's committed PTX in the checkout.
pub(crate) fn ptx_file(name: &str) -> String {
    format!("kernels/ptx/{name}.ptx")
}

/// Returns the files below `dir` that end in `suffix`, as relative paths without the suffix.
fn names(dir: &Path, suffix: &str) -> Result<Vec<String>, Error> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io(dir))? {
        let entry = entry.map_err(Error::io(dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let inner = self::names(&entry.path(), suffix)?;
            names.extend(inner.into_iter().map(|file| format!("{name}/{file}")));
        } else if let Some(stem) = name.strip_suffix(suffix) {
            names.push(stem.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exercises_and_programs_are_excluded() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("Cargo.toml"), "").expect("written");
        for file in [
            "a.cu",
            "exercises-too.cu",
            "exercises/01/start.cu",
            "notes/a.cu",
        ] {
            let path = dir.path().join("kernels").join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, "").expect("written");
        }
        let tree = Tree::find(dir.path()).expect("a tree");
        assert_eq!(tree.kernels().expect("names"), ["a", "exercises-too"]);
    }
}
