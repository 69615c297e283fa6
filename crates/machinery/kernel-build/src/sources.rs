//! What a kernel is made from, and a hash of it.

use std::fs;
use std::path::{Component, Path};

use sha2::{Digest, Sha256};

use crate::tree::source_file;
use crate::{Arch, Error, Tree, clang};

/// A kernel's `.cu` file and the headers of ours that it includes.
#[derive(Debug, Clone)]
pub struct Sources {
    name: String,
    files: Vec<String>,
    hash: String,
}

impl Sources {
    /// Reads kernel `name` and every file below `kernels/` that it includes, directly
    /// or through another.
    pub(crate) fn read(tree: &Tree, name: &str) -> Result<Self, Error> {
        let mut hasher = Sha256::new();
        // The options are a source too: other options, other PTX.
        let options = clang::options(Arch::of(name)?).join(" ");
        add(&mut hasher, "options", &options);
        let files = with_included(tree, vec![source_file(name)], |file, text| {
            add(&mut hasher, file, text);
        })?;
        let hash = hasher.finalize().into_iter().map(|b| format!("{b:02x}"));
        Ok(Self {
            name: name.to_owned(),
            files,
            hash: hash.collect(),
        })
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The files, the `.cu` first, as `kernels/raytrace-const.cu`.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The SHA-256 of options, file names and contents in hexadecimal; whether lines
    /// end in LF or CRLF makes no difference.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// Hashes a named text. Lengths go first, so that no two lists of texts hash alike.
fn add(hasher: &mut Sha256, name: &str, text: &str) {
    hasher.update(format!("{} {} {}\n", name, name.len(), text.len()));
    hasher.update(text);
}

/// These files below `kernels/`, and those that they include, directly or through others. Each is shown to
/// `see`, with lines that end in LF.
pub(crate) fn with_included(
    tree: &Tree,
    mut files: Vec<String>,
    mut see: impl FnMut(&str, &str),
) -> Result<Vec<String>, Error> {
    let mut next = 0;
    while let Some(file) = files.get(next).cloned() {
        let path = tree.path(&file);
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let text = text.replace("\r\n", "\n");
        see(&file, &text);
        for found in included(tree, &file, &text) {
            if !files.contains(&found) {
                files.push(found);
            }
        }
        next += 1;
    }
    Ok(files)
}

/// The files that `file` includes by a quoted name and that lie below `kernels/`,
/// looked for where a compiler would: beside `file`, then in `kernels/`. One that is
/// in neither place is the compiler's to complain about.
fn included(tree: &Tree, file: &str, text: &str) -> Vec<String> {
    let beside = file.rsplit_once('/').map_or("", |(dir, _)| dir);
    text.lines()
        .filter_map(|line| {
            let name = line.trim_start().strip_prefix('#')?.trim_start();
            let name = name.strip_prefix("include")?.trim_start();
            let name = name.strip_prefix('"')?.split('"').next()?;
            [beside, "kernels"]
                .iter()
                .filter_map(|dir| resolved(&format!("{dir}/{name}")))
                .find(|file| file.starts_with("kernels/") && tree.path(file).is_file())
        })
        .collect()
}

/// Resolves `.` and `..` by name alone; `None` where the path leaves the checkout.
pub(crate) fn resolved(file: &str) -> Option<String> {
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
    fn headers_are_followed_once_each_and_from_either_place() {
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
    fn the_hash_sees_for_which_gpus_a_kernel_is() {
        let (_dir, tree) = tree(&[("kernels/a.sm_75.cu", ""), ("kernels/a.sm_80.cu", "")]);
        let hash = |name| tree.sources(name).expect("sources").hash().to_owned();
        assert_ne!(hash("a.sm_75"), hash("a.sm_80"));
    }

    #[test]
    fn the_hash_sees_text_and_not_line_endings() {
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
