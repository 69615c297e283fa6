//! The roofline: how near each kernel comes to what the GPU can do.
//!
//! Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::pen::{BAR, BLACK_INK, BODY, Drawn, FAINT, GREY_INK};
use super::sheet::{LEFT, RIGHT, Sheet, TICK};
use super::{Figure, Variant};
use crate::number;
use common::gpu::Clock;

const HEIGHT: i32 = 230;
/// To the left of the chart, for its ticks' labels.
const BESIDE: i32 = 52;
/// Above the highest point and the roof, for a line of text: a share of what is below.
const ABOVE: f64 = 0.13;
const RADIUS: i32 = 4;
/// From a point's middle to its number.
const BEHIND: i32 = 7;
/// What a point's number takes, to the right of it: nearer points share one.
const NUMBER: (i32, i32) = (56, 16);

/// The chart of the roofline.
pub struct Roof<'a> {
    points: Vec<Point<'a>>,
    /// Operations a second.
    peak: f64,
    /// Bytes a second.
    bandwidth: f64,
    clock: Clock,
}

/// A kernel's place.
struct Point<'a> {
    variant: &'a Variant,
    /// Operations a byte.
    intensity: f64,
    /// Operations a second.
    rate: f64,
}

/// A place in the picture.
type Place = (i32, i32);

