//! Files that are written atomically, so that a reader finds the whole file or none; and the files that programs read at run
//! time: headers, and sources for listings. The latter belong to the installation that contains the program, or to the
//! checkout in which it was built.
//!
//! An installation is a directory with `bin/`, `lib/` and `share/warpbook/`, as in a release archive. It can be moved.

use std::env;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tempfile::NamedTempFile;

use crate::interrupt;

/// The writer for the content of a [`AtomicFile`].
pub type Writer = BufWriter<NamedTempFile>;

/// A complete temporary file in the folder of its final path. It is deleted on drop unless it was
/// [renamed](AtomicFile::persist) to that path.
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    /// Creates a temporary file in the folder of `path` and lets `fill` write its content.
    ///
    /// # Errors
    ///
    /// Fails if `fill` fails, the folder is missing or not writable, or the disk is full.
    pub fn new<E: From<io::Error>>(
        path: &Path,
        fill: impl FnOnce(&mut Writer) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut writer = BufWriter::new(temporary_in(folder_of(path))?);
        fill(&mut writer)?;
        let file = writer.into_inner().map_err(|failed| failed.into_error())?;
        Ok(AtomicFile {
            file,
            path: path.to_owned(),
        })
    }

    /// Renames the file to its path and replaces a file that is already there.
    ///
    /// # Errors
    ///
    /// Fails if a folder has that name.
    pub fn persist(self) -> io::Result<()> {
        let persisted = self.file.persist(&self.path);
        // Drops the temporary file now instead of keeping it in the error.
        persisted.map(drop).map_err(|failed| failed.error)
    }

    /// Renames the file to its path unless that path exists.
    ///
    /// # Errors
    ///
    /// Fails if the path exists.
    pub fn persist_new(self) -> io::Result<()> {
        let persisted = self.file.persist_noclobber(&self.path);
        persisted.map(drop).map_err(|failed| failed.error)
    }
}

/// Writes a file atomically: `fill` writes a temporary file, which is then renamed to `path`, so that no
/// other program reads an incomplete file. Ctrl-C is deferred until the file is in place.
///
/// # Errors
///
/// Fails if the file cannot be written; an existing file at `path` is then unchanged.
pub fn write<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut Writer) -> Result<(), E>,
) -> Result<(), E> {
    let _deferred = interrupt::defer();
    Ok(AtomicFile::new(path, fill)?.persist()?)
}

/// Checks that a file can be written to `path`, so that the error appears before the work and not after it.
/// `shown` is the flag with its value, for the error.
///
/// # Errors
///
/// Fails if the folder is missing or not writable, or if `path` exists and is not a file.
pub fn require_folder(shown: &str, path: &Path) -> Result<()> {
    if path.exists() && !path.is_file() {
        bail!("{shown}: {} is not a file", path.display());
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        bail!(
            "{shown}: there is no folder {}; create it first, or choose another",
            folder.display()
        );
    }
    check_writable(folder)
        .with_context(|| format!("{shown}: cannot write into {}", folder.display()))
}

/// Checks that files can be created in a folder.
///
/// # Errors
///
/// Fails with the system's reason if they cannot.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    let _deferred = interrupt::defer();
    temporary_in(folder).map(drop)
}

/// Returns the folder of a file with this path.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Creates a file that deletes itself on drop unless it is renamed.
fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".unfinished-").suffix(".tmp");
    // Temporary files are readable by their owner only; these get the mode of any other new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Returns the directory of the installation that contains this program; `None` in a checkout.
pub fn prefix() -> Option<PathBuf> {
    let program = env::current_exe().ok()?.canonicalize().ok()?;
    let prefix = program.parent()?.parent()?;
    let is_installed = prefix.join(SHARE).join("kernels").is_dir();
    is_installed.then(|| prefix.to_owned())
}

/// The files of an installation that are not programs or libraries, relative to its directory.
const SHARE: &str = "share/warpbook";

/// Returns the directory that contains `kernels`.
pub fn root() -> PathBuf {
    let checkout = || {
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = crate_folder.ancestors().nth(4).unwrap_or(crate_folder);
        root.to_owned()
    };
    prefix().map_or_else(checkout, |prefix| prefix.join(SHARE))
}

/// Returns the words with which the user starts a program of this workspace, for messages: `exercises`, or
/// `cargo run -p exercises --` in a checkout. The Python package's command sets the variable.
pub fn command(program: &str) -> String {
    match (env::var("WARPBOOK_COMMAND"), prefix()) {
        (Ok(words), _) if !words.is_empty() => words,
        (_, Some(_)) => program.to_owned(),
        (_, None) => format!("cargo run -p {program} --"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    fn write_text(path: &Path, text: &str) -> io::Result<()> {
        write(path, |file| file.write_all(text.as_bytes()))
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_is_replaced_atomically() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "the old one").unwrap();
        let file = AtomicFile::new(&path, |file| file.write_all(b"the new one")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"the old one");
        file.persist().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"the new one");
        assert_eq!(names_in(folder.path()), ["a"]);
    }

    #[test]
    fn persist_new_does_not_overwrite() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let new = |text: &[u8]| AtomicFile::new(&path, |file| file.write_all(text)).unwrap();
        new(b"the first").persist_new().unwrap();
        assert!(new(b"the second").persist_new().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"the first");
        assert_eq!(names_in(folder.path()), ["a"]);
    }

    #[test]
    fn a_dropped_file_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        drop(AtomicFile::new(&path, |file| file.write_all(b"text")).unwrap());
        assert!(names_in(folder.path()).is_empty());
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        assert!(write_text(&folder.path().join("a"), "text").is_err());
        assert!(write_text(&folder.path().join("missing/a"), "text").is_err());
        assert_eq!(names_in(folder.path()), ["a"]);
    }

    #[test]
    fn a_missing_folder_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        assert!(require_folder("--out a", &inside("a")).is_ok());
        let message = require_folder("--out b/a", &inside("b/a")).unwrap_err();
        assert!(
            message
                .to_string()
                .starts_with("--out b/a: there is no folder"),
            "{message}"
        );
        assert!(names_in(folder.path()).is_empty());
        let message = require_folder("--out .", folder.path()).unwrap_err();
        assert!(message.to_string().ends_with("is not a file"), "{message}");
        assert_eq!(folder_of(Path::new("a")), Path::new("."));
    }

    #[cfg(unix)]
    #[test]
    fn files_have_the_default_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let [whole, plain] = ["whole", "plain"].map(|name| folder.path().join(name));
        write_text(&whole, "").unwrap();
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&whole), mode(&plain));
    }
}
