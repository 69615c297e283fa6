//! The memory traffic of a warp's access, computed from its addresses.
//!
//! All functions are pure functions of 32 addresses, the mask of active lanes, and the bytes per lane: 1, 2,
//! 4, 8 or 16, at addresses that are multiples of it, as hardware requires. They are called for each profiled
//! access, so the two most common patterns, uniform and contiguous addresses, have fast paths, and nothing is
//! allocated.
//!
//! The rules are those of an NVIDIA H200, determined with `scripts/accesses.cu`; `h200.txt` has the measured
//! counters.

mod global;
mod shared;

pub use global::{
    CopyTraffic, GlobalTraffic, constant, copy, copy_past_l1, global, global_atomic, lines,
};
pub use shared::{
    CasLoop, RepeatedAccess, SharedTraffic, bank, cas_loop, first_lane_per_bank, matrices, shared,
    shared_atomic,
};

use crate::lanes::{FULL, LANES, active};

/// Bytes per line of the L1 cache.
pub const LINE: u64 = 128;
/// Bytes per sector.
pub const SECTOR: u64 = 32;
/// Bytes per word: the width of each of the 32 banks of the data stage.
pub const WORD: u64 = 4;
/// The number of banks of the data stage. One word from each is a line.
pub const BANKS: usize = LANES;

/// The pattern of the active lanes' addresses.
#[derive(Clone, Copy)]
enum AddressPattern {
    /// No lane is active.
    None,
    /// All active lanes have this address.
    Uniform(u64),
    /// All 32 lanes are active, and their addresses are contiguous from this address on.
    Contiguous(u64),
    /// Any other pattern.
    Scattered,
}

impl AddressPattern {
    #[inline(always)]
    pub fn of(addresses: &[u64; LANES], mask: u32, bytes: u64) -> AddressPattern {
        if mask == 0 {
            return AddressPattern::None;
        }
        let start = addresses[mask.trailing_zeros() as usize];
        let (mut differ, mut not_contiguous) = (0, 0);
        for (lane, &address) in (0..).zip(addresses) {
            let active = u64::from(mask >> lane & 1).wrapping_neg();
            differ |= (address ^ start) & active;
            not_contiguous |= address ^ start.wrapping_add(lane * bytes);
        }
        match (differ, not_contiguous, mask) {
            (0, _, _) => AddressPattern::Uniform(start),
            (_, 0, FULL) => AddressPattern::Contiguous(start),
            _ => AddressPattern::Scattered,
        }
    }
}

/// Returns the rounds in which lanes are served if each address serves one lane per round: the first of its
/// pending lanes.
fn conflict_free_rounds(addresses: &[u64; LANES], mask: u32) -> impl Iterator<Item = u32> {
    let mut pending = mask;
    std::iter::from_fn(move || {
        let mut distinct = [0; LANES];
        let mut keys = DistinctKeys::default();
        let mut served = 0;
        for lane in active(pending) {
            let (index, is_new) = keys.insert(addresses[lane], |index| distinct[index]);
            if is_new {
                distinct[index] = addresses[lane];
                served |= 1 << lane;
            }
        }
        pending &= !served;
        (served != 0).then_some(served)
    })
}

/// A set of up to 32 keys. The keys themselves are in a list of the caller; this is a hash table of indices
/// into it.
struct DistinctKeys {
    /// An index into the list plus 1; 0 for an empty slot.
    slots: [u8; Self::SLOTS],
    /// The number of distinct keys.
    pub count: usize,
}

impl Default for DistinctKeys {
    fn default() -> Self {
        DistinctKeys {
            slots: [0; Self::SLOTS],
            count: 0,
        }
    }
}

impl DistinctKeys {
    /// The number of slots: twice the number of keys, so that probe sequences stay short.
    const SLOTS: usize = 2 * LANES;

    /// Inserts `key`. Returns its index in the caller's list, and true if it is new. `at` reads the list.
    #[inline(always)]
    pub fn insert(&mut self, key: u64, at: impl Fn(usize) -> u64) -> (usize, bool) {
        // Fibonacci hashing: the top bits of the product depend on all bits of the key.
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        loop {
            match self.slots[slot % Self::SLOTS] {
                0 => {
                    self.count += 1;
                    self.slots[slot % Self::SLOTS] = self.count as u8;
                    return (self.count - 1, true);
                }
                taken if at(taken as usize - 1) == key => return (taken as usize - 1, false),
                _ => slot += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests;
