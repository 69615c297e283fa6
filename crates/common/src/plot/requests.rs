//! Requests by pattern: what each variant asks of global, shared and constant memory.

use cuda_driver::counters::Tally;
use plotters::prelude::*;

use super::axis::Axis;
use super::frame::{BELOW, Frame};
use super::pen::{self, BLACK_INK, BODY, Drawn, GREY_INK, Letters, Paper};
use super::rows::{Row, column, rows};
use super::{Figure, page};
use crate::gpu::Clock;
use crate::number;

/// Height of one bar and its space.
const LINE: i32 = 19;
/// Between one variant and the next.
const GAP: i32 = 10;
/// A bar of requests, and the paler one behind it.
const THICKNESS: (i32, i32) = (7, 13);
/// Room for "global stores".
const KIND: i32 = 104;
/// Room for the counts, to the right of the longest bar.
const VALUE: i32 = 262;
/// From the explanation's line to the first row.
const ABOVE: i32 = 30;

/// The chart of requests.
pub struct Requests<'a> {
    rows: Vec<Row<'a>>,
    height: i32,
    kinds: Vec<&'static Kind>,
}

/// A kind of access.
struct Kind {
    name: &'static str,
    color: RGBColor,
    requests: fn(&Tally) -> u64,
    parts: Option<Parts>,
}

/// What requests are made of.
struct Parts {
    name: &'static str,
    count: fn(&Tally) -> u64,
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "global loads",
        color: pen::LOADS,
        requests: |tally| tally.global_loads.requests,
        parts: Some(Parts {
            name: "sectors",
            count: |tally| tally.global_loads.sectors,
        }),
    },
    Kind {
        name: "global stores",
        color: pen::STORES,
        requests: |tally| tally.global_stores.requests,
        parts: Some(Parts {
            name: "sectors",
            count: |tally| tally.global_stores.sectors,
        }),
    },
    Kind {
        name: "shared",
        color: pen::SHARED,
        requests: |tally| tally.shared_loads.requests + tally.shared_stores.requests,
        parts: Some(Parts {
            name: "wavefronts",
            count: |tally| tally.shared_loads.wavefronts + tally.shared_stores.wavefronts,
        }),
    },
    Kind {
        name: "constant",
        color: pen::CONSTANT,
        requests: |tally| tally.constant.requests,
        parts: None,
    },
];

