//! The libraries that a Rust submission is compiled with: `answers` and its dependencies.
//!
//! Cargo leaves all libraries in one folder, including the course's own, which contain the solutions.
//! Therefore those of `answers` are linked into a separate folder.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result, anyhow};
use chapter::lang::Lang;

/// Libraries in a separate folder.
pub struct Libraries {
    /// The folder.
    pub folder: PathBuf,
    /// The library `answers` in that folder.
    pub answers: PathBuf,
    /// The paths of the original files.
    pub files: Vec<PathBuf>,
}

/// Creates the folder and links the libraries into it.
pub fn gather(folder: PathBuf, lang: Lang) -> Result<Libraries> {
    let answers = find_library(lang)?;
    let library_folder = answers.parent().unwrap_or(Path::new("."));
    let context = || localize!(lang, "cannot read {}", "无法读取 {}"; answers.display());
    let library = fs::read(&answers).with_context(context)?;
    let needed = hashes(&library);
    let mut files = vec![answers.clone()];
    for entry in fs::read_dir(library_folder)?.flatten() {
        let name = entry.file_name();
        if name
            .to_str()
            .and_then(hash)
            .is_some_and(|hash| needed.contains(hash))
        {
            files.push(entry.path());
        }
    }
    fs::create_dir(&folder)?;
    let link_path = |file: &Path| folder.join(file.file_name().unwrap_or_default());
    for file in &files {
        match link(file, &link_path(file)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
    }
    Ok(Libraries {
        answers: link_path(&answers),
        folder,
        files,
    })
}

#[cfg(unix)]
fn link(file: &Path, link_path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(file, link_path)
}

#[cfg(not(unix))]
fn link(file: &Path, link_path: &Path) -> io::Result<()> {
    fs::hard_link(file, link_path).or_else(|_| fs::copy(file, link_path).map(drop))
}

/// Finds the library `answers` that cargo placed next to the program; of several, the newest, which was
/// linked last.
fn find_library(lang: Lang) -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().unwrap_or(Path::new("."));
    // A test program is in `deps` itself.
    let folders = [folder.join("deps"), folder.to_owned()];
    let files = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok());
    let libraries = files.flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        let is_library_file = name.starts_with("libanswers-") && name.ends_with(".rlib");
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        is_library_file.then(|| (changed.unwrap_or(SystemTime::UNIX_EPOCH), entry.path()))
    });
    libraries.max().map(|(_, path)| path).ok_or_else(|| {
        anyhow!(localize!(
            lang,
            "Rust submissions are compiled against libanswers-….rlib, which should be in {}: \
             rebuild the course with cargo, in a checkout of Warpbook",
            "用 Rust 写的答案要与 libanswers-….rlib 一起编译；它应在 {} 中，但没有找到：请在 Warpbook \
             的代码库中用 cargo 重新构建课程";
            folders[0].display()
        ))
    })
}

/// The number of digits of the hash that cargo appends to a library's name.
const DIGITS: usize = 16;

/// Returns the hash in the name of an `.rlib` or of a procedural macro's library; `None` for other files.
fn hash(name: &str) -> Option<&str> {
    let (name, ending) = name.rsplit_once('.')?;
    let (_, hash) = name.rsplit_once('-')?;
    let is_library = ["rlib", "so", "dylib", "dll"].contains(&ending);
    (is_library && hash.len() == DIGITS).then_some(hash)
}

/// Finds all hashes in a library. The compiler writes the hash of every dependency into it.
fn hashes(library: &[u8]) -> HashSet<&str> {
    let mut hashes = HashSet::new();
    let mut digits = None;
    for (at, byte) in library.iter().enumerate() {
        digits = match (byte, digits) {
            (b'-', _) => Some(0),
            (b'0'..=b'9' | b'a'..=b'f', Some(count)) => Some(count + 1),
            _ => None,
        };
        if digits == Some(DIGITS)
            && let Ok(hash) = str::from_utf8(&library[at + 1 - DIGITS..=at])
        {
            hashes.insert(hash);
        }
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_libraries_are_found_anywhere() {
        let library = b"\0-0123456789abcdef\xff-aaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-0123-xyz";
        let mut hashes: Vec<_> = hashes(library).into_iter().collect();
        hashes.sort_unstable();
        assert_eq!(
            hashes,
            ["0123456789abcdef", "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"]
        );
        assert_eq!(
            hash("libcust-0123456789abcdef.rlib"),
            Some("0123456789abcdef")
        );
        assert_eq!(
            hash("libserde_derive-0123456789abcdef.so").map(str::len),
            Some(16)
        );
        for other in [
            "libcust-0123456789abcdef.rmeta",
            "cust-0123.d",
            "libcust.rlib",
            "cust-0123456789abcdef",
        ] {
            assert_eq!(hash(other), None, "{other}");
        }
    }
}
