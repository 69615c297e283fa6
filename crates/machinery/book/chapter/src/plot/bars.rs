//! The charts of bars: time by variant, and requests by variant (accesses to global, shared and constant memory).

use common::gpu::Clock;
use cuda_driver::counters::{AccessCounts, Tally};
use cuda_driver::{AccessSet, Memory};
use plotters::prelude::*;

use super::pen::{self, BODY, Drawn, FAINT};
use super::sheet::{Axis, LEFT, RIGHT, Sheet};
use super::{Figure, Variant};
use crate::number;

/// Thickness of a bar of time.
const TIME_THICKNESS: i32 = 9;
/// Space below a bar of time.
const TIME_GAP: i32 = 7;
/// Largest ratio of the longest to the shortest time for a linear axis, on which the shortest still has a
/// visible bar.
const WIDEST_LINEAR: f64 = 10.0;

/// Draws the chart of time by variant.
pub fn draw_times<B: DrawingBackend>(sheet: &mut Sheet<B>, figure: &Figure) -> Drawn<B> {
    let axis = time_axis(figure);
    sheet.heading("Time by variant")?;
    for variant in figure.shown() {
        sheet.group(&variant.group)?;
        let value = format!("{} ms", number::milliseconds(variant.milliseconds));
        sheet.pair((BODY, &variant.label), &value)?;
        let end = axis.pixel(variant.milliseconds, (LEFT, RIGHT));
        if end > LEFT {
            let corners = [(LEFT, sheet.top), (end, sheet.top + TIME_THICKNESS)];
            pen::bar(&sheet.paper, figure.gpu.time, corners)?;
        }
        sheet.space(TIME_THICKNESS + TIME_GAP);
    }
    let scale = axis.scale();
    let name = format!("ms per launch or copy, {}{scale}", figure.gpu.time);
    sheet.axis(&axis, LEFT, &name)
}

fn time_axis(figure: &Figure) -> Axis {
    let times = || figure.shown().iter().map(|variant| variant.milliseconds);
    let positive = || times().filter(|&time| time > 0.0);
    let shortest = positive().fold(f64::INFINITY, f64::min);
    if positive().any(|time| time > WIDEST_LINEAR * shortest) {
        Axis::logarithmic(times(), number::significant)
    } else {
        Axis::linear(times(), number::significant)
    }
}

/// Thickness of a bar of requests, and of the paler bar behind it.
const THICKNESS: (i32, i32) = (3, 7);
/// Space below a bar of requests.
const GAP: i32 = 4;
/// Space between two variants.
const VARIANT_GAP: i32 = 9;

/// The chart of requests.
pub struct Requests<'a> {
    variants: Vec<(&'a Variant, &'a Tally)>,
    kinds: Vec<&'static Kind>,
    axis: Axis,
}

/// A kind of access.
struct Kind {
    name: &'static str,
    color: RGBColor,
    classes: AccessSet,
    requests: Count,
    /// The parts of requests, sectors or wavefronts: their name and count.
    parts: Option<(&'static str, Count)>,
}

type Count = fn(&AccessCounts) -> u64;

const KINDS: [Kind; 4] = [
    Kind {
        name: "global loads",
        color: pen::LOADS,
        classes: AccessSet::loads(Memory::Global),
        requests: |counts| counts.requests,
        parts: Some(("sectors", |counts| counts.sectors)),
    },
    Kind {
        name: "global stores",
        color: pen::STORES,
        classes: AccessSet::stores(Memory::Global),
        requests: |counts| counts.requests,
        parts: Some(("sectors", |counts| counts.sectors)),
    },
    Kind {
        name: "shared memory",
        color: pen::SHARED,
        classes: AccessSet::in_memory(Memory::Shared),
        requests: |counts| counts.requests,
        parts: Some(("wavefronts", |counts| counts.wavefronts)),
    },
    Kind {
        name: "constant memory",
        color: pen::CONSTANT,
        classes: AccessSet::in_memory(Memory::Constant),
        requests: |counts| counts.addresses,
        parts: None,
    },
];

/// Returns the number of requests of all kinds.
pub fn requests(tally: &Tally) -> u64 {
    KINDS.iter().map(|kind| kind.requests(tally)).sum()
}

impl<'a> Requests<'a> {
    /// Creates the chart of the variants whose accesses were counted.
    ///
    /// # Errors
    ///
    /// Returns the reason, for readers, why there is no such chart.
    pub fn new(figure: &'a Figure) -> Result<Self, &'static str> {
        let counted = |variant: &'a Variant| Some((variant, variant.tally.as_ref()?));
        let variants: Vec<_> = figure.shown().iter().filter_map(counted).collect();
        if variants.is_empty() {
            return Err(match figure.gpu.time {
                Clock::Measured => {
                    "Requests are not shown: on a GPU, counting them needs a profiler; \
                     the simulator counts them itself."
                }
                Clock::Modelled => "Requests are not shown: they were not counted.",
            });
        }
        let tallies = || variants.iter().map(|(_, tally)| *tally);
        let is_used = |kind: &&Kind| tallies().any(|tally| kind.requests(tally) > 0);
        let kinds: Vec<&Kind> = KINDS.iter().filter(is_used).collect();
        if kinds.is_empty() {
            return Err("Requests are not shown: no kernel here accesses memory.");
        }
        let counts = tallies().flat_map(|tally| {
            let kinds = kinds.iter();
            kinds.flat_map(|kind| [kind.requests(tally) as f64, kind.parts(tally) as f64])
        });
        let axis = Axis::logarithmic(counts, number::scaled);
        Ok(Requests {
            variants,
            kinds,
            axis,
        })
    }

    /// Draws the chart.
    pub fn draw<B: DrawingBackend>(&self, sheet: &mut Sheet<B>) -> Drawn<B> {
        sheet.heading("Requests by variant")?;
        sheet.paragraph(
            "thin: requests, one per warp instruction (constant: one per distinct address); \
             pale: 32-byte sectors or wavefronts",
        )?;
        for (variant, tally) in &self.variants {
            sheet.group(&variant.group)?;
            sheet.space(VARIANT_GAP);
            sheet.text(BODY, &variant.label)?;
            for kind in &self.kinds {
                kind.draw(sheet, tally, &self.axis)?;
            }
        }
        sheet.space(VARIANT_GAP);
        let name = "requests, sectors, wavefronts per launch, log scale";
        sheet.axis(&self.axis, LEFT, name)
    }
}

impl Kind {
    fn requests(&self, tally: &Tally) -> u64 {
        (self.requests)(&tally.sum(self.classes))
    }

