//! The roofline: how near each kernel comes to what the GPU can do.
//!
//! Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009.

use plotters::prelude::*;

use super::axis::Axis;
use super::frame::{BELOW, BESIDE, Frame};
use super::pen::{BAR, BLACK_INK, BODY, Drawn, GREY_INK, Letters, Paper};
use super::rows::column;
use super::{Figure, Variant, page};
use crate::gpu::Clock;
use crate::number;

/// The rectangle's least height.
const LEAST: i32 = 360;
/// Between one point's name and the next, from middle to middle.
const LINE: i32 = 19;
/// Above the roof, for the names of its two parts.
const ABOVE: i32 = 8;
/// From the rectangle to the points' names.
const LEADER: i32 = 22;
const RADIUS: i32 = 5;

/// The chart of the roofline.
pub struct Roof {
    points: Vec<Point>,
    /// Operations a second, in 10⁹.
    peak: f64,
    /// Bytes a second, in 10⁹.
    bandwidth: f64,
    clock: Clock,
}

/// A kernel's place.
struct Point {
    name: String,
    /// Operations a byte.
    intensity: f64,
    /// Operations a second, in 10⁹.
    rate: f64,
}

impl Point {
    /// None where it computes nothing, or moves nothing, or takes no time.
    fn of(variant: &Variant) -> Option<Point> {
        let roofline = variant.roofline?;
        let point = Point {
            name: match variant.group.as_str() {
                "" => variant.label.clone(),
                group => format!("{}, {group}", variant.label),
            },
            intensity: roofline.operations / roofline.bytes,
            rate: roofline.operations / variant.milliseconds / 1e6,
        };
        let drawable = |value: f64| value.is_finite() && value > 0.0;
        (drawable(point.intensity) && drawable(point.rate)).then_some(point)
    }
}

