//! What the table says of a variant: its block, its rate and its error.

use chapter::report::Details;
use chapter::report::table::or_dash;
use common::timing::Timing;
use serde::Serialize;

/// A point's bytes in global memory: itself read, and its result written.
const BYTES: f64 = 2.0 * size_of::<f32>() as f64;

/// One run over the array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stencil {
    /// Threads of a block; `None` for the copy.
    pub block: Option<u32>,
    /// Points read and results written, 8 bytes a point, in milliards (10^9) of bytes a second;
    /// `None` where the time is 0. What halos and coefficients take is not counted.
    pub gb_per_s: Option<f64>,
    /// How far the derivative, which is between −1 and 1, is off at most; `None` for the copy.
    pub largest_error: Option<f64>,
}

impl Stencil {
    /// One over `points` points that takes the median time.
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
    fn columns(&self) -> &'static [&'static str] {
        &["block", "GB/s", "derivative off by"]
    }

    fn cells(&self) -> Vec<String> {
        let cells = [
            self.block.map(|block| block.to_string()),
            self.gb_per_s.map(|rate| format!("{rate:.1}")),
            self.largest_error.map(|error| format!("{error:.2e}")),
        ];
        cells.map(or_dash).to_vec()
    }

    fn case(&self) -> String {
        let case = self.block.map(|block| format!("blocks of {block} threads"));
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
        assert_eq!(stencil.case(), "blocks of 32 threads");
    }

    #[test]
    fn what_is_not_known_is_a_dash() {
        let stencil = Stencil::new(1, None, None, &Timing::once(0.0));
        assert_eq!(stencil.gb_per_s, None);
        assert_eq!(stencil.cells(), ["–", "–", "–"]);
        assert_eq!(stencil.case(), "");
    }
}
