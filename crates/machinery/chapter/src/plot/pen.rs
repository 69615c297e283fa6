//! Colours, lines and letters: what all charts draw with.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use common::gpu::Clock;

use super::font;

/// A whole picture; its units are the SVG's pixels.
pub type Paper<B> = DrawingArea<B, Shift>;

/// What drawing comes to.
pub type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// plotters' font size is that of a line; an em is this much smaller (see plotters-svg).
pub const SIZE_PER_EM: f64 = 1.24;

/// Text and the roof.
pub const BLACK_INK: RGBColor = RGBColor(33, 33, 33);
/// What explains, and axes.
pub const GREY_INK: RGBColor = RGBColor(95, 95, 95);
/// Bars and points that stand for a variant.
pub const BAR: RGBColor = RGBColor(58, 80, 107);

// Okabe and Ito's palette, "Color Universal Design", 2008: told apart with any colour vision.

/// Loads from global memory.
pub const LOADS: RGBColor = RGBColor(0, 114, 178);
/// Stores to global memory.
pub const STORES: RGBColor = RGBColor(86, 180, 233);
/// Shared memory.
pub const SHARED: RGBColor = RGBColor(0, 158, 115);
/// Constant memory.
pub const CONSTANT: RGBColor = RGBColor(213, 94, 0);

/// Pixels between the lines of a hatched bar.
const HATCH: i32 = 7;

/// The picture's heading.
pub const TITLE: Letters = Letters::new(18.0, BLACK_INK);
/// A chart's heading.
pub const HEADING: Letters = Letters::new(15.0, BLACK_INK);
/// Everything else.
pub const BODY: Letters = Letters::new(13.0, BLACK_INK);
/// What explains; no text is smaller.
pub const FAINT: Letters = Letters::new(13.0, GREY_INK);

/// A pen for one line of text.
#[derive(Clone, Copy)]
pub struct Letters {
    /// Pixels an em.
    pub size: f64,
    color: RGBColor,
    anchor: HPos,
}

impl Letters {
    const fn new(size: f64, color: RGBColor) -> Letters {
        Letters {
            size,
            color,
            anchor: HPos::Left,
        }
    }

    /// The same; `anchor` is the part of a text that is where it is put, by itself the left end.
    pub fn anchored(self, anchor: HPos) -> Letters {
        Letters { anchor, ..self }
    }

    /// Height of a line.
    pub fn leading(self) -> i32 {
        (1.4 * self.size).round() as i32
    }

    /// How wide a text is.
    pub fn width(self, text: &str) -> i32 {
        font::width(text, self.size).ceil() as i32
    }

    /// Writes a line centred on `at`'s height, cut to `most` pixels.
    pub fn write<B: DrawingBackend>(
        self,
        paper: &Paper<B>,
        text: &str,
        at: (i32, i32),
        most: i32,
    ) -> Drawn<B> {
        let text = font::fitting(&printable(text), self.size, f64::from(most));
        let style = TextStyle {
            font: ("sans-serif", self.size * SIZE_PER_EM).into_font(),
            color: self.color.to_backend_color(),
            pos: Pos::new(self.anchor, VPos::Center),
        };
        paper.draw(&Text::new(text, at, style))
    }
}

/// The text, with a space for each character that has no place in a picture or in XML.
pub fn printable(text: &str) -> String {
    let out_of_place = |letter: char| letter.is_control() || "\u{fffe}\u{ffff}".contains(letter);
    text.replace(out_of_place, " ")
}

/// A bar: solid where its time is measured, hatched where it is modelled.
pub fn bar<B: DrawingBackend>(
    paper: &Paper<B>,
    clock: Clock,
    corners: [(i32, i32); 2],
) -> Drawn<B> {
    match clock {
        Clock::Measured => paper.draw(&Rectangle::new(corners, BAR.filled())),
        Clock::Modelled => {
            paper.draw(&Rectangle::new(corners, BAR.mix(0.12).filled()))?;
            paper.draw(&PathElement::new(hatch(corners), BAR.mix(0.55)))?;
            paper.draw(&Rectangle::new(corners, BAR.stroke_width(1)))
        }
    }
}

/// Lines that rise to the right, as one path that goes up one and down the next.
fn hatch([(left, top), (right, bottom)]: [(i32, i32); 2]) -> Vec<(i32, i32)> {
    let height = bottom - top;
    let starts = (left - height + HATCH..right).step_by(HATCH as usize);
    let lines = starts.enumerate().flat_map(|(index, start)| {
        let ends = [start.max(left), (start + height).min(right)];
        let mut line = ends.map(|x| (x, bottom - (x - start)));
        if index % 2 == 1 {
            line.reverse();
        }
        line
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hatching_stays_within_its_bar() {
        for right in [11, 12, 25, 400] {
            let path = hatch([(10, 20), (right, 34)]);
            assert!(path.len() >= 2, "{right}");
            for (x, y) in path {
                assert!((10..=right).contains(&x) && (20..=34).contains(&y));
            }
        }
    }

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(printable("a\0b\nc\u{1b}d\u{ffff}e"), "a b c d e");
        assert_eq!(printable("<&\">' 存储"), "<&\">' 存储");
    }
}
