//! Classification of a warp's addresses, for fast paths.

use crate::lanes::{FULL, LANES};

/// The pattern of the active lanes' addresses.
#[derive(Clone, Copy)]
pub(super) enum AddressPattern {
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
