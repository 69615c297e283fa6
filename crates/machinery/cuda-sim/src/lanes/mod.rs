//! The 32 lanes of a warp: masks of them, and how their addresses lie to each other.

pub mod quarters;

/// Lanes in a warp.
pub const LANES: usize = 32;
/// The mask of a whole warp.
pub const FULL: u32 = u32::MAX;

/// The bit of each lane in a mask.
pub const BIT: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// A mask as a row: all ones in the lanes it names, zero elsewhere.
#[inline(always)]
pub fn expand(mask: u32) -> [u32; LANES] {
    let mut row = [0; LANES];
    for lane in 0..LANES {
        row[lane] = if mask & BIT[lane] != 0 { FULL } else { 0 };
    }
    row
}

/// The lanes a mask names, in order.
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
