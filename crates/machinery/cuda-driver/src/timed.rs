//! A launch whose time is measured, as the runtime measures it and programs tell of it.

use serde::{Deserialize, Serialize};

/// A launch on a GPU that has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimedLaunch {
    /// The kernel's name in the device code.
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// What two events measure: to half a microsecond, and with the little that they take.
    pub milliseconds: f64,
}
