//! How the addresses of a warp's access lie.

use crate::exec::sm::Sm;
use crate::lanes::quarters::{self, Quarter, Whole};
use crate::lanes::{FULL, LANES};

/// How the running lanes' addresses lie.
pub enum LanePattern {
    /// All the same.
    Uniform(u64),
    /// Lane `n` at this plus `n` times the access's size (wrapping below zero for lanes that do not
    /// run).
    Consecutive(u64),
    /// In each quarter of a full warp one of these.
    Quarters([Quarter; 4]),
    Scattered,
}

#[inline(always)]
pub fn pattern(sm: &Sm, addresses: &[u64; LANES], offset: u64, size: u64) -> LanePattern {
    if sm.mask == FULL {
        return match quarters::quarters(addresses, offset, size) {
            Some(quarters) => match quarters::whole(&quarters, size) {
                Whole::Same => LanePattern::Uniform(quarters[0].start),
                Whole::Consecutive => LanePattern::Consecutive(quarters[0].start),
                Whole::Neither => LanePattern::Quarters(quarters),
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
