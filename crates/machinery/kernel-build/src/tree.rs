//! Where a checkout keeps its kernels.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::sources::Sources;

/// The folders below `kernels` of whose files no PTX is kept: the course's exercises, and whole programs.
const WITHOUT_PTX: [&str; 2] = ["exercises/", "notes/"];

/// A checkout of Warpbook: `kernels/*.cu` and, beside them, `kernels/ptx/*.ptx`.
///
/// Files inside it are named by their path from its root with forward slashes, as in
/// `kernels/raytrace-const.cu`, on every platform.
#[derive(Debug, Clone)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The checkout that `inside` lies in: the nearest parent folder, or `inside`
    /// itself, that has a `kernels` folder beside a `Cargo.toml`.
    pub fn find(inside: &Path) -> Result<Self, Error> {
        inside
            .ancestors()
            .find(|dir| dir.join("kernels").is_dir() && dir.join("Cargo.toml").is_file())
            .map(|root| Self { root: root.into() })
            .ok_or_else(|| Error::NoTree {
                inside: inside.into(),
            })
    }

    /// The checkout's root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a file of the checkout is on this machine.
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// Where the committed PTX of kernel `name` is, or would be.
    pub fn ptx(&self, name: &str) -> PathBuf {
        self.path(&ptx_file(name))
    }

    /// What kernel `name` is made from.
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

    /// The names of all kernels, sorted: `raytrace-const` for
    /// `kernels/raytrace-const.cu`. What is in [`WITHOUT_PTX`] is none: an exercise is compiled when
    /// somebody has written an answer to it, and a program when it is run.
    pub fn kernels(&self) -> Result<Vec<String>, Error> {
        let mut names = names(&self.root.join("kernels"), ".cu")?;
        names.retain(|name| !WITHOUT_PTX.iter().any(|folder| name.starts_with(folder)));
        Ok(names)
    }

    /// The names of all committed PTX files, sorted.
    pub fn committed(&self) -> Result<Vec<String>, Error> {
        let dir = self.root.join("kernels/ptx");
        if dir.is_dir() {
            names(&dir, ".ptx")
        } else {
            Ok(Vec::new())
        }
    }
}

/// A kernel's source as a file of the checkout.
pub(crate) fn source_file(name: &str) -> String {
    format!("kernels/{name}.cu")
}

/// A kernel's committed PTX as a file of the checkout.
pub(crate) fn ptx_file(name: &str) -> String {
    format!("kernels/ptx/{name}.ptx")
}

/// Files below `dir` that end in `suffix`: their paths from there, without it.
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
    fn exercises_and_programs_are_no_kernels() {
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
