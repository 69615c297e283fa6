//! The arithmetic rate of a matrix multiplication.

use chapter::lang::Lang;
use chapter::report::Details;
use chapter::text::or_dash;
use common::timing::Timing;
use serde::Serialize;

use crate::flags::ProductFlags;

/// The chapter's column: the rate of floating-point operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Additions and multiplications in 10⁹ per second, 2MNP per matrix multiplication; `None` if the time is
    /// 0.
    pub gflop_per_s: Option<f64>,
}

impl Rate {
    /// Creates the rate of a matrix multiplication in the median time.
    pub fn of(product: &ProductFlags, timing: &Timing) -> Self {
        let [m, n, p] = [product.m, product.n, product.p].map(f64::from);
        Rate {
            gflop_per_s: timing.giga_per_second(2.0 * m * n * p),
        }
    }
}

impl Details for Rate {
    fn columns(&self, _: Lang) -> &'static [&'static str] {
        &["GFLOP/s"]
    }

    fn cells(&self) -> Vec<String> {
        let cell = self.gflop_per_s.map(|rate| match rate {
            10_000.0.. => format!("{rate:.0}"),
            _ => format!("{rate:.1}"),
        });
        vec![or_dash(cell)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::Fill;

    fn rate(median_ms: f64) -> Rate {
        let product = ProductFlags {
            m: 480,
            n: 640,
            p: 320,
            fill: Fill::Random,
            seed: 1,
        };
        Rate::of(&product, &Timing::once(median_ms))
    }

    #[test]
    fn a_multiplication_and_an_addition_count_as_two() {
        // 196 608 000 operations in a tenth of a millisecond.
        assert_eq!(rate(0.1).gflop_per_s, Some(1966.08));
        assert_eq!(rate(0.1).cells(), ["1966.1"]);
    }

    #[test]
    fn no_time_gives_no_rate() {
        assert_eq!(rate(0.0).gflop_per_s, None);
        assert_eq!(rate(0.0).cells(), ["–"]);
    }
}
