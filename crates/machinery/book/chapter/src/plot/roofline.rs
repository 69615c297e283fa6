//! The roofline chart: each kernel's performance relative to the GPU's peak rates.
//!
//! Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::pen::{BAR, BLACK_INK, BODY, Drawn, FAINT, GREY_INK};
use super::sheet::{Axis, LEFT, RIGHT, Sheet, TICK};
use super::{Figure, Variant};
use crate::number;
use common::gpu::Clock;

const HEIGHT: i32 = 230;
/// Space to the left of the chart, for the labels of its ticks.
const LABEL_WIDTH: i32 = 52;
/// Space above the highest point and the roof, for a line of text, as a fraction of the range below.
const HEADROOM: f64 = 0.13;
const RADIUS: i32 = 4;
/// Distance from a point's centre to its number.
const NUMBER_OFFSET: i32 = 7;
/// Space to the right of a point for its number; points closer than that share one.
const NUMBER: (i32, i32) = (56, 16);

/// The roofline chart.
pub struct Roof<'a> {
    points: Vec<Point<'a>>,
    /// Peak operations per second.
    peak: f64,
    /// Peak bytes per second.
    bandwidth: f64,
    clock: Clock,
}

/// A kernel's coordinates.
struct Point<'a> {
    variant: &'a Variant,
    /// Operations per byte.
    intensity: f64,
    /// Operations per second.
    rate: f64,
}

/// A position in the picture.
type Position = (i32, i32);

impl<'a> Point<'a> {
    /// Returns the point of a variant; `None` if it is compute-bound nothing, moves nothing or takes no time.
    fn new(variant: &'a Variant) -> Option<Self> {
        let roofline = variant.roofline?;
        let point = Point {
            variant,
            intensity: roofline.operations / roofline.bytes,
            rate: roofline.operations / variant.milliseconds * 1e3,
        };
        let drawable = |value: f64| value.is_finite() && value > 0.0;
        (drawable(point.intensity) && drawable(point.rate)).then_some(point)
    }
}