impl Roof {
    /// Of the variants that compute in floating point.
    ///
    /// # Errors
    ///
    /// Why there is no such chart, for the reader.
    pub fn new(figure: &Figure) -> Result<Self, &'static str> {
        let known = figure.shown().iter().find_map(|variant| variant.roofline);
        let Some(known) = known else {
            return Err(match figure.gpu.time {
                Clock::Measured => {
                    "No roofline: how many bytes a launch moves to and from device memory takes \
                     a GPU's profiler; the simulator counts them itself."
                }
                Clock::Modelled => "No roofline: bytes and operations were not counted.",
            });
        };
        let points: Vec<Point> = figure.shown().iter().filter_map(Point::of).collect();
        if points.is_empty() {
            return Err("No roofline: no kernel here computes in floating point.");
        }
        let (peak, bandwidth) = (known.peak_operations / 1e9, known.peak_bandwidth / 1e9);
        if !(peak.is_normal() && bandwidth.is_normal() && peak > 0.0 && bandwidth > 0.0) {
            return Err("No roofline: what this GPU can do is not known.");
        }
        Ok(Roof {
            points,
            peak,
            bandwidth,
            clock: figure.gpu.time,
        })
    }

    /// Pixels from top to bottom.
    pub fn height(&self) -> i32 {
        ABOVE + LEAST.max((self.points.len() as i32 + 1) * LINE) + BELOW
    }

    /// Draws it from `top` down.
    pub fn draw<B: DrawingBackend>(&self, paper: &Paper<B>, top: i32) -> Drawn<B> {
        let names = self.points.iter().map(|point| point.name.as_str());
        let names = column(names, page::WIDTH / 3);
        let frame = Frame {
            left: page::MARGIN + BESIDE,
            top: top + ABOVE,
            right: page::WIDTH - page::MARGIN - names - LEADER,
            bottom: top + self.height() - BELOW,
        };
        let (x, y) = (self.intensities(), self.rates());
        let (left, right) = (x.start, x.end);
        let lowest = y.start;
        let x = Axis::between(x, number::plain);
        let y = Axis::between(y, number::plain);
        let x_name = "arithmetic intensity, FLOP a byte of device memory, log scale";
        let y_name = format!("GFLOP/s, {}, log scale", self.clock);
        let chart = frame.points(paper, (x, x_name), (y, &y_name))?;
        let place = |intensity: f64, rate: f64| chart.map_coordinate(&(intensity, rate));

        let start = left.max(lowest / self.bandwidth);
        let roof = [
            place(start, start * self.bandwidth),
            place(self.ridge(), self.peak),
            place(right, self.peak),
        ];
        let (corner, height) = roof[1];
        let body = Letters::new(BODY, BLACK_INK);
        let memory = format!("device memory, {}B/s", number::scaled(self.bandwidth * 1e9));
        let at = (corner - 26, height);
        body.ending()
            .write(paper, &memory, at, corner - 26 - frame.left)?;
        let arithmetic = format!("arithmetic, {}FLOP/s", number::scaled(self.peak * 1e9));
        let at = (frame.right - 8, height - 14);
        let room = frame.right - corner;
        body.ending().write(paper, &arithmetic, at, room)?;
        paper.draw(&PathElement::new(roof, BLACK_INK.stroke_width(2)))?;
        self.points(paper, &frame, place)
    }

    fn points<B: DrawingBackend>(
        &self,
        paper: &Paper<B>,
        frame: &Frame,
        place: impl Fn(f64, f64) -> (i32, i32),
    ) -> Drawn<B> {
        let mut placed: Vec<_> = self
            .points
            .iter()
            .map(|point| (point, place(point.intensity, point.rate)))
            .collect();
        placed.sort_by_key(|&(_, (x, y))| (y, x));
        let wished: Vec<i32> = placed.iter().map(|&(_, (_, y))| y).collect();
        let lines = apart(&wished, frame.top + LINE / 2, frame.bottom - LINE / 2);
        for (&(point, (x, y)), &line) in placed.iter().zip(&lines) {
            let elbow = (frame.right + LEADER - 4, line);
            let leader = [(x, y), (frame.right + 4, line), elbow];
            paper.draw(&PathElement::new(leader, GREY_INK.mix(0.5)))?;
            let at = (frame.right + LEADER, line);
            let room = page::WIDTH - page::MARGIN - at.0 + 1;
            Letters::new(BODY, BLACK_INK).write(paper, &point.name, at, room)?;
        }
        for &(_, at) in &placed {
            paper.draw(&Circle::new(at, RADIUS + 1, WHITE.filled()))?;
            paper.draw(&Circle::new(at, RADIUS, BAR.filled()))?;
            if self.clock == Clock::Modelled {
                paper.draw(&Circle::new(at, RADIUS - 2, WHITE.filled()))?;
            }
        }
        Ok(())
    }

    /// Where both parts of the roof meet: with fewer operations a byte, memory is the limit.
    fn ridge(&self) -> f64 {
        self.peak / self.bandwidth
    }

    /// From a good way left of the ridge, where the name of the roof's slope stands, to a little
    /// right of it; every point is within.
    fn intensities(&self) -> std::ops::Range<f64> {
        let all = || self.points.iter().map(|point| point.intensity);
        let lowest = all().fold(self.ridge() / 150.0, |low, one| low.min(one / 2.0));
        let highest = all().fold(self.ridge() * 20.0, |high, one| high.max(2.0 * one));
        lowest..highest
    }

    /// From below the lowest point to above the roof.
    fn rates(&self) -> std::ops::Range<f64> {
        let all = || self.points.iter().map(|point| point.rate);
        let lowest = all().fold(self.peak / 300.0, |low, one| low.min(one / 2.0));
        let highest = all().fold(self.peak, f64::max);
        lowest..2.2 * highest
    }
}

/// Lines at least [`LINE`] apart and between `top` and `bottom`, each near the one wished for.
/// `wished` is sorted, and there is room for all.
fn apart(wished: &[i32], top: i32, bottom: i32) -> Vec<i32> {
    let mut lines = Vec::with_capacity(wished.len());
    let mut next = top;
    for &line in wished {
        let line = line.max(next);
        lines.push(line);
        next = line + LINE;
    }
    let mut last = bottom;
    for line in lines.iter_mut().rev() {
        *line = last.min(*line);
        last = *line - LINE;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_apart_and_within() {
        let cases: [&[i32]; 5] = [&[], &[50], &[50, 50, 50], &[0, 0, 300, 300], &[299; 15]];
        for wished in cases {
            let lines = apart(wished, 10, 290);
            assert_eq!(lines.len(), wished.len());
            assert!(
                lines.iter().all(|line| (10..=290).contains(line)),
                "{lines:?}"
            );
            assert!(
                lines.windows(2).all(|pair| pair[1] - pair[0] >= LINE),
                "{lines:?}"
            );
        }
        assert_eq!(apart(&[40, 100, 200], 10, 290), [40, 100, 200]);
    }
}
