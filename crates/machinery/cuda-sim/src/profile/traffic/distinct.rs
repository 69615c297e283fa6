//! Different keys among those of a warp's lanes.

use crate::lanes::{LANES, active};

/// The rounds in which lanes get their turn where each address serves one lane a round, the first of
/// those that are left.
pub(super) fn rounds(addresses: &[u64; LANES], mask: u32) -> impl Iterator<Item = u32> {
    let mut waiting = mask;
    std::iter::from_fn(move || {
        let mut distinct = [0; LANES];
        let mut seen = DistinctKeys::default();
        let mut round = 0;
        for lane in active(waiting) {
            let (place, new) = seen.place(addresses[lane], |place| distinct[place]);
            if new {
                distinct[place] = addresses[lane];
                round |= 1 << lane;
            }
        }
        waiting &= !round;
        (round != 0).then_some(round)
    })
}

/// Finds out which of up to 32 keys have come before. The keys themselves are in a list of the
/// caller's: this is a hash table of places in that list.
pub(super) struct DistinctKeys {
    /// One more than a place in the list; 0 in a slot without a key.
    slots: [u8; Self::SLOTS],
    /// How many different keys there were.
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
    /// Twice as many as keys, so that chains stay short.
    const SLOTS: usize = 2 * LANES;

    /// The place of `key` in the caller's list, and whether it is a new one. `at` reads the list.
    #[inline(always)]
    pub fn place(&mut self, key: u64, at: impl Fn(usize) -> u64) -> (usize, bool) {
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
