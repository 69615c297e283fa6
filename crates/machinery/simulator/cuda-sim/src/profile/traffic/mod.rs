//! The memory traffic of a warp's access, computed from its addresses.
//!
//! All functions are pure functions of 32 addresses, the mask of active lanes, and the bytes per lane: 1, 2,
//! 4, 8 or 16, at addresses that are multiples of it, as hardware requires. They are called for each profiled
//! access, so the two most common patterns, uniform and contiguous addresses, have fast paths, and nothing is
//! allocated.
//!
//! The rules are those of an NVIDIA H200, determined with `scripts/accesses.cu`; `h200.txt` has the measured
//! counters.

mod banks;
mod constant;
mod copy;
mod distinct;
mod global;
mod pattern;
mod shared;

pub use banks::{bank, first_lane_per_bank};
pub use constant::constant;
pub use copy::{CopyTraffic, copy, copy_past_l1};
pub use global::{GlobalTraffic, global, global_atomic, lines};
pub use shared::{
    CasLoop, RepeatedAccess, SharedTraffic, cas_loop, matrices, shared, shared_atomic,
};

use crate::lanes::LANES;

/// Bytes per line of the L1 cache.
pub const LINE: u64 = 128;
/// Bytes per sector.
pub const SECTOR: u64 = 32;
/// Bytes per word: the width of each of the 32 banks of the data stage.
pub const WORD: u64 = 4;
/// The number of banks of the data stage. One word from each is a line.
pub const BANKS: usize = LANES;

#[cfg(test)]
mod tests;
