//! Schedules of warps and blocks, and their limits: random schedules, the detection of spinning warps, the time
//! limit and the progress of a launch, and its interruption. The SM ([`super::sm`]) applies them.

pub mod interrupt;
pub mod progress;
pub mod random_schedule;
pub mod spin;
pub mod time_limit;
