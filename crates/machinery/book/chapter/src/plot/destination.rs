//! The two files of a picture. The PNG is the drawing of the SVG as pixels, three for each unit in both directions.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind,
};

use super::{Figure, pen, png, svg};
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
        let (svg, height) = svg(figure, &name)?;
        let png = png(figure, height)?;
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

/// Pixels of the PNG per unit of the layout: fine enough for print.
pub const SCALE: u32 = 3;

/// A bitmap with the same coordinates as the SVG.
pub struct Raster<'a> {
    bitmap: BitMapBackend<'a>,
}

/// A style whose lines are scaled with the bitmap.
struct Scaled<'a, S>(&'a S);

type Drawn<'a> = Result<(), DrawingErrorKind<<Raster<'a> as DrawingBackend>::ErrorType>>;

impl<'a> Raster<'a> {
    /// Allocates the RGB pixels of `width * height` units.
    pub fn buffer((width, height): (u32, u32)) -> Vec<u8> {
        vec![255; 3 * (SCALE * width) as usize * (SCALE * height) as usize]
    }

    /// Draws into a [`Raster::buffer`] of the same size.
    pub fn new(buffer: &'a mut [u8], (width, height): (u32, u32)) -> Self {
        let bitmap = BitMapBackend::with_buffer(buffer, (SCALE * width, SCALE * height));
        Raster { bitmap }
    }
}

impl<'a> DrawingBackend for Raster<'a> {
    type ErrorType = <BitMapBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        let (width, height) = self.bitmap.get_size();
        (width / SCALE, height / SCALE)
    }

    fn ensure_prepared(&mut self) -> Drawn<'a> {
        self.bitmap.ensure_prepared()
    }

    fn present(&mut self) -> Drawn<'a> {
        self.bitmap.present()
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn<'a> {
        let (x, y) = finer(point);
        let last = SCALE as i32 - 1;
        self.bitmap
            .draw_rect((x, y), (x + last, y + last), &color, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn<'a> {
        self.bitmap
            .draw_line(finer(from), finer(to), &Scaled(style))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn<'a> {
        let ((left, top), (right, bottom)) = (upper_left, bottom_right);
        if fill {
            return self
                .bitmap
                .draw_rect(finer(upper_left), finer(bottom_right), style, true);
        }
        // The bitmap backend draws outlines one pixel wide.
        let corners = [
            (left, top),
            (right, top),
            (right, bottom),
            (left, bottom),
            (left, top),
        ];
        self.draw_path(corners, style)
    }

    /// Draws line by line, because plotters draws a thick path with sharp turns incorrectly as one polygon.
    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn<'a> {
        let mut path = path.into_iter();
        let Some(mut from) = path.next() else {
            return Ok(());
        };
        for to in path {
            self.draw_line(from, to, style)?;
            from = to;
        }
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn<'a> {
        self.bitmap
            .draw_circle(finer(center), SCALE * radius, style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn<'a> {
        self.bitmap
            .fill_polygon(corners.into_iter().map(finer), style)
    }

    /// Draws text at the same position as the SVG: plotters' SVG backend centres text by half the height of
    /// an x.
    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        position: BackendCoord,
    ) -> Drawn<'a> {
        let size = f64::from(SCALE) * style.size() / pen::SIZE_PER_EM;
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -0.5 * pen::width(text, size),
            HPos::Right => -pen::width(text, size),
        };
        let (left, down) = (left.round() as i32, (0.27 * size).round() as i32);
        let (x, y) = finer(position);
        let (width, height) = self.bitmap.get_size();
        let inside = |(x, y)| (0..width as i32).contains(&x) && (0..height as i32).contains(&y);
        let mut drawn = Ok(());
        pen::draw(text, size, |column, row, share| {
            let bitmap_position = (x + left + column, y + down + row);
            if drawn.is_ok() && inside(bitmap_position) {
                let ink = style.color().mix(f64::from(share).min(1.0));
                drawn = self.bitmap.draw_pixel(bitmap_position, ink);
            }
        });
        drawn
    }
}

impl<S: BackendStyle> BackendStyle for Scaled<'_, S> {
    fn color(&self) -> BackendColor {
        self.0.color()
    }

    fn stroke_width(&self) -> u32 {
        SCALE * self.0.stroke_width()
    }
}

fn finer((x, y): BackendCoord) -> BackendCoord {
    (SCALE as i32 * x, SCALE as i32 * y)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use common::gpu::Clock;

    use super::*;
    use crate::plot::tests::figure;

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
