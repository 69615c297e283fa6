//! Detection of the access pattern of a warp.

use crate::exec::sm::Sm;
use crate::lanes;
use crate::lanes::{FULL, LANES, Quarter, WarpPattern};

/// The pattern of the active lanes' addresses.
pub enum LanePattern {
    /// All lanes access this address.
    Uniform(u64),
    /// Lane `n` accesses this address plus `n` times the access's size. The address may wrap below zero for
    /// inactive lanes.
    Consecutive(u64),
    /// Each quarter of a full warp is uniform or contiguous.
    Quarters([Quarter; 4]),
    Scattered,
}

#[inline(always)]
pub fn pattern(sm: &Sm, addresses: &[u64; LANES], offset: u64, size: u64) -> LanePattern {
    if sm.mask == FULL {
        return match lanes::quarters(addresses, offset, size) {
            Some(quarters) => match lanes::warp_pattern(&quarters, size) {
                WarpPattern::Uniform => LanePattern::Uniform(quarters[0].start),
                WarpPattern::Contiguous => LanePattern::Consecutive(quarters[0].start),
                WarpPattern::Other => LanePattern::Quarters(quarters),
            },
            None => LanePattern::Scattered,
        };
    }
    let first = sm.mask.trailing_zeros() as usize & 31;
    let start = addresses[first];
    let origin = start.wrapping_sub(first as u64 * size);
    let (mut differ, mut stray) = (0, 0);
    for lane in 0..LANES {
        let keep = sm.lanes[lane] as i32 as i64 as u64;
        differ |= (addresses[lane] ^ start) & keep;
        stray |= (addresses[lane] ^ origin.wrapping_add(lane as u64 * size)) & keep;
    }
    if differ == 0 {
        LanePattern::Uniform(start.wrapping_add(offset))
    } else if stray == 0 {
        LanePattern::Consecutive(origin.wrapping_add(offset))
    } else {
        LanePattern::Scattered
    }
}
