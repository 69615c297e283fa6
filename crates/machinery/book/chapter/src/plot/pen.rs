//! Colours, lines and text styles that all charts share.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use common::gpu::Clock;

use super::font;

/// A drawing area in units of the SVG's pixels.
pub type Paper<B> = DrawingArea<B, Shift>;

/// The result of drawing.
pub type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Ratio of plotters' font size, which is that of a line, to an em (see plotters-svg).
pub const SIZE_PER_EM: f64 = 1.24;

/// Colour of text and of the roof.
pub const BLACK_INK: RGBColor = RGBColor(33, 33, 33);
/// Colour of explanations and axes.
pub const GREY_INK: RGBColor = RGBColor(95, 95, 95);
/// Colour of bars and points that represent a variant.
pub const BAR: RGBColor = RGBColor(58, 80, 107);

// Okabe and Ito's palette, "Color Universal Design", 2008: distinguishable with any colour vision.

/// Colour of loads from global memory.
pub const LOADS: RGBColor = RGBColor(0, 114, 178);
/// Colour of stores to global memory.
pub const STORES: RGBColor = RGBColor(86, 180, 233);
/// Colour of shared memory.
pub const SHARED: RGBColor = RGBColor(0, 158, 115);
/// Colour of constant memory.
pub const CONSTANT: RGBColor = RGBColor(213, 94, 0);

/// Distance in pixels between the lines of a hatched bar.
const HATCH: i32 = 7;

/// Style of the picture's title.
pub const TITLE: Letters = Letters::new(18.0, BLACK_INK);
/// Style of a chart's heading.
pub const HEADING: Letters = Letters::new(15.0, BLACK_INK);
/// Style of all other text.
pub const BODY: Letters = Letters::new(13.0, BLACK_INK);
/// Style of explanations; no text is smaller.
pub const FAINT: Letters = Letters::new(13.0, GREY_INK);

/// The style of one line of text.
#[derive(Clone, Copy)]
pub struct Letters {
    /// Pixels per em.
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

    /// Sets the part of a text that is placed at the given position; the default is its left end.
    pub fn anchored(self, anchor: HPos) -> Letters {
        Letters { anchor, ..self }
    }

    /// Returns the height of a line.
    pub fn leading(self) -> i32 {
        (1.4 * self.size).round() as i32
    }

    /// Returns the width of a text.
    pub fn width(self, text: &str) -> i32 {
        font::width(text, self.size).ceil() as i32
    }

    /// Writes a line, vertically centred on `at` and truncated to `max_width` pixels.
    pub fn write<B: DrawingBackend>(
        self,
        paper: &Paper<B>,
        text: &str,
        at: (i32, i32),
        max_width: i32,
    ) -> Drawn<B> {
        let text = font::fitting(&printable(text), self.size, f64::from(max_width));
        let style = TextStyle {
            font: ("sans-serif", self.size * SIZE_PER_EM).into_font(),
            color: self.color.to_backend_color(),
            pos: Pos::new(self.anchor, VPos::Center),
        };
        paper.draw(&Text::new(text, at, style))
    }
}

/// Replaces characters that are not allowed in a picture or in XML with spaces.
pub fn printable(text: &str) -> String {
    let is_forbidden = |letter: char| letter.is_control() || "\u{fffe}\u{ffff}".contains(letter);
    text.replace(is_forbidden, " ")
}

/// Draws a bar: solid if its time is measured, hatched if it is modelled.
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

/// Returns lines that rise to the right, as one path that alternates its direction.
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
