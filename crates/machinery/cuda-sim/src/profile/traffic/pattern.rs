//! How a warp's addresses lie, for the quick answers.

use crate::lanes::{FULL, LANES};

/// How the addresses of the lanes that take part lie.
#[derive(Clone, Copy)]
pub(super) enum AddressPattern {
    /// No lane takes part.
    None,
    /// All lanes that take part have this address.
    Same(u64),
    /// All 32 lanes take part, and lie side by side from this address on.
    Consecutive(u64),
    /// Any other way.
    Scattered,
}

impl AddressPattern {
    #[inline(always)]
    pub fn of(addresses: &[u64; LANES], mask: u32, bytes: u64) -> AddressPattern {
        if mask == 0 {
            return AddressPattern::None;
        }
        let start = addresses[mask.trailing_zeros() as usize];
        let (mut differ, mut stray) = (0, 0);
        for (lane, &address) in (0..).zip(addresses) {
            let keep = u64::from(mask >> lane & 1).wrapping_neg();
            differ |= (address ^ start) & keep;
            stray |= address ^ start.wrapping_add(lane * bytes);
        }
        match (differ, stray, mask) {
            (0, _, _) => AddressPattern::Same(start),
            (_, 0, FULL) => AddressPattern::Consecutive(start),
            _ => AddressPattern::Scattered,
        }
    }
}
