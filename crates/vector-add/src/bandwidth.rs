//! The bandwidth of a copy or a kernel.

use chapter::lang::Lang;
use chapter::report::Details;
use chapter::table::or_dash;
use common::timing::Timing;
use serde::Serialize;

/// The chapter's columns: bytes moved and bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Bytes that a copy moves, or that a kernel reads and writes.
    bytes: u64,
    /// Bytes divided by the median time, in 10⁹ bytes per second; `None` if the time is 0.
    gb_per_s: Option<f64>,
}

impl Bandwidth {
    /// Creates the columns for `bytes` per copy or launch.
    pub fn new(bytes: u64, timing: &Timing) -> Self {
        Bandwidth {
            bytes,
            gb_per_s: timing.giga_per_second(bytes as f64),
        }
    }
}

impl Details for Bandwidth {
    fn columns(&self, lang: Lang) -> &'static [&'static str] {
        lang.pick(&["bytes", "GB/s"], &["字节数", "GB/s"])
    }

    fn cells(&self) -> Vec<String> {
        let rate = self.gb_per_s.map(|rate| format!("{rate:.1}"));
        vec![self.bytes.to_string(), or_dash(rate)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bandwidth(bytes: u64, median_ms: f64) -> Bandwidth {
        Bandwidth::new(bytes, &Timing::once(median_ms))
    }

    #[test]
    fn a_gigabyte_is_a_thousand_million_bytes() {
        let half_a_second = bandwidth(1_000_000_000, 500.0);
        assert_eq!(half_a_second.gb_per_s, Some(2.0));
        assert_eq!(half_a_second.cells(), ["1000000000", "2.0"]);
    }

    #[test]
    fn no_time_gives_no_bandwidth() {
        assert_eq!(bandwidth(64, 0.0).gb_per_s, None);
        assert_eq!(bandwidth(64, 0.0).cells(), ["64", "–"]);
    }
}
