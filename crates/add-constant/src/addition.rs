//! What the table says of a variant: what it added, and how fast.

use common::report::Details;
use common::timing::Timing;
use serde::Serialize;

use crate::pattern::AccessPattern;

/// A sum's bytes in global memory: its input read, and itself written.
const BYTES: f64 = 2.0 * size_of::<i32>() as f64;

/// Some sums in an access pattern.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Addition {
    /// How many sums.
    pub sums: u32,
    /// Which value is added to which input; `None` where it is the same everywhere.
    pub pattern: Option<AccessPattern>,
    /// Inputs read and sums written, 8 bytes a sum, in milliards (10^9) of bytes a second; `None`
    /// where the time is 0. What the values take is not counted.
    pub gb_per_s: Option<f64>,
}

impl Addition {
    /// One that takes the median time.
    pub fn new(sums: u32, pattern: Option<AccessPattern>, timing: &Timing) -> Self {
        let gb_per_s = BYTES * f64::from(sums) / (timing.median_ms * 1e6);
        Addition {
            sums,
            pattern,
            gb_per_s: gb_per_s.is_finite().then_some(gb_per_s),
        }
    }
}

impl Details for Addition {
    const COLUMNS: &'static [&'static str] = &["sums", "access pattern", "GB/s"];

    fn cells(&self) -> Vec<String> {
        let rate = self.gb_per_s.map(|rate| format!("{rate:.1}"));
        vec![
            self.sums.to_string(),
            self.pattern.map_or("–", AccessPattern::name).to_owned(),
            rate.unwrap_or_else(|| "–".to_owned()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(median_ms: f64) -> Timing {
        Timing {
            median_ms,
            min_ms: 0.0,
            max_ms: 1.0,
            samples: 1,
            launches_per_sample: 1,
        }
    }

    #[test]
    fn a_sum_is_eight_bytes() {
        let pattern = Some(AccessPattern::PseudoRandom);
        let addition = Addition::new(12_800_000, pattern, &timing(0.1));
        assert_eq!(addition.gb_per_s, Some(1024.0));
        assert_eq!(addition.cells(), ["12800000", "pseudo_random", "1024.0"]);
    }

    #[test]
    fn no_time_is_no_rate() {
        let addition = Addition::new(17, None, &timing(0.0));
        assert_eq!(addition.gb_per_s, None);
        assert_eq!(addition.cells(), ["17", "–", "–"]);
    }
}
