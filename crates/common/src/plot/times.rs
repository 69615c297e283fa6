//! Time by variant: one bar each.

use plotters::prelude::*;

use super::axis::Axis;
use super::frame::{BELOW, Frame};
use super::pen::{self, BLACK_INK, BODY, Drawn, GREY_INK, Letters, Paper};
use super::rows::{Row, column, rows};
use super::{Figure, page};
use crate::gpu::{Clock, GpuInfo};
use crate::number;

const ROW: i32 = 24;
const THICKNESS: i32 = 15;
/// Room for a bar's time, to the right of the longest.
const VALUE: i32 = 110;
/// From the legend's line to the first row.
const ABOVE: i32 = 30;
/// Beyond this many times the shortest, the longest would leave it no visible bar.
const WIDEST_LINEAR: f64 = 30.0;

/// The chart of times.
pub struct Times<'a> {
    rows: Vec<Row<'a>>,
    height: i32,
    gpu: &'a GpuInfo,
}

impl<'a> Times<'a> {
    /// Of all the variants that are shown.
    ///
    /// # Errors
    ///
    /// Why there is no such chart, for the reader.
    pub fn new(figure: &'a Figure) -> Result<Self, &'static str> {
        if figure.variants.is_empty() {
            return Err("Nothing is shown: no variant was run.");
        }
        let (rows, height) = rows(figure.shown(), ROW);
        Ok(Times {
            rows,
            height,
            gpu: &figure.gpu,
        })
    }

    /// Pixels from top to bottom.
    pub fn height(&self) -> i32 {
        ABOVE + self.height + BELOW
    }

    /// Draws it from `top` down.
    pub fn draw<B: DrawingBackend>(&self, paper: &Paper<B>, top: i32) -> Drawn<B> {
        self.legend(paper, top + 8)?;
        let names = self.rows.iter().map(|row| row.variant.label.as_str());
        let names = column(names, page::WIDTH / 3);
        let left = page::MARGIN + names + 10;
        let top = top + ABOVE;
        let axis = self.axis();
        let scale = if axis.is_logarithmic() {
            ", log scale"
        } else {
            ""
        };
        let name = format!(
            "milliseconds of one launch or copy, {}{scale}",
            self.gpu.time
        );
        let frame = Frame {
            left,
            top,
            right: page::WIDTH - page::MARGIN - VALUE,
            bottom: top + self.height,
        };
        let chart = frame.bars(paper, axis, &name)?;
        let body = Letters::new(BODY, BLACK_INK);
        for row in &self.rows {
            if let Some((name, middle)) = row.name {
                let at = (page::MARGIN, top + middle);
                Letters::new(BODY, GREY_INK).write(paper, name, at, page::WIDTH / 2)?;
            }
            let middle = top + row.top + ROW / 2;
            let at = (left - 10, middle);
            body.ending().write(paper, &row.variant.label, at, names)?;
            let milliseconds = row.variant.milliseconds;
            let (end, _) = chart.map_coordinate(&(milliseconds, 0.0));
            let upper = middle - THICKNESS / 2;
            if end > left {
                let corner = (end, upper + THICKNESS);
                pen::bar(paper, self.gpu.time, (left, upper), corner)?;
            }
            let value = format!("{} ms", number::plain(milliseconds));
            body.write(paper, &value, (end + 6, middle), VALUE)?;
        }
        Ok(())
    }

    /// A bar as this chart has it, and what that means.
    fn legend<B: DrawingBackend>(&self, paper: &Paper<B>, middle: i32) -> Drawn<B> {
        let (left, upper) = (page::MARGIN, middle - THICKNESS / 2);
        pen::bar(
            paper,
            self.gpu.time,
            (left, upper),
            (left + 40, upper + THICKNESS),
        )?;
        let text = match self.gpu.time {
            Clock::Measured => format!("measured, {}", self.gpu.name),
            Clock::Modelled => format!("modelled, {}: not a measurement", self.gpu.name),
        };
        Letters::new(BODY, BLACK_INK).write(paper, &text, (left + 50, middle), page::WIDTH / 2)
    }

    fn axis(&self) -> Axis {
        let times = || self.rows.iter().map(|row| row.variant.milliseconds);
        let positive = || times().filter(|&time| time > 0.0);
        let shortest = positive().fold(f64::INFINITY, f64::min);
        if positive().any(|time| time > WIDEST_LINEAR * shortest) {
            Axis::logarithmic(times(), number::plain)
        } else {
            Axis::linear(times(), number::plain)
        }
    }
}