    /// Returns the number of parts of all requests; 0 if requests of this kind have no parts.
    fn parts(&self, tally: &Tally) -> u64 {
        self.parts
            .map_or(0, |(_, count)| count(&tally.sum(self.classes)))
    }

    /// Draws a variant's counts of this kind and their bars.
    fn draw<B: DrawingBackend>(
        &self,
        sheet: &mut Sheet<B>,
        tally: &Tally,
        axis: &Axis,
    ) -> Drawn<B> {
        let (requests, parts) = (self.requests(tally), self.parts(tally));
        if requests == 0 {
            return sheet.pair((FAINT, self.name), "none");
        }
        let mut value = counted(requests, "requests");
        if let Some((name, _)) = self.parts {
            value += &format!(", {}", counted(parts, name));
        }
        sheet.pair((FAINT, self.name), &value)?;
        let (thin, thick) = THICKNESS;
        let bars = [(parts, thick, 0.35), (requests, thin, 1.0)];
        for (count, thickness, opacity) in bars.into_iter().filter(|bar| bar.0 > 0) {
            let upper = sheet.top + (thick - thickness) / 2;
            let end = axis.pixel(count as f64, (LEFT, RIGHT));
            let corners = [(LEFT, upper), (end, upper + thickness)];
            let color = self.color.mix(opacity).filled();
            sheet.paper.draw(&Rectangle::new(corners, color))?;
        }
        sheet.space(thick + GAP);
        Ok(())
    }
}

/// Formats a count with its noun.
fn counted(count: u64, name: &str) -> String {
    let singular = name.trim_end_matches('s');
    let name = if count == 1 { singular } else { name };
    format!("{} {name}", number::count(count))
}

#[cfg(test)]
mod tests {
    use cuda_driver::{AccessClass, Direction};

    use super::*;

    /// The Chinese translations of a plot's text.
    const PHRASES: &str = include_str!("../../../../../../scripts/warpbook/pages/plots.py");

    #[test]
    fn every_bar_has_a_chinese_name() {
        for kind in KINDS {
            let phrase = format!("\n    \"{}\": \"", kind.name);
            assert!(PHRASES.contains(&phrase), "{}", kind.name);
        }
    }

    #[test]
    fn every_class_of_accesses_is_drawn_once() {
        for &class in AccessClass::ALL {
            let bars = KINDS.iter().filter(|kind| kind.classes.contains(class));
            // Left out: rare accesses, and accesses that the source does not contain.
            let row = class.row();
            let is_omitted = row.memory == Memory::Local
                || row.memory == Memory::Global && row.direction == Direction::Updates;
            assert_eq!(bars.count(), usize::from(!is_omitted), "{}", row.name);
        }
    }

    #[test]
    fn matrix_loads_are_drawn_as_shared_memory() {
        let loads = AccessCounts {
            requests: 3,
            wavefronts: 12,
            ..AccessCounts::default()
        };
        let tally = Tally::of([(AccessClass::MatrixLoad, loads)]);
        let drawn = KINDS.iter().filter(|kind| kind.requests(&tally) > 0);
        let drawn = drawn.map(|kind| (kind.name, kind.requests(&tally), kind.parts(&tally)));
        assert!(drawn.eq([("shared memory", 3, 12)]));
    }

    #[test]
    fn a_count_of_one_is_singular() {
        assert_eq!(counted(1, "requests"), "1 request");
        assert_eq!(counted(0, "sectors"), "0 sectors");
    }

    #[test]
    fn counts_fit_next_to_their_names() {
        for count in [8888, 88_888, 888_888, 8_888_888_888, 88_888_888_888_888] {
            for kind in KINDS {
                let parts = kind.parts.map_or("sectors", |(name, _)| name);
                let value = format!("{}, {}", counted(count, "requests"), counted(count, parts));
                let wide = BODY.width(&value) + FAINT.width(kind.name);
                assert!(wide <= RIGHT - LEFT - 8, "{} {value}: {wide}", kind.name);
            }
        }
    }
}
