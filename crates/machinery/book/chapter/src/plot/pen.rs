//! Colours, lines and text styles that all charts share, and the font of the PNG, which also determines the layout of both
//! pictures.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef, Glyph, GlyphId, PxScale, ScaleFont as _, point};
use common::gpu::Clock;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

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
        width(text, self.size).ceil() as i32
    }

    /// Writes a line, vertically centred on `at` and truncated to `max_width` pixels.
    pub fn write<B: DrawingBackend>(
        self,
        paper: &Paper<B>,
        text: &str,
        at: (i32, i32),
        max_width: i32,
    ) -> Drawn<B> {
        let text = fitting(&printable(text), self.size, f64::from(max_width));
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

/// DejaVu Sans, reduced to Latin, Greek and symbols. It is wider than the fonts that browsers use for
/// `sans-serif`, so text that fits in it fits there as well.
static FONT: LazyLock<FontRef> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../../assets/dejavu/DejaVuSans.ttf"))
        .expect("the embedded font is valid")
});

/// Returns the width of a text in pixels at `size` pixels per em.
pub fn width(text: &str, size: f64) -> f64 {
    let scale = scale(size);
    text.chars()
        .map(|letter| advance(letter, scale))
        .sum::<f32>()
        .into()
}

/// Returns the text, truncated with an ellipsis if it is wider than `max_width` pixels.
fn fitting(text: &str, size: f64, max_width: f64) -> String {
    if width(text, size) <= max_width {
        return text.to_owned();
    }
    let mut cut = text.to_owned();
    while cut.pop().is_some() {
        let shown = format!("{}…", cut.trim_end());
        if width(&shown, size) <= max_width {
            return shown;
        }
    }
    String::new()
}

/// Wraps the text between words into lines of at most `max_width` pixels.
pub fn wrapped(text: &str, size: f64, max_width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match (lines.last_mut(), longer) {
            (Some(line), Some(longer)) if width(&longer, size) <= max_width => *line = longer,
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Calls `pixel` with the position of every pixel that the text covers and its coverage, 0 to 1. Positions
/// are relative to the left end of the baseline.
pub fn draw(text: &str, size: f64, mut pixel: impl FnMut(i32, i32, f32)) {
    let scale = scale(size);
    let mut x = 0.0;
    for letter in text.chars() {
        let glyph = glyph(letter).with_scale_and_position(scale, point(x, 0.0));
        x += advance(letter, scale);
        draw_glyph(glyph, &mut pixel);
    }
}

fn draw_glyph(glyph: Glyph, pixel: &mut impl FnMut(i32, i32, f32)) {
    if let Some(outline) = FONT.outline_glyph(glyph) {
        let corner = outline.px_bounds().min;
        outline.draw(|x, y, share| {
            pixel(
                corner.x as i32 + x as i32,
                corner.y as i32 + y as i32,
                share,
            );
        });
    }
}

fn glyph(letter: char) -> GlyphId {
    FONT.glyph_id(letter)
}

/// Returns the advance width of a letter. A letter missing in the font is drawn as a box here; in the SVG it
/// is most likely a Chinese character, which is one em wide.
fn advance(letter: char, scale: PxScale) -> f32 {
    match glyph(letter) {
        GlyphId(0) => em(scale),
        letter_glyph => FONT.as_scaled(scale).h_advance(letter_glyph),
    }
}

/// Returns ab_glyph's scale, which is the height of a line instead of an em.
fn scale(size: f64) -> PxScale {
    PxScale::from(size as f32 * FONT.height_unscaled() / units())
}

fn em(scale: PxScale) -> f32 {
    scale.y * units() / FONT.height_unscaled()
}

fn units() -> f32 {
    FONT.units_per_em().expect("the embedded font is valid")
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

    #[test]
    fn widths_add_up() {
        assert_eq!(width("", 16.0), 0.0);
        assert!(width("iiii", 16.0) < width("MMMM", 16.0));
        assert!((width("MM", 32.0) - 4.0 * width("M", 16.0)).abs() < 1e-3);
        assert!((width("存储", 16.0) - 32.0).abs() < 1e-3);
    }

    #[test]
    fn the_font_has_all_symbols_of_pictures() {
        for letter in "azAZ09 <>&\"'–…·×µ²⁰₀≤≥\u{a0}".chars() {
            assert_ne!(glyph(letter), GlyphId(0), "{letter:?}");
        }
    }

    #[test]
    fn long_text_is_truncated() {
        assert_eq!(fitting("constant", 16.0, 500.0), "constant");
        let cut = fitting("one access per thread", 16.0, 100.0);
        assert!(cut.starts_with("one") && cut.ends_with('…'), "{cut}");
        assert!(width(&cut, 16.0) <= 100.0);
        assert_eq!(fitting("constant", 16.0, 1.0), "");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let text = "one access per thread";
        assert_eq!(wrapped(text, 16.0, 500.0), [text]);
        let lines = wrapped(text, 16.0, 100.0);
        assert!(lines.len() > 1 && lines.join(" ") == text, "{lines:?}");
        assert!(lines.iter().all(|line| width(line, 16.0) <= 100.0));
        assert_eq!(wrapped(text, 16.0, 1.0).len(), 4);
    }

    #[test]
    fn letters_are_drawn_on_the_baseline() {
        let mut covered = Vec::new();
        draw("HH", 40.0, |x, y, share| {
            assert!((0.0..=1.01).contains(&share));
            if share > 0.5 {
                covered.push((x, y));
            }
        });
        assert!(covered.iter().all(|&(_, y)| (-40..=0).contains(&y)));
        let right = covered.iter().map(|&(x, _)| x).max().unwrap();
        let wide = width("HH", 40.0) as i32;
        assert!((wide - 8..=wide).contains(&right), "{right} of {wide}");
    }
}
