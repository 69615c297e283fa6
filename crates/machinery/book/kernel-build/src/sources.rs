//! The sources of a kernel and their hash.

use std::fs;
use std::path::{Component, Path};

use sha2::{Digest, Sha256};

use crate::tree::source_file;
use crate::{Arch, Error, Tree, clang};

/// A kernel's `.cu` file and the checkout's headers that it includes.
#[derive(Debug, Clone)]
pub struct Sources {
    name: String,
    files: Vec<String>,
    hash: String,
}

impl Sources {
    /// Reads kernel `name` and every file below `kernels/` that it includes directly or indirectly.
    pub(crate) fn read(tree: &Tree, name: &str) -> Result<Self, Error> {
        let mut hasher = Sha256::new();
        // The options are hashed too, because they affect the PTX.
        let compile_options = clang::compile_options(Arch::from_kernel_name(name)?).join(" ");
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
pub(crate) fn include_closure(
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
pub(crate) fn normalize_path(file: &str) -> Option<String> {
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
