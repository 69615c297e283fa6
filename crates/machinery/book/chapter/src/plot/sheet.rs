//! The sheet that charts are drawn on, from top to bottom, and their axes.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::pen;
use super::pen::{BODY, Drawn, FAINT, GREY_INK, HEADING, Letters, Paper};

/// Width of every picture in pixels of the SVG: that of the book's other figures, whose text is legible on a
/// phone. The height depends on the content.
pub const WIDTH: i32 = 408;
/// White space around the picture.
const MARGIN: i32 = 10;
/// Left end of text and bars.
pub const LEFT: i32 = MARGIN;
/// Right end of text and bars, at most.
pub const RIGHT: i32 = WIDTH - MARGIN;

/// Space above a chart's heading.
const HEADING_GAP: i32 = 20;
/// Space above a note.
const GAP: i32 = 10;
/// Space between texts on one line.
const TEXT_GAP: i32 = 8;
/// Length of a tick mark.
pub const TICK: i32 = 4;

/// A drawing area and the height that is used so far.
pub struct Sheet<B: DrawingBackend> {
    pub paper: Paper<B>,
    /// Top of the next line.
    pub top: i32,
    /// The group of the chart's last variant.
    group: Option<String>,
}

impl<B: DrawingBackend> Sheet<B> {
    /// Creates an empty sheet.
    pub fn new(paper: Paper<B>) -> Self {
        Sheet {
            paper,
            top: MARGIN,
            group: None,
        }
    }

    /// Finishes the sheet and returns its height.
    pub fn finish(self) -> Result<i32, DrawingAreaErrorKind<B::ErrorType>> {
        self.paper.present()?;
        Ok(self.top + MARGIN)
    }

    /// Leaves `pixels` pixels free.
    pub fn space(&mut self, pixels: i32) {
        self.top += pixels;
    }

    /// Writes a line, truncated if it is too long.
    pub fn text(&mut self, letters: Letters, text: &str) -> Drawn<B> {
        let middle = self.top + letters.leading() / 2;
        letters.write(&self.paper, text, (LEFT, middle), RIGHT - LEFT)?;
        self.space(letters.leading());
        Ok(())
    }

    /// Writes a name and its value at both ends of a line, or on two lines if they are too long.
    pub fn pair(&mut self, (letters, name): (Letters, &str), value: &str) -> Drawn<B> {
        let width = BODY.width(value);
        if letters.width(name) + TEXT_GAP + width > RIGHT - LEFT {
            self.text(letters, name)?;
        } else {
            let middle = self.top + letters.leading() / 2;
            letters.write(&self.paper, name, (LEFT, middle), RIGHT - LEFT)?;
        }
        let middle = self.top + BODY.leading() / 2;
        let value_letters = BODY.anchored(HPos::Right);
        value_letters.write(&self.paper, value, (RIGHT, middle), RIGHT - LEFT)?;
        self.space(BODY.leading());
        Ok(())
    }

    /// Writes an explanation on as many lines as needed.
    pub fn paragraph(&mut self, text: &str) -> Drawn<B> {
        for line in pen::wrapped(text, FAINT.size, f64::from(RIGHT - LEFT)) {
            self.text(FAINT, &line)?;
        }
        Ok(())
    }

    /// Writes a note between charts.
    pub fn note(&mut self, text: &str) -> Drawn<B> {
        self.space(GAP);
        self.paragraph(text)
    }

    /// Writes a chart's heading.
    pub fn heading(&mut self, text: &str) -> Drawn<B> {
        self.group = None;
        self.space(HEADING_GAP);
        self.text(HEADING, text)
    }

    /// Writes the group of the next variant if it differs from that of the last.
    pub fn group(&mut self, name: &str) -> Drawn<B> {
        let last = self.group.replace(name.to_owned());
        if last.as_deref() == Some(name) {
            return Ok(());
        }
        if last.is_some() {
            self.space(GAP / 2);
            let line = [(LEFT, self.top), (RIGHT, self.top)];
            let ink = GREY_INK.mix(0.35);
            self.paper.draw(&PathElement::new(line, ink))?;
        }
        self.space(GAP / 2);
        if name.is_empty() {
            return Ok(());
        }
        self.text(FAINT, name)
    }

    /// Draws an axis from `left` to the right margin, with ticks and its name below. Labels that would
    /// overlap another one are left out.
    pub fn axis(&mut self, axis: &Axis, left: i32, name: &str) -> Drawn<B> {
        let line = [(left, self.top), (RIGHT, self.top)];
        self.paper.draw(&PathElement::new(line, GREY_INK))?;
        let middle = self.top + TICK + BODY.leading() / 2;
        let mut free = LEFT;
        for (value, label) in axis.ticks() {
            let x = axis.pixel(value, (left, RIGHT));
            let tick = [(x, self.top), (x, self.top + TICK)];
            self.paper.draw(&PathElement::new(tick, GREY_INK))?;
            let half = BODY.width(&label) / 2 + 1;
            let x = x.clamp(LEFT + half, RIGHT - half);
            if x - half >= free {
                let letters = BODY.anchored(HPos::Center);
                letters.write(&self.paper, &label, (x, middle), RIGHT - LEFT)?;
                free = x + half + TEXT_GAP;
            }
        }
        self.space(TICK + BODY.leading());
        self.text(FAINT, name)
    }
}

/// Steps between ticks within a power of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// A linear or logarithmic axis.
pub struct Axis {
    range: Range<f64>,
    logarithmic: bool,
    /// Values with a tick mark and a label.
    ticks: Vec<f64>,
    format: fn(f64) -> String,
}

