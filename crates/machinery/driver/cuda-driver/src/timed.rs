//! A launch on a GPU with its measured time, in the form that programs serialize.

use serde::{Deserialize, Serialize};

/// A completed launch on a GPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimedLaunch {
    /// The kernel's name in the device code.
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The time between two events, in milliseconds. The resolution is 0.5 µs; the events' own overhead is
    /// included.
    pub milliseconds: f64,
}
