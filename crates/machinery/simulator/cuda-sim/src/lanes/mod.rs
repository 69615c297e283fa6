//! The 32 lanes of a warp: lane masks and address patterns.

pub mod quarters;

/// The number of lanes of a warp.
pub const LANES: usize = 32;
/// The mask with all lanes active.
pub const FULL: u32 = u32::MAX;

/// The mask bit of each lane.
pub const BIT: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// Expands a mask to a row: all ones in active lanes, zero elsewhere.
#[inline(always)]
pub fn expand(mask: u32) -> [u32; LANES] {
    let mut row = [0; LANES];
    for lane in 0..LANES {
        row[lane] = if mask & BIT[lane] != 0 { FULL } else { 0 };
    }
    row
}

/// Iterates over the lanes of a mask, in ascending order.
#[inline(always)]
pub fn active(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}
