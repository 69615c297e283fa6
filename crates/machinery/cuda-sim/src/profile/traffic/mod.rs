//! From the addresses of a warp's access to what the memory system does for it.
//!
//! Pure functions of 32 addresses, the mask of the lanes that take part, and the bytes each of
//! them moves: 1, 2, 4, 8 or 16, at addresses that are multiples of it, as hardware demands. They
//! are called for every access that is profiled, so the two most common patterns, one address and
//! consecutive ones, are told apart first, and nothing is allocated.
//!
//! The rules are those of an NVIDIA H200, found with `scripts/accesses.cu`; `h200.txt` has
//! what it answered.

mod banks;
mod constant;
mod copy;
mod distinct;
mod global;
mod pattern;
mod shared;

pub use banks::{bank, first_at_banks};
pub use constant::constant;
pub use copy::{CopyTraffic, copy, copy_past_l1};
pub use global::{GlobalTraffic, global, global_atomic, lines};
pub use shared::{Repeated, Retried, SharedTraffic, matrices, retried, shared, shared_atomic};

use crate::lanes::LANES;

/// Bytes of a line of the L1 cache.
pub const LINE: u64 = 128;
/// Bytes of a sector.
pub const SECTOR: u64 = 32;
/// Bytes of a word: what one of the 32 banks of the data stage gives at once.
pub const WORD: u64 = 4;
/// Banks of the data stage, side by side: a word of each is a line.
pub const BANKS: usize = LANES;

#[cfg(test)]
mod tests;
