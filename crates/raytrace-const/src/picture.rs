//! The picture and its file.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use chapter::file;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder as _};

/// Red, green, blue, alpha: `uchar4` of the kernels.
pub type Pixel = [u8; 4];

/// Pixels in row-major order, from the top row down.
pub struct Picture {
    /// Pixels per row.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// The `width * height` pixels.
    pub pixels: Vec<Pixel>,
}

impl Picture {
    /// Creates a black picture.
    pub fn black(width: u32, height: u32) -> Self {
        Picture {
            width,
            height,
            pixels: vec![[0, 0, 0, 255]; width as usize * height as usize],
        }
    }

    /// Describes the pixel with this index.
    pub fn pixel_name(&self, index: usize) -> String {
        let width = self.width as usize;
        format!("pixel ({}, {})", index % width, index / width)
    }

    /// Saves the picture atomically as a PNG.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or the folder is not writable.
    pub fn save(&self, path: &Path) -> Result<()> {
        let saved = file::write(path, |file| {
            PngEncoder::new(file).write_image(
                self.pixels.as_flattened(),
                self.width,
                self.height,
                ExtendedColorType::Rgba8,
            )
        });
        saved.with_context(|| format!("cannot save the picture to {}", path.display()))
    }
}

/// Checks that a PNG can be written to `path`, so that the error appears before the work and not after it.
///
/// # Errors
///
/// Fails if `path` is a folder or does not end in `.png`, or its folder is missing or not writable.
pub fn require_writable(path: &Path) -> Result<()> {
    let shown = path.display();
    if path.is_dir() {
        bail!("--out {shown} is a folder; give a file name, like raytrace.png");
    }
    if !path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
    {
        bail!("--out '{shown}' does not end in .png, the format of the picture");
    }
    file::require_folder(&format!("--out {shown}"), path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn refusal(path: &Path) -> String {
        match require_writable(path) {
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
        picture.save(&path).unwrap();

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
    fn a_failed_save_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::create_dir(&path).unwrap();
        assert!(Picture::black(3, 2).save(&path).is_err());
        assert_eq!(names_in(folder.path()), ["a.png"]);
        assert!(path.is_dir());
    }

    #[test]
    fn an_old_picture_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        fs::write(&path, "the old picture").unwrap();
        Picture::black(3, 2).save(&path).unwrap();
        assert_eq!(image::image_dimensions(&path).unwrap(), (3, 2));
        assert_eq!(names_in(folder.path()), ["a.png"]);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inner/a.png");
        let error = Picture::black(1, 1).save(&path).unwrap_err();
        assert!(error.to_string().contains("cannot save the picture"));
    }

    #[test]
    fn invalid_paths_are_rejected_beforehand() {
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
    fn checking_a_path_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        require_writable(&folder.path().join("a.png")).unwrap();
        assert!(names_in(folder.path()).is_empty());
    }

    #[test]
    fn pixel_names_are_columns_and_rows() {
        assert_eq!(Picture::black(5, 4).pixel_name(13), "pixel (3, 2)");
    }
}
