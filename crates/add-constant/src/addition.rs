//! The chapter's columns: the additions and their bandwidth.

use chapter::lang::Lang;
use chapter::localize;
use chapter::report::Details;
use chapter::text::or_dash;
use common::timing::Timing;
use serde::Serialize;

use crate::pattern::AccessPattern;

/// Bytes of global memory per addition: its input is read and its sum written.
const BYTES: f64 = 2.0 * size_of::<i32>() as f64;

/// The additions of one launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Addition {
    /// The number of additions.
    pub sums: u32,
    /// The access pattern of the values; `None` if all additions use the same value.
    pub pattern: Option<AccessPattern>,
    /// Bandwidth of inputs and sums, 8 bytes per addition, in 10⁹ bytes per second; `None` if the time is 0.
    /// Reads of the values are not counted.
    pub gb_per_s: Option<f64>,
}

impl Addition {
    /// Creates the columns for `sums` additions in the median time.
    pub fn new(sums: u32, pattern: Option<AccessPattern>, timing: &Timing) -> Self {
        Addition {
            sums,
            pattern,
            gb_per_s: timing.giga_per_second(BYTES * f64::from(sums)),
        }
    }
}

impl Details for Addition {
    fn columns(&self, lang: Lang) -> &'static [&'static str] {
        lang.pick(
            &["sums", "access pattern", "GB/s"],
            &["加法次数", "访问模式", "GB/s"],
        )
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.sums.to_string(),
            self.pattern
                .map_or("–", AccessPattern::short_name)
                .to_owned(),
            or_dash(self.gb_per_s.map(|rate| format!("{rate:.1}"))),
        ]
    }

    fn case(&self, lang: Lang) -> String {
        let sums = localize!(lang, "{} sums", "{} 次加法"; self.sums);
        match self.pattern {
            Some(pattern) => localize!(lang, "{}, {}", "{}，{}"; sums, pattern.name()),
            None => sums,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_eight_bytes() {
        let pattern = Some(AccessPattern::PseudoRandom);
        let addition = Addition::new(12_800_000, pattern, &Timing::once(0.1));
        assert_eq!(addition.gb_per_s, Some(1024.0));
        assert_eq!(addition.cells(), ["12800000", "pseudo_random", "1024.0"]);
        assert_eq!(addition.case(Lang::En), "12800000 sums, pseudo_random");
    }

    #[test]
    fn no_time_gives_no_rate() {
        let addition = Addition::new(17, None, &Timing::once(0.0));
        assert_eq!(addition.gb_per_s, None);
        assert_eq!(addition.cells(), ["17", "–", "–"]);
        assert_eq!(addition.case(Lang::En), "17 sums");
    }
}
