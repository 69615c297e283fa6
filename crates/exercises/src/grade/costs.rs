//! The modelled costs of kernels: their times, and the counters that have targets.

use serde::{Deserialize, Serialize};

/// The modelled costs of a kernel at one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// The time in milliseconds, without that of launching.
    pub milliseconds: f64,
    /// The counter of each target; 0 for a share of the limit.
    pub counters: Vec<u64>,
}

/// The number of sizes at which costs are compared: the graded one, one beyond it, one below it, the last of the tests, and
/// one of any proportions.
pub const SIZES: usize = 5;

/// The costs of the course's own files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceCosts {
    /// The start file's time at the graded size in milliseconds, if its results are correct.
    pub start_ms: Option<f64>,
    /// The solution's costs at each size.
    pub solution: [Costs; SIZES],
}
