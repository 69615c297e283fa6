//! The two files of a picture.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::{Figure, page};
use crate::file::{self, AtomicFile};
use crate::interrupt;

/// The paths `NAME.svg` and `NAME.png` of a picture, checked to be writable.
#[derive(Clone, Debug)]
pub struct Destination {
    svg: PathBuf,
    png: PathBuf,
}

impl Destination {
    /// Checks that both files can be written, so that the error appears before the work and not after it. A
    /// suffix `.svg` or `.png` of `name` is removed first.
    ///
    /// # Errors
    ///
    /// Fails if `name` is empty or a folder, one of the files is a folder, or their folder is missing or not
    /// writable.
    pub fn new(name: &Path) -> Result<Self> {
        let shown_name = name.display();
        let is_image_extension =
            |end: &OsStr| end.eq_ignore_ascii_case("svg") || end.eq_ignore_ascii_case("png");
        let stem = match name.extension() {
            Some(end) if is_image_extension(end) => name.with_extension(""),
            _ => name.to_owned(),
        };
        if name.is_dir() {
            bail!("--plot {shown_name} is a folder; give a name in it, like {shown_name}/times");
        }
        let slash = name
            .as_os_str()
            .to_string_lossy()
            .ends_with(std::path::is_separator);
        let file = match stem.file_name() {
            Some(file) if !slash => file,
            _ => {
                bail!("--plot '{shown_name}' names no file; give a name without ending, like times")
            }
        };
        let with = |end: &str| {
            let mut file = file.to_owned();
            file.push(end);
            stem.with_file_name(file)
        };
        let destination = Destination {
            svg: with(".svg"),
            png: with(".png"),
        };
        file::require_folder(&format!("--plot {shown_name}"), &destination.svg)?;
        for path in [&destination.svg, &destination.png] {
            if path.is_dir() {
                bail!(
                    "--plot {shown_name}: {} is a folder; choose another name",
                    path.display()
                );
            }
        }
        Ok(destination)
    }

    /// Draws `figure` and saves it. Both files are written under temporary names in the same folder and then
    /// renamed, so that a file with the final name is always a whole picture.
    ///
    /// Returns the SVG's path and the PNG's.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or the folder is no longer writable.
    pub fn save(&self, figure: &Figure) -> Result<[PathBuf; 2]> {
        let name = self.svg.file_stem().unwrap_or_default().to_string_lossy();
        let (svg, height) = page::svg(figure, &name)?;
        let png = page::png(figure, height)?;
        let _deferred = interrupt::defer();
        let cannot = |path: &Path| format!("cannot save the picture to {}", path.display());
        let written = |path, bytes: &[u8]| {
            let file: io::Result<AtomicFile> = AtomicFile::new(path, |file| file.write_all(bytes));
            file.with_context(|| cannot(path))
        };
        let files = [
            written(&self.svg, svg.as_bytes())?,
            written(&self.png, &png)?,
        ];
        let paths = [&self.svg, &self.png];
        for (file, path) in files.into_iter().zip(paths) {
            file.persist().with_context(|| cannot(path))?;
        }
        Ok(paths.map(PathBuf::clone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::tests::figure;
    use common::gpu::Clock;
    use std::fs;

    fn refusal(name: &Path) -> String {
        match Destination::new(name) {
            Ok(_) => panic!("{} was accepted", name.display()),
            Err(error) => error.to_string(),
        }
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn saving_creates_exactly_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("times");
        let figure = figure(Clock::Modelled, 3);
        let [svg, png] = Destination::new(&name).unwrap().save(&figure).unwrap();
        assert_eq!(svg, folder.path().join("times.svg"));
        assert_eq!(png, folder.path().join("times.png"));
        assert!(fs::read_to_string(&svg).unwrap().starts_with("<svg"));
        assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
        assert_eq!(names_in(folder.path()), ["times.png", "times.svg"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let plain = folder.path().join("plain");
            fs::write(&plain, "").unwrap();
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode(&svg), mode(&plain));
        }
    }

    #[test]
    fn picture_extensions_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for (name, file) in [
            ("a.svg", "a.svg"),
            ("a.PNG", "a.svg"),
            ("v1.5", "v1.5.svg"),
            ("存储", "存储.svg"),
            ("..a", "..a.svg"),
            ("a/.", "a.svg"),
        ] {
            let destination = Destination::new(&folder.path().join(name)).unwrap();
            assert_eq!(destination.svg, folder.path().join(file), "{name}");
        }
        assert_eq!(
            Destination::new(Path::new("a")).unwrap().png,
            Path::new("a.png")
        );
    }

    #[test]
    fn old_pictures_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("a");
        fs::write(folder.path().join("a.svg"), "the old picture").unwrap();
        let destination = Destination::new(&name).unwrap();
        let [svg, _] = destination.save(&figure(Clock::Measured, 1)).unwrap();
        assert!(fs::read_to_string(svg).unwrap().starts_with("<svg"));
        assert_eq!(names_in(folder.path()), ["a.png", "a.svg"]);
    }

    #[test]
    fn invalid_names_are_rejected_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        assert!(refusal(folder.path()).contains("is a folder; give a name in it"));
        for name in ["", "..", "nothing/"] {
            let message = refusal(Path::new(name));
            assert!(
                message.contains("names no file") || message.contains("is a folder"),
                "{message}"
            );
        }
        assert!(refusal(&inside("missing/a")).contains("there is no folder"));
        fs::write(inside("file"), "").unwrap();
        assert!(refusal(&inside("file/a")).contains("there is no folder"));
        fs::create_dir(inside("taken.png")).unwrap();
        assert!(refusal(&inside("taken")).contains("taken.png is a folder"));
        assert_eq!(names_in(folder.path()), ["file", "taken.png"]);
    }

    #[test]
    fn checking_a_destination_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        Destination::new(&folder.path().join("a")).unwrap();
        assert!(names_in(folder.path()).is_empty());
    }

    #[test]
    fn a_removed_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let destination = Destination::new(&inner.join("a")).unwrap();
        fs::remove_dir(&inner).unwrap();
        let error = destination.save(&figure(Clock::Modelled, 1)).unwrap_err();
        assert!(error.to_string().contains("cannot save the picture"));
    }

    #[test]
    fn a_failed_rename_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::new(&folder.path().join("a")).unwrap();
        fs::create_dir(folder.path().join("a.svg")).unwrap();
        let error = destination.save(&figure(Clock::Modelled, 1)).unwrap_err();
        assert!(error.to_string().contains("a.svg"), "{error}");
        assert_eq!(names_in(folder.path()), ["a.svg"]);
    }
}
