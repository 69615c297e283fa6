//! Files that are there whole, or not at all.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tempfile::NamedTempFile;

use crate::interrupt;

/// What a draft is written with.
pub type Writer = BufWriter<NamedTempFile>;

/// A file's content beside the place where it will be. It goes with this value, unless it is
/// [put](Draft::put) there.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    /// Has `fill` write into a file in the folder of `path`, under another name.
    ///
    /// # Errors
    ///
    /// Those of `fill`, and where the folder is not there or cannot be written to, or the disk is
    /// full.
    pub fn new<E: From<io::Error>>(
        path: &Path,
        fill: impl FnOnce(&mut Writer) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut writer = BufWriter::new(temporary_in(folder_of(path))?);
        fill(&mut writer)?;
        let file = writer.into_inner().map_err(|failed| failed.into_error())?;
        Ok(Draft {
            file,
            path: path.to_owned(),
        })
    }

    /// Puts it in its place, instead of what may be there.
    ///
    /// # Errors
    ///
    /// Where a folder has that name.
    pub fn put(self) -> io::Result<()> {
        let put = self.file.persist(&self.path);
        // The draft itself goes now, not with the error.
        put.map(drop).map_err(|refused| refused.error)
    }

    /// Puts it in its place, where nothing has that name.
    ///
    /// # Errors
    ///
    /// Where something has.
    pub fn put_new(self) -> io::Result<()> {
        let put = self.file.persist_noclobber(&self.path);
        put.map(drop).map_err(|refused| refused.error)
    }
}

/// Has `fill` write a file: beside its place first, then in it, so that nobody finds half of it.
/// Ctrl-C waits for it.
///
/// # Errors
///
/// Where it cannot be written; what was there then still is.
pub fn write<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut Writer) -> Result<(), E>,
) -> Result<(), E> {
    let _whole = interrupt::hold();
    Ok(Draft::new(path, fill)?.put()?)
}

/// Checks that a file can be written to `path`, so that it does not turn out after the work;
/// `shown` is the flag and its value.
///
/// # Errors
///
/// Where its folder is missing or cannot be written to.
pub fn require_folder(shown: &str, path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        bail!(
            "{shown}: there is no folder {}; make it first, or choose another",
            folder.display()
        );
    }
    can_write_into(folder)
        .with_context(|| format!("{shown}: cannot write into {}", folder.display()))
}

/// Whether files can be made in a folder.
///
/// # Errors
///
/// Where they cannot: why.
pub fn can_write_into(folder: &Path) -> io::Result<()> {
    let _whole = interrupt::hold();
    temporary_in(folder).map(drop)
}

/// The folder that a file of this path is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file that removes itself unless it is renamed.
fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".unfinished-").suffix(".tmp");
    // A temporary file is its owner's alone; these are as readable as any other new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write as _;

    fn write_text(path: &Path, text: &str) -> io::Result<()> {
        write(path, |file| file.write_all(text.as_bytes()))
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "the old one").unwrap();
        let draft = Draft::new(&path, |file| file.write_all(b"the new one")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"the old one");
        draft.put().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"the new one");
        assert_eq!(names_in(folder.path()), ["a"]);
    }

    #[test]
    fn a_new_file_takes_nobodys_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let new = |text: &[u8]| Draft::new(&path, |file| file.write_all(text)).unwrap();
        new(b"the first").put_new().unwrap();
        assert!(new(b"the second").put_new().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"the first");
        assert_eq!(names_in(folder.path()), ["a"]);
    }

    #[test]
    fn a_draft_that_is_not_put_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        drop(Draft::new(&path, |file| file.write_all(b"text")).unwrap());
        assert!(names_in(folder.path()).is_empty());
    }

    #[test]
    fn what_cannot_be_put_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        assert!(write_text(&folder.path().join("a"), "text").is_err());
        assert!(write_text(&folder.path().join("missing/a"), "text").is_err());
        assert_eq!(names_in(folder.path()), ["a"]);
    }

    #[test]
    fn a_folder_has_to_be_there() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        assert!(require_folder("--out a", &inside("a")).is_ok());
        let said = require_folder("--out b/a", &inside("b/a")).unwrap_err();
        assert!(
            said.to_string()
                .starts_with("--out b/a: there is no folder"),
            "{said}"
        );
        assert!(names_in(folder.path()).is_empty());
        assert_eq!(folder_of(Path::new("a")), Path::new("."));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_as_readable_as_any() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let [whole, plain] = ["whole", "plain"].map(|name| folder.path().join(name));
        write_text(&whole, "").unwrap();
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&whole), mode(&plain));
    }
}
