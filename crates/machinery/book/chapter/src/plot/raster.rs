//! The PNG: the drawing of the SVG as pixels, three for each unit in both directions.

use plotters::backend::{BitMapBackend, DrawingBackend};
use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind,
};

use super::{font, pen};

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
            HPos::Center => -0.5 * font::width(text, size),
            HPos::Right => -font::width(text, size),
        };
        let (left, down) = (left.round() as i32, (0.27 * size).round() as i32);
        let (x, y) = finer(position);
        let (width, height) = self.bitmap.get_size();
        let inside = |(x, y)| (0..width as i32).contains(&x) && (0..height as i32).contains(&y);
        let mut drawn = Ok(());
        font::draw(text, size, |column, row, share| {
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
