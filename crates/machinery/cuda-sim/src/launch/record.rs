//! One launch, all that is known of it.

use serde::{Deserialize, Serialize};

use crate::model::Modelled;
use crate::profile::{Counters, LaunchProfile};

/// What the simulator tells of a launch when it is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// The kernel's name.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// What is counted in any case.
    pub counters: Counters,
    /// The time it would take on the modelled GPU, and why.
    pub time: Modelled,
    /// What was counted where profiling was on.
    pub profile: Option<LaunchProfile>,
}