impl Axis {
    /// Creates an axis from zero to slightly above the highest of `values`; to 1 if there are none.
    pub fn linear(values: impl IntoIterator<Item = f64>, format: fn(f64) -> String) -> Axis {
        let highest = values
            .into_iter()
            .filter(|v| v.is_finite())
            .fold(0.0, f64::max);
        let end = if highest > 0.0 { 1.02 * highest } else { 1.0 };
        let power = 10_f64.powf((end / 5.0).log10().floor());
        let step = STEPS
            .map(|step| step * power)
            .into_iter()
            .find(|step| end / step <= 6.0);
        let step = step.unwrap_or(10.0 * power);
        Axis {
            range: 0.0..end,
            logarithmic: false,
            ticks: (0..=(end / step) as u32)
                .map(|tick| f64::from(tick) * step)
                .collect(),
            format,
        }
    }

    /// Creates a logarithmic axis from a power of ten below the lowest of the positive `values` to slightly
    /// above the highest; from 1 to 10 if there are none.
    pub fn logarithmic(values: impl IntoIterator<Item = f64>, format: fn(f64) -> String) -> Axis {
        let values = values.into_iter().filter(|v| v.is_finite() && *v > 0.0);
        let range = values.fold(f64::INFINITY..0.0, |range, value| {
            range.start.min(value)..range.end.max(value)
        });
        if range.end == 0.0 {
            return Axis::between(1.0..10.0, format);
        }
        // Leaves room for a bar at the lowest value.
        let start = 10_f64.powf((0.7 * range.start).log10().floor());
        Axis::between(start..1.15 * range.end, format)
    }

    /// Creates a logarithmic axis with exactly these ends, both positive.
    pub fn between(range: Range<f64>, format: fn(f64) -> String) -> Axis {
        let first = range.start.log10().floor() as i32;
        let last = range.end.log10().ceil() as i32;
        // Few powers of ten leave room for ticks between them; of many powers, some get no tick.
        let steps = if last - first <= 2 {
            &STEPS[..]
        } else {
            &STEPS[..1]
        };
        let every = ((last - first) / 8 + 1) as usize;
        let powers = (first..=last).step_by(every);
        let ticks =
            powers.flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        // Tolerates rounding errors of a tick at the very start.
        let within = range.start * (1.0 - 1e-9)..=range.end;
        Axis {
            ticks: ticks.filter(|tick| within.contains(tick)).collect(),
            range,
            logarithmic: true,
            format,
        }
    }

    /// Returns the suffix of the axis name that marks a logarithmic axis, or an empty string.
    pub fn scale(&self) -> &'static str {
        if self.logarithmic { ", log scale" } else { "" }
    }

    /// Returns the values with ticks and their labels.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        self.ticks.iter().map(|&tick| (tick, (self.format)(tick)))
    }

    /// Returns the pixel of a value on an axis from pixel `start` to pixel `end`.
    pub fn pixel(&self, value: f64, (start, end): (i32, i32)) -> i32 {
        start + (self.fraction(value) * f64::from(end - start)).round() as i32
    }

    /// Returns the position of a value along the axis, 0 to 1; values outside are clamped.
    fn fraction(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        let value = value.clamp(start, end);
        if self.logarithmic {
            (value / start).ln() / (end / start).ln()
        } else {
            (value - start) / (end - start)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number;

    fn ticks(axis: &Axis) -> Vec<String> {
        axis.ticks().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_axes_begin_at_zero() {
        let axis = Axis::linear([0.31, 0.05], number::significant);
        assert_eq!(ticks(&axis), ["0", "0.1", "0.2", "0.3"]);
        let axis = Axis::linear([24.16, 39.26], number::significant);
        assert_eq!(ticks(&axis), ["0", "10", "20", "30", "40"]);
        assert_eq!(axis.pixel(0.0, (100, 500)), 100);
        assert!((480..500).contains(&axis.pixel(39.26, (100, 500))));
    }

    #[test]
    fn logarithmic_axes_begin_below_the_lowest_value() {
        let axis = Axis::logarithmic([0.02, 1.5], number::significant);
        assert_eq!(ticks(&axis), ["0.01", "0.1", "1"]);
        assert_eq!(
            axis.pixel(0.1, (0, 1000)) - axis.pixel(0.01, (0, 1000)),
            axis.pixel(0.1, (0, 1000))
        );
        let axis = Axis::logarithmic([100.0, 400.0], number::significant);
        assert!(axis.pixel(100.0, (0, 1000)) > 100, "the lowest has a bar");
        assert_eq!(ticks(&axis), ["10", "20", "50", "100", "200"]);
        let axis = Axis::logarithmic([1.0, 1e18], number::scaled);
        assert!(ticks(&axis).len() <= 10, "{:?}", ticks(&axis));
    }

    #[test]
    fn invalid_values_are_clamped() {
        for axis in [
            Axis::linear([], number::significant),
            Axis::linear([0.0, f64::NAN, f64::INFINITY], number::significant),
            Axis::logarithmic([], number::significant),
            Axis::logarithmic([0.0, -1.0, f64::NAN, f64::INFINITY], number::significant),
        ] {
            assert!(!axis.ticks.is_empty());
            assert_eq!(axis.pixel(f64::INFINITY, (10, 20)), 20);
            assert_eq!(axis.pixel(-1.0, (10, 20)), 10);
            assert!((10..=20).contains(&axis.pixel(f64::NAN, (10, 20))));
        }
    }
}
