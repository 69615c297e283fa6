//! The picture, and its file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use common::interrupt;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use tempfile::NamedTempFile;

/// Red, green, blue, alpha: the kernels' `uchar4`.
pub type Pixel = [u8; 4];

/// Pixels in rows, the top one first.
pub struct Picture {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height` pixels.
    pub pixels: Vec<Pixel>,
}

/// Where the picture will be saved, known to be writable.
pub struct Destination {
    path: PathBuf,
    folder: PathBuf,
}

impl Picture {
    /// A black picture.
    pub fn black(width: u32, height: u32) -> Self {
        Picture {
            width,
            height,
            pixels: vec![[0, 0, 0, 255]; width as usize * height as usize],
        }
    }

    /// Which pixel has this index, in words.
    pub fn place(&self, index: usize) -> String {
        let width = self.width as usize;
        format!("pixel ({}, {})", index % width, index / width)
    }
}

impl Destination {
    /// Checks that a PNG can be written to `path`, so that it does not turn out after the work.
    ///
    /// # Errors
    ///
    /// Where `path` is a folder, does not end in `.png`, or its folder is missing or not writable.
    pub fn new(path: &Path) -> Result<Self> {
        let shown = path.display();
        if path.is_dir() {
            bail!("--out {shown} is a folder; give a file name, like raytrace.png");
        }
        if !path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
        {
            bail!("--out '{shown}' does not end in .png, which is what the picture will be");
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            bail!(
                "--out {shown}: there is no folder {}; make it first, or choose another",
                folder.display()
            );
        }
        let _whole = interrupt::hold();
        temporary_in(folder)
            .with_context(|| format!("--out {shown}: cannot write into {}", folder.display()))?;
        Ok(Destination {
            path: path.to_owned(),
            folder: folder.to_owned(),
        })
    }

    /// Saves the picture: written under another name in the same folder, then renamed, so that a
    /// file of this name is always a whole picture.
    ///
    /// # Errors
    ///
    /// Where the disk is full, or the folder can no longer be written to.
    pub fn save(&self, picture: &Picture) -> Result<()> {
        self.write(picture)
            .with_context(|| format!("cannot save the picture to {}", self.path.display()))
    }

    fn write(&self, picture: &Picture) -> Result<()> {
        let _whole = interrupt::hold();
        let file = temporary_in(&self.folder)?;
        let mut writer = BufWriter::new(file);
        PngEncoder::new(&mut writer).write_image(
            picture.pixels.as_flattened(),
            picture.width,
            picture.height,
            ExtendedColorType::Rgba8,
        )?;
        writer.flush()?;
        writer.into_inner()?.persist(&self.path)?;
        Ok(())
    }
}

/// A file that removes itself unless it is renamed.
fn temporary_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".raytrace-").suffix(".tmp");
    // A temporary file is its owner's alone; a picture is as readable as any other new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn refusal(path: &Path) -> String {
        match Destination::new(path) {
            Ok(_) => panic!("{} was accepted", path.display()),
            Err(error) => error.to_string(),
        }
    }

    fn names_in(folder: &Path) -> Vec<String> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_saved_picture_reads_back_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let mut picture = Picture::black(3, 2);
        picture.pixels[4] = [1, 2, 3, 255];
        Destination::new(&path).unwrap().save(&picture).unwrap();

        let read = image::open(&path).unwrap().into_rgba8();
        assert_eq!(read.dimensions(), (3, 2));
        assert_eq!(read.as_raw()[..], *picture.pixels.as_flattened());
        assert_eq!(names_in(folder.path()), ["a.png"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let plain = folder.path().join("plain");
            fs::write(&plain, "").unwrap();
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode(&path), mode(&plain));
        }
    }

    #[test]
    fn a_picture_that_cannot_be_put_in_place_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let destination = Destination::new(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(destination.save(&Picture::black(3, 2)).is_err());
        assert_eq!(names_in(folder.path()), ["a.png"]);
        assert!(path.is_dir());
    }

    #[test]
    fn an_old_picture_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::write(&path, "the old picture").unwrap();
        let destination = Destination::new(&path).unwrap();
        destination.save(&Picture::black(3, 2)).unwrap();
        assert_eq!(image::image_dimensions(&path).unwrap(), (3, 2));
        assert_eq!(names_in(folder.path()), ["a.png"]);
    }

    #[test]
    fn a_folder_that_went_away_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let destination = Destination::new(&inner.join("a.png")).unwrap();
        fs::remove_dir(&inner).unwrap();
        let error = destination.save(&Picture::black(1, 1)).unwrap_err();
        assert!(error.to_string().contains("cannot save the picture"));
    }

    #[test]
    fn bad_paths_are_refused_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        assert!(refusal(folder.path()).contains("is a folder"));
        assert!(refusal(&folder.path().join("a.jpg")).contains("does not end in .png"));
        assert!(refusal(Path::new("")).contains("does not end in .png"));
        let missing = folder.path().join("missing/a.png");
        assert!(refusal(&missing).contains("there is no folder"));
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(refusal(&file.join("a.png")).contains("there is no folder"));
    }

    #[test]
    fn checking_a_destination_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        Destination::new(&folder.path().join("a.png")).unwrap();
        assert!(names_in(folder.path()).is_empty());
    }

    #[test]
    fn places_are_columns_and_rows() {
        assert_eq!(Picture::black(5, 4).place(13), "pixel (3, 2)");
    }
}