impl<'a> Point<'a> {
    /// None where it computes nothing, or moves nothing, or takes no time.
    fn of(variant: &'a Variant) -> Option<Self> {
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
    /// Of the variants that compute in floating point.
    ///
    /// # Errors
    ///
    /// Why there is no such chart, for the reader.
    pub fn new(figure: &'a Figure) -> Result<Self, &'static str> {
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
        let (peak, bandwidth) = (known.peak_operations, known.peak_bandwidth);
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

    /// Draws it, with the points' names below.
    pub fn draw<B: DrawingBackend>(&self, sheet: &mut Sheet<B>) -> Drawn<B> {
        sheet.heading("Roofline")?;
        sheet.text(FAINT, &format!("FLOP/s, {}, log scale", self.clock))?;
        let (left, top, bottom) = (LEFT + BESIDE, sheet.top, sheet.top + HEIGHT);
        let (intensities, rates) = (self.intensities(), self.rates());
        let x = Axis::between(intensities.clone(), number::plain);
        let y = Axis::between(rates.clone(), number::scaled);
        let place = |intensity: f64, rate: f64| {
            let across = x.place(intensity, (left, RIGHT));
            (across, y.place(rate, (bottom, top)))
        };
        let start = intensities.start.max(rates.start / self.bandwidth);
        let roof = [
            place(start, start * self.bandwidth),
            place(self.peak / self.bandwidth, self.peak),
            place(intensities.end, self.peak),
        ];
        self.roof(sheet, left, roof)?;
        let places: Vec<Place> = self
            .points
            .iter()
            .map(|point| place(point.intensity, point.rate))
            .collect();
        self.points(sheet, &places)?;
        rising(sheet, &y, left)?;
        sheet.space(HEIGHT);
        sheet.axis(&x, left, "FLOP a byte of device memory, log scale")?;
        self.names(sheet)
    }

    /// The line that no kernel can be above, and what its parts are.
    fn roof<B: DrawingBackend>(&self, sheet: &Sheet<B>, left: i32, roof: [Place; 3]) -> Drawn<B> {
        let paper = &sheet.paper;
        paper.draw(&PathElement::new(roof, BLACK_INK.stroke_width(2)))?;
        let [(start, low), (corner, height), _] = roof;
        let letters = BODY.anchored(HPos::Right);
        let memory = format!("device memory, {}B/s", number::scaled(self.bandwidth));
        // Where the slope is below the letters.
        let end = corner - 8 - 14 * (corner - start) / (low - height).max(1);
        let at = (end, height + 6);
        letters.write(paper, &memory, at, at.0 - left)?;
        let arithmetic = format!("arithmetic, {}FLOP/s", number::scaled(self.peak));
        letters.write(paper, &arithmetic, (RIGHT, height - 12), RIGHT - left)
    }

    /// The points, and their numbers.
    fn points<B: DrawingBackend>(&self, sheet: &Sheet<B>, places: &[Place]) -> Drawn<B> {
        let paper = &sheet.paper;
        for &at in places {
            paper.draw(&Circle::new(at, RADIUS + 1, WHITE.filled()))?;
            paper.draw(&Circle::new(at, RADIUS, BAR.filled()))?;
            if self.clock == Clock::Modelled {
                paper.draw(&Circle::new(at, RADIUS - 2, WHITE.filled()))?;
            }
        }
        for cluster in clusters(places) {
            let (x, y) = places[cluster[0]];
            let at = (x + BEHIND, y + 4);
            let room = (NUMBER.0 - BEHIND).min(RIGHT - at.0);
            BODY.write(paper, &numbers(cluster), at, room)?;
        }
        Ok(())
    }

    /// Which number is which kernel, and where exactly it is.
    fn names<B: DrawingBackend>(&self, sheet: &mut Sheet<B>) -> Drawn<B> {
        for (index, point) in self.points.iter().enumerate() {
            sheet.group(&point.variant.group)?;
            let name = format!("{}: {}", index + 1, point.variant.label);
            let intensity = number::plain(point.intensity);
            let rate = number::scaled(point.rate);
            let place = format!("{intensity} FLOP/B, {rate}FLOP/s");
            sheet.pair((BODY, &name), &place)?;
        }
        Ok(())
    }

    /// From a good way left of the ridge, where both parts of the roof meet and the name of the
    /// slope ends, to a little right of it; every point and its number is within.
    fn intensities(&self) -> Range<f64> {
        let ridge = self.peak / self.bandwidth;
        let all = || self.points.iter().map(|point| point.intensity);
        let lowest = all().fold(ridge / 150.0, |low, one| low.min(one / 2.0));
        let highest = all().fold(ridge * 10.0, |high, one| high.max(5.0 * one));
        lowest..highest
    }

    /// From below the lowest point to above the roof.
    fn rates(&self) -> Range<f64> {
        let all = || self.points.iter().map(|point| point.rate);
        let lowest = all().fold(self.peak / 300.0, |low, one| low.min(one / 2.0));
        let highest = all().fold(self.peak, f64::max);
        lowest..highest * (highest / lowest).powf(ABOVE)
    }
}

/// The axis on the left, from the sheet's next line down.
fn rising<B: DrawingBackend>(sheet: &Sheet<B>, axis: &Axis, left: i32) -> Drawn<B> {
    let (top, bottom) = (sheet.top, sheet.top + HEIGHT);
    let paper = &sheet.paper;
    paper.draw(&PathElement::new([(left, top), (left, bottom)], GREY_INK))?;
    for (value, label) in axis.ticks() {
        let y = axis.place(value, (bottom, top));
        let end = left - TICK;
        paper.draw(&PathElement::new([(end, y), (left, y)], GREY_INK))?;
        let letters = BODY.anchored(HPos::Right);
        letters.write(paper, &label, (end - 3, y), BESIDE)?;
    }
    Ok(())
}

/// Which points share a number's place. The first of each is the one furthest to the right, beside
/// which the number stands.
fn clusters(places: &[Place]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&point| (-places[point].0, places[point].1));
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for point in order {
        let (x, y) = places[point];
        let near = |cluster: &&mut Vec<usize>| {
            let (right, height) = places[cluster[0]];
            right - x < NUMBER.0 && (height - y).abs() < NUMBER.1
        };
        match clusters.iter_mut().find(near) {
            Some(cluster) => cluster.push(point),
            None => clusters.push(vec![point]),
        }
    }
    clusters
}

/// The numbers of some points, counted from one: `2, 4–6`.
fn numbers(mut points: Vec<usize>) -> String {
    points.sort();
    let runs = points.chunk_by(|one, next| one + 1 == *next);
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
    fn numbers_keep_apart() {
        let places: Vec<Place> = (0..40).map(|i| (i * 37 % 101, i * 53 % 89)).collect();
        let clusters = clusters(&places);
        let mut all = clusters.concat();
        all.sort();
        assert!(all.into_iter().eq(0..40), "each point has one number");
        for (index, one) in clusters.iter().enumerate() {
            for other in &clusters[..index] {
                let ((x, y), (u, v)) = (places[one[0]], places[other[0]]);
                assert!((x - u).abs() >= NUMBER.0 || (y - v).abs() >= NUMBER.1);
            }
        }
        assert!(BODY.width("38–40") <= NUMBER.0 - BEHIND);
    }

    #[test]
    fn points_in_one_place_share_a_number() {
        let places = [(50, 80), (200, 20), (52, 81), (50, 80)];
        assert_eq!(clusters(&places), [vec![1], vec![2, 0, 3]]);
        assert_eq!(numbers(vec![2, 0, 3]), "1, 3–4");
    }
}