impl<'a> Requests<'a> {
    /// Of the variants whose accesses were counted.
    ///
    /// # Errors
    ///
    /// Why there is no such chart, for the reader.
    pub fn new(figure: &'a Figure) -> Result<Self, &'static str> {
        let counted = || {
            figure
                .shown()
                .iter()
                .filter(|variant| variant.tally.is_some())
        };
        let tallies = || counted().filter_map(|variant| variant.tally.as_ref());
        if counted().next().is_none() {
            return Err(match figure.gpu.time {
                Clock::Measured => {
                    "Requests are not shown: a GPU's counters take a profiler; \
                     the simulator counts them itself."
                }
                Clock::Modelled => "Requests are not shown: they were not counted.",
            });
        }
        let kinds: Vec<&Kind> = KINDS
            .iter()
            .filter(|kind| tallies().any(|tally| (kind.requests)(tally) > 0))
            .collect();
        if kinds.is_empty() {
            return Err("Requests are not shown: no kernel here accesses memory.");
        }
        let (rows, height) = rows(counted(), kinds.len() as i32 * LINE + GAP);
        Ok(Requests {
            rows,
            height,
            kinds,
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
        let names = column(names, page::WIDTH / 4);
        let left = page::MARGIN + names + 10 + KIND;
        let top = top + ABOVE;
        let frame = Frame {
            left,
            top,
            right: page::WIDTH - page::MARGIN - VALUE,
            bottom: top + self.height,
        };
        let name = "requests, sectors and wavefronts of one launch, log scale";
        let chart = frame.bars(paper, self.axis(), name)?;
        let end = |count: u64| chart.map_coordinate(&(count as f64, 0.0)).0;
        let body = Letters::new(BODY, BLACK_INK);
        for row in &self.rows {
            if let Some((name, middle)) = row.name {
                let at = (page::MARGIN, top + middle);
                Letters::new(BODY, GREY_INK).write(paper, name, at, page::WIDTH / 2)?;
            }
            let Some(tally) = &row.variant.tally else {
                continue;
            };
            let first = top + row.top + GAP / 2 + LINE / 2;
            body.write(paper, &row.variant.label, (page::MARGIN, first), names)?;
            for (index, kind) in self.kinds.iter().enumerate() {
                kind.draw(paper, tally, (left, first + index as i32 * LINE), end)?;
            }
        }
        Ok(())
    }

    fn legend<B: DrawingBackend>(&self, paper: &Paper<B>, middle: i32) -> Drawn<B> {
        let text = "thin: requests, one per warp and instruction (constant: per distinct address); \
                    pale: the 32-byte sectors or wavefronts they take";
        let at = (page::MARGIN, middle);
        Letters::new(BODY, GREY_INK).write(paper, text, at, page::WIDTH - 2 * page::MARGIN)
    }

    fn axis(&self) -> Axis {
        let tallies = self
            .rows
            .iter()
            .filter_map(|row| row.variant.tally.as_ref());
        let counts = tallies.flat_map(|tally| {
            self.kinds.iter().flat_map(move |kind| {
                let parts = kind.parts.as_ref().map_or(0, |parts| (parts.count)(tally));
                [(kind.requests)(tally) as f64, parts as f64]
            })
        });
        Axis::logarithmic(counts, number::scaled)
    }
}

impl Kind {
    /// A variant's bar of this kind, with its name before and its counts behind. It begins at
    /// `start`; `end` is where a bar of so many ends.
    fn draw<B: DrawingBackend>(
        &self,
        paper: &Paper<B>,
        tally: &Tally,
        (start, middle): (i32, i32),
        end: impl Fn(u64) -> i32,
    ) -> Drawn<B> {
        let name = Letters::new(BODY, GREY_INK).ending();
        name.write(paper, self.name, (start - 8, middle), KIND)?;
        let requests = (self.requests)(tally);
        let parts = self.parts.as_ref().map_or(0, |parts| (parts.count)(tally));
        let (thin, thick) = THICKNESS;
        let bars = [(parts, thick, 0.35), (requests, thin, 1.0)];
        for (count, thickness, opacity) in bars.into_iter().filter(|bar| bar.0 > 0) {
            let upper = middle - thickness / 2;
            let corners = [(start, upper), (end(count), upper + thickness)];
            let color = self.color.mix(opacity).filled();
            paper.draw(&Rectangle::new(corners, color))?;
        }
        let x = match requests.max(parts) {
            0 => start,
            longest => end(longest),
        };
        let value = match &self.parts {
            _ if requests == 0 => "none".to_owned(),
            None => counted(requests, "requests"),
            Some(Parts { name, .. }) => {
                let requests = counted(requests, "requests");
                format!("{requests}, {}", counted(parts, name))
            }
        };
        Letters::new(BODY, BLACK_INK).write(paper, &value, (x + 6, middle), VALUE)
    }
}

/// A count and what it is of.
fn counted(count: u64, name: &str) -> String {
    let one = name.trim_end_matches('s');
    let name = if count == 1 { one } else { name };
    format!("{} {name}", number::count(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::font;

    #[test]
    fn there_is_room_for_any_count() {
        for count in [8888, 88_888, 888_888, 8_888_888_888, 88_888_888_888_888] {
            let requests = counted(count, "requests");
            let value = format!("{requests}, {}", counted(count, "wavefronts"));
            assert!(font::width(&value, BODY) <= f64::from(VALUE), "{value}");
        }
        for kind in KINDS {
            assert!(
                font::width(kind.name, BODY) <= f64::from(KIND - 8),
                "{}",
                kind.name
            );
        }
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "requests"), "1 request");
        assert_eq!(counted(0, "sectors"), "0 sectors");
    }
}