impl<'a> Roof<'a> {
    /// Creates the chart of the variants that execute floating-point operations.
    ///
    /// # Errors
    ///
    /// Returns the reason, for readers, why there is no such chart.
    pub fn new(figure: &'a Figure) -> Result<Self, &'static str> {
        let peaks = figure.shown().iter().find_map(|variant| variant.roofline);
        let Some(peaks) = peaks else {
            return Err(match figure.gpu.time {
                Clock::Measured => {
                    "No roofline: on a GPU, counting the bytes moved to and from device memory \
                     needs a profiler; the simulator counts them itself."
                }
                Clock::Modelled => "No roofline: bytes and operations were not counted.",
            });
        };
        let points: Vec<Point> = figure.shown().iter().filter_map(Point::new).collect();
        if points.is_empty() {
            return Err("No roofline: no kernel uses floating-point arithmetic.");
        }
        let (peak, bandwidth) = (peaks.peak_operations, peaks.peak_bandwidth);
        if !(peak.is_normal() && bandwidth.is_normal() && peak > 0.0 && bandwidth > 0.0) {
            return Err("No roofline: the peak rates of this GPU are unknown.");
        }
        Ok(Roof {
            points,
            peak,
            bandwidth,
            clock: figure.gpu.time,
        })
    }

    /// Draws the chart with the names of the points below it.
    pub fn draw<B: DrawingBackend>(&self, sheet: &mut Sheet<B>) -> Drawn<B> {
        sheet.heading("Roofline")?;
        sheet.text(FAINT, &format!("FLOP/s, {}, log scale", self.clock))?;
        let (left, top, bottom) = (LEFT + LABEL_WIDTH, sheet.top, sheet.top + HEIGHT);
        let (intensities, rates) = (self.intensities(), self.rates());
        let x = Axis::between(intensities.clone(), number::significant);
        let y = Axis::between(rates.clone(), number::scaled);
        let position = |intensity: f64, rate: f64| {
            let across = x.pixel(intensity, (left, RIGHT));
            (across, y.pixel(rate, (bottom, top)))
        };
        let start = intensities.start.max(rates.start / self.bandwidth);
        let roof = [
            position(start, start * self.bandwidth),
            position(self.peak / self.bandwidth, self.peak),
            position(intensities.end, self.peak),
        ];
        self.roof(sheet, left, roof)?;
        let positions: Vec<Position> = self
            .points
            .iter()
            .map(|point| position(point.intensity, point.rate))
            .collect();
        self.points(sheet, &positions)?;
        left_axis(sheet, &y, left)?;
        sheet.space(HEIGHT);
        sheet.axis(&x, left, "FLOP per byte of device memory, log scale")?;
        self.names(sheet)
    }

    /// Draws the roof and labels its parts.
    fn roof<B: DrawingBackend>(
        &self,
        sheet: &Sheet<B>,
        left: i32,
        roof: [Position; 3],
    ) -> Drawn<B> {
        let paper = &sheet.paper;
        paper.draw(&PathElement::new(roof, BLACK_INK.stroke_width(2)))?;
        let [(start, low), (corner, height), _] = roof;
        let letters = BODY.anchored(HPos::Right);
        let memory = format!("device memory, {}B/s", number::scaled(self.bandwidth));
        // Ends where the slope is below the letters.
        let end = corner - 8 - 14 * (corner - start) / (low - height).max(1);
        let at = (end, height + 6);
        letters.write(paper, &memory, at, at.0 - left)?;
        let arithmetic = format!("arithmetic, {}FLOP/s", number::scaled(self.peak));
        letters.write(paper, &arithmetic, (RIGHT, height - 12), RIGHT - left)
    }

    /// Draws the points and their numbers.
    fn points<B: DrawingBackend>(&self, sheet: &Sheet<B>, positions: &[Position]) -> Drawn<B> {
        let paper = &sheet.paper;
        for &at in positions {
            paper.draw(&Circle::new(at, RADIUS + 1, WHITE.filled()))?;
            paper.draw(&Circle::new(at, RADIUS, BAR.filled()))?;
            if self.clock == Clock::Modelled {
                paper.draw(&Circle::new(at, RADIUS - 2, WHITE.filled()))?;
            }
        }
        for cluster in clusters(positions) {
            let (x, y) = positions[cluster[0]];
            let at = (x + NUMBER_OFFSET, y + 4);
            let room = (NUMBER.0 - NUMBER_OFFSET).min(RIGHT - at.0);
            BODY.write(paper, &numbers(cluster), at, room)?;
        }
        Ok(())
    }

    /// Lists the kernel and the exact coordinates of each number.
    fn names<B: DrawingBackend>(&self, sheet: &mut Sheet<B>) -> Drawn<B> {
        for (index, point) in self.points.iter().enumerate() {
            sheet.group(&point.variant.group)?;
            let name = format!("{}: {}", index + 1, point.variant.label);
            let intensity = number::significant(point.intensity);
            let rate = number::scaled(point.rate);
            let position = format!("{intensity} FLOP/B, {rate}FLOP/s");
            sheet.pair((BODY, &name), &position)?;
        }
        Ok(())
    }

    /// Returns the range of the horizontal axis: from well left of the ridge point, where both parts of the
    /// roof meet and the label of the slope ends, to a little right of it; all points and their numbers are
    /// inside.
    fn intensities(&self) -> Range<f64> {
        let ridge = self.peak / self.bandwidth;
        let all = || self.points.iter().map(|point| point.intensity);
        let lowest = all().fold(ridge / 150.0, |low, value| low.min(value / 2.0));
        let highest = all().fold(ridge * 10.0, |high, value| high.max(5.0 * value));
        lowest..highest
    }

    /// Returns the range of the vertical axis: from below the lowest point to above the roof.
    fn rates(&self) -> Range<f64> {
        let all = || self.points.iter().map(|point| point.rate);
        let lowest = all().fold(self.peak / 300.0, |low, value| low.min(value / 2.0));
        let highest = all().fold(self.peak, f64::max);
        lowest..highest * (highest / lowest).powf(HEADROOM)
    }
}

/// Draws the left axis, from the sheet's next line down.
fn left_axis<B: DrawingBackend>(sheet: &Sheet<B>, axis: &Axis, left: i32) -> Drawn<B> {
    let (top, bottom) = (sheet.top, sheet.top + HEIGHT);
    let paper = &sheet.paper;
    paper.draw(&PathElement::new([(left, top), (left, bottom)], GREY_INK))?;
    for (value, label) in axis.ticks() {
        let y = axis.pixel(value, (bottom, top));
        let end = left - TICK;
        paper.draw(&PathElement::new([(end, y), (left, y)], GREY_INK))?;
        let letters = BODY.anchored(HPos::Right);
        letters.write(paper, &label, (end - 3, y), LABEL_WIDTH)?;
    }
    Ok(())
}

/// Groups points that share a number's position. The first of each group is the rightmost, next to which the
/// number is drawn.
fn clusters(positions: &[Position]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by_key(|&point| (-positions[point].0, positions[point].1));
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for point in order {
        let (x, y) = positions[point];
        let near = |cluster: &&mut Vec<usize>| {
            let (right, height) = positions[cluster[0]];
            right - x < NUMBER.0 && (height - y).abs() < NUMBER.1
        };
        match clusters.iter_mut().find(near) {
            Some(cluster) => cluster.push(point),
            None => clusters.push(vec![point]),
        }
    }
    clusters
}

/// Formats the numbers of some points, counted from one: `2, 4–6`.
fn numbers(mut points: Vec<usize>) -> String {
    points.sort();
    let runs = points.chunk_by(|a, b| a + 1 == *b);
    let runs = runs.map(|run| match run {
        [first, .., last] => format!("{}–{}", first + 1, last + 1),
        _ => (run[0] + 1).to_string(),
    });
    runs.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_overlap() {
        let positions: Vec<Position> = (0..40).map(|i| (i * 37 % 101, i * 53 % 89)).collect();
        let clusters = clusters(&positions);
        let mut all = clusters.concat();
        all.sort();
        assert!(all.into_iter().eq(0..40), "each point has one number");
        for (index, cluster) in clusters.iter().enumerate() {
            for other in &clusters[..index] {
                let ((x, y), (u, v)) = (positions[cluster[0]], positions[other[0]]);
                assert!((x - u).abs() >= NUMBER.0 || (y - v).abs() >= NUMBER.1);
            }
        }
        assert!(BODY.width("38–40") <= NUMBER.0 - NUMBER_OFFSET);
    }

    #[test]
    fn points_at_one_position_share_a_number() {
        let positions = [(50, 80), (200, 20), (52, 81), (50, 80)];
        assert_eq!(clusters(&positions), [vec![1], vec![2, 0, 3]]);
        assert_eq!(numbers(vec![2, 0, 3]), "1, 3–4");
    }
}
