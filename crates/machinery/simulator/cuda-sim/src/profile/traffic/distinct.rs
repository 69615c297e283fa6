//! Distinct keys among those of a warp's lanes.

use crate::lanes::{LANES, active};

/// Returns the rounds in which lanes are served if each address serves one lane per round: the first of its
/// pending lanes.
pub(super) fn conflict_free_rounds(
    addresses: &[u64; LANES],
    mask: u32,
) -> impl Iterator<Item = u32> {
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
pub(super) struct DistinctKeys {
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
