//! The chapter's columns: block size, bandwidth and error.

use chapter::lang::Lang;
use chapter::localize;
use chapter::report::Details;
use chapter::text::or_dash;
use common::timing::Timing;
use serde::Serialize;

/// Bytes of global memory per point: the point is read and its result written.
const BYTES: f64 = 2.0 * size_of::<f32>() as f64;

/// The properties of one run over the array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stencil {
    /// Threads per block; `None` for the copy.
    pub block: Option<u32>,
    /// Bandwidth of points and results, 8 bytes per point, in 10⁹ bytes per second; `None` if the time is 0.
    /// Halos and coefficients are not counted.
    pub gb_per_s: Option<f64>,
    /// Largest error of the derivative, which is between −1 and 1; `None` for the copy.
    pub largest_error: Option<f64>,
}

impl Stencil {
    /// Creates the columns for a run over `points` points in the median time.
    pub fn new(
        points: usize,
        block: Option<u32>,
        largest_error: Option<f64>,
        timing: &Timing,
    ) -> Self {
        Stencil {
            block,
            gb_per_s: timing.giga_per_second(BYTES * points as f64),
            largest_error,
        }
    }
}

impl Details for Stencil {
    fn columns(&self, lang: Lang) -> &'static [&'static str] {
        lang.pick(
            &["block", "GB/s", "largest error"],
            &["线程块", "GB/s", "最大误差"],
        )
    }

    fn cells(&self) -> Vec<String> {
        let cells = [
            self.block.map(|block| block.to_string()),
            self.gb_per_s.map(|rate| format!("{rate:.1}")),
            self.largest_error.map(|error| format!("{error:.2e}")),
        ];
        cells.map(or_dash).to_vec()
    }

    fn case(&self, lang: Lang) -> String {
        let case = self
            .block
            .map(|block| localize!(lang, "blocks of {} threads", "每块 {} 个线程"; block));
        case.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_eight_bytes() {
        let stencil = Stencil::new(1 << 24, Some(32), Some(1.9716e-5), &Timing::once(0.125));
        assert_eq!(stencil.gb_per_s, Some(1073.741824));
        assert_eq!(stencil.cells(), ["32", "1073.7", "1.97e-5"]);
        assert_eq!(stencil.case(Lang::En), "blocks of 32 threads");
    }

    #[test]
    fn unknown_values_are_dashes() {
        let stencil = Stencil::new(1, None, None, &Timing::once(0.0));
        assert_eq!(stencil.gb_per_s, None);
        assert_eq!(stencil.cells(), ["–", "–", "–"]);
        assert_eq!(stencil.case(Lang::En), "");
    }
}
