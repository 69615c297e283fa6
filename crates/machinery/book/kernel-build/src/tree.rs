//! The files of a checkout: its kernels, their sources and hashes, and their committed PTX.

use std::fs;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::arch::{Arch, compile_options};
use crate::error::Error;

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

    /// Returns the checkout, or the part of one that is installed with a program, with this root directory.
    ///
    /// # Errors
    ///
    /// Fails if the directory has no `kernels`.
    pub fn at(root: PathBuf) -> Result<Self, Error> {
        match root.join("kernels").is_dir() {
            true => Ok(Self { root }),
            false => Err(Error::NoKernels { root }),
        }
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

    /// Returns these files below `kernels/` and all files that they include directly or indirectly.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read.
    pub fn include_closure(&self, files: Vec<String>) -> Result<Vec<String>, Error> {
        include_closure(self, files, |_, _| {})
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

/// A kernel's `.cu` file and the checkout's headers that it includes.
#[derive(Debug, Clone)]
pub struct Sources {
    name: String,
    files: Vec<String>,
    hash: String,
}

impl Sources {
    /// Reads kernel `name` and every file below `kernels/` that it includes directly or indirectly.
    fn read(tree: &Tree, name: &str) -> Result<Self, Error> {
        let mut hasher = Sha256::new();
        // The options are hashed too, because they affect the PTX.
        let compile_options = compile_options(Arch::from_kernel_name(name)?).join(" ");
        hash_text(&mut hasher, "options", &compile_options);
        let files = include_closure(tree, vec![source_file(name)], |file, text| {
            hash_text(&mut hasher, file, text);
        })?;
        let hash = hasher.finalize().into_iter().map(|b| format!("{b:02x}"));
        Ok(Self {
            name: name.to_owned(),
            files,
            hash: hash.collect(),
        })
    }

    /// Returns the kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the files, the `.cu` first, as `kernels/raytrace-const.cu`.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns the SHA-256 hash of options, file names and contents in hexadecimal. Line endings, LF or CRLF,
    /// do not affect it.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// Hashes a named text. The lengths come first, so that different lists of texts have different input.
fn hash_text(hasher: &mut Sha256, name: &str, text: &str) {
    hasher.update(format!("{} {} {}\n", name, name.len(), text.len()));
    hasher.update(text);
}

/// Returns these files below `kernels/` and all files that they include directly or indirectly. Calls `visit`
/// with each file and its text, with LF line endings.
fn include_closure(
    tree: &Tree,
    mut files: Vec<String>,
    mut visit: impl FnMut(&str, &str),
) -> Result<Vec<String>, Error> {
    let mut next_index = 0;
    while let Some(file) = files.get(next_index).cloned() {
        let path = tree.path(&file);
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let text = text.replace("\r\n", "\n");
        visit(&file, &text);
        for header in quoted_includes(tree, &file, &text) {
            if !files.contains(&header) {
                files.push(header);
            }
        }
        next_index += 1;
    }
    Ok(files)
}

/// Returns the files below `kernels/` that `file` includes by a quoted name. Searches like a compiler: first
/// the directory of `file`, then `kernels/`. Files in neither are ignored, because the compiler will report
/// them.
fn quoted_includes(tree: &Tree, file: &str, text: &str) -> Vec<String> {
    let directory = file.rsplit_once('/').map_or("", |(dir, _)| dir);
    text.lines()
        .filter_map(|line| {
            let name = line.trim_start().strip_prefix('#')?.trim_start();
            let name = name.strip_prefix("include")?.trim_start();
            let name = name.strip_prefix('"')?.split('"').next()?;
            [directory, "kernels"]
                .iter()
                .filter_map(|dir| normalize_path(&format!("{dir}/{name}")))
                .find(|file| file.starts_with("kernels/") && tree.path(file).is_file())
        })
        .collect()
}

/// Resolves `.` and `..` lexically. Returns `None` if the path leaves the checkout.
pub fn normalize_path(file: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in Path::new(file).components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => drop(parts.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
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

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("Cargo.toml"), "").expect("written");
        for (file, text) in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        let tree = Tree::find(dir.path()).expect("a tree");
        (dir, tree)
    }

    #[test]
    fn headers_are_found_once_in_both_directories() {
        let (_dir, tree) = tree(&[
            (
                "kernels/ladder/a.cu",
                "#include \"near.h\"\n # include \"../b.h\"\n",
            ),
            (
                "kernels/ladder/near.h",
                "#include \"b.h\"\n#include \"a.cu\"\n",
            ),
            (
                "kernels/b.h",
                "#include <b.h>\n#include \"absent.h\"\n#include \"../../x.h\"\n",
            ),
        ]);
        let sources = tree.sources("ladder/a").expect("sources");
        assert_eq!(
            sources.files(),
            [
                "kernels/ladder/a.cu",
                "kernels/ladder/near.h",
                "kernels/b.h"
            ]
        );
    }

    #[test]
    fn the_hash_depends_on_the_architecture() {
        let (_dir, tree) = tree(&[("kernels/a.sm_75.cu", ""), ("kernels/a.sm_80.cu", "")]);
        let hash = |name| tree.sources(name).expect("sources").hash().to_owned();
        assert_ne!(hash("a.sm_75"), hash("a.sm_80"));
    }

    #[test]
    fn the_hash_depends_on_text_but_not_line_endings() {
        let hash = |text: &str, header: &str| {
            let (_dir, tree) = tree(&[("kernels/a.cu", text), ("kernels/h.h", header)]);
            tree.sources("a").expect("sources").hash().to_owned()
        };
        let base = hash("#include \"h.h\"\nint x;\n", "int y;\n");
        assert_eq!(base, hash("#include \"h.h\"\r\nint x;\r\n", "int y;\r\n"));
        assert_ne!(base, hash("#include \"h.h\"\nint x ;\n", "int y;\n"));
        assert_ne!(base, hash("#include \"h.h\"\nint x;\n", "int z;\n"));
    }
}
