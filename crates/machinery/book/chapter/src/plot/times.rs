//! The chart of time by variant, one bar per variant.

use plotters::prelude::DrawingBackend;

use super::Figure;
use super::axis::Axis;
use super::pen::{self, BODY, Drawn};
use super::sheet::{LEFT, RIGHT, Sheet};
use crate::number;

const THICKNESS: i32 = 9;
/// Space below a bar.
const GAP: i32 = 7;
/// Largest ratio of the longest to the shortest time for a linear axis, on which the shortest still has a
/// visible bar.
const WIDEST_LINEAR: f64 = 30.0;

/// Draws the chart of all variants that are shown.
pub fn draw<B: DrawingBackend>(sheet: &mut Sheet<B>, figure: &Figure) -> Drawn<B> {
    let axis = axis(figure);
    sheet.heading("Time by variant")?;
    for variant in figure.shown() {
        sheet.group(&variant.group)?;
        let value = format!("{} ms", number::milliseconds(variant.milliseconds));
        sheet.pair((BODY, &variant.label), &value)?;
        let end = axis.pixel(variant.milliseconds, (LEFT, RIGHT));
        if end > LEFT {
            let corners = [(LEFT, sheet.top), (end, sheet.top + THICKNESS)];
            pen::bar(&sheet.paper, figure.gpu.time, corners)?;
        }
        sheet.space(THICKNESS + GAP);
    }
    let scale = axis.scale();
    let name = format!("ms per launch or copy, {}{scale}", figure.gpu.time);
    sheet.axis(&axis, LEFT, &name)
}

fn axis(figure: &Figure) -> Axis {
    let times = || figure.shown().iter().map(|variant| variant.milliseconds);
    let positive = || times().filter(|&time| time > 0.0);
    let shortest = positive().fold(f64::INFINITY, f64::min);
    if positive().any(|time| time > WIDEST_LINEAR * shortest) {
        Axis::logarithmic(times(), number::significant)
    } else {
        Axis::linear(times(), number::significant)
    }
}
