//! The 32 lanes of a warp: lane masks and address patterns.
//!
//! Access patterns of quarter warps, for accesses that are neither uniform nor contiguous over the whole warp.
//!
//! In a block that is 8 or 16 threads wide, a warp covers several rows, and the lanes of each row access one
//! address or contiguous addresses.

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

/// The number of lanes of a quarter warp.
pub const LANES_PER_QUARTER: usize = LANES / 4;

/// The access pattern of a quarter warp.
#[derive(Clone, Copy)]
pub struct Quarter {
    /// The address of the first lane.
    pub start: u64,
    /// True if the other lanes' accesses follow contiguously; false if all lanes access `start`.
    pub contiguous: bool,
}

/// Splits `addresses`, each plus `offset`, into quarter-warp patterns. Returns `None` unless every quarter is
/// uniform or has a stride of `size` bytes.
#[inline(always)]
pub fn quarters(addresses: &[u64; LANES], offset: u64, size: u64) -> Option<[Quarter; 4]> {
    let mut quarters = [Quarter {
        start: 0,
        contiguous: false,
    }; 4];
    let mut mismatch = 0;
    let lanes = addresses.chunks_exact(LANES_PER_QUARTER);
    for (quarter, lanes) in quarters.iter_mut().zip(lanes) {
        let start = lanes[0];
        // The second lane decides between the two patterns.
        let contiguous = lanes[1] != start;
        let step = if contiguous { u64::MAX } else { 0 };
        for (lane, &address) in (0..).zip(lanes) {
            mismatch |= address ^ start.wrapping_add((lane * size) & step);
        }
        *quarter = Quarter {
            start: start.wrapping_add(offset),
            contiguous,
        };
    }
    (mismatch == 0).then_some(quarters)
}

/// The access pattern of a whole warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarpPattern {
    Uniform,
    Contiguous,
    Other,
}

/// Combines four quarter-warp patterns of accesses of `size` bytes into the pattern of the warp.
#[inline(always)]
pub fn warp_pattern(quarters: &[Quarter; 4], size: u64) -> WarpPattern {
    let first = quarters[0];
    let step = if first.contiguous {
        size * LANES_PER_QUARTER as u64
    } else {
        0
    };
    let is_regular = (0..).zip(quarters).all(|(nth, quarter)| {
        quarter.contiguous == first.contiguous
            && quarter.start == first.start.wrapping_add(nth * step)
    });
    match (is_regular, first.contiguous) {
        (true, false) => WarpPattern::Uniform,
        (true, true) => WarpPattern::Contiguous,
        (false, _) => WarpPattern::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns addresses in `rows.len()` rows of equal length: lane n of row r accesses `rows[r] + n * step`.
    fn lanes(rows: &[u64], step: u64) -> [u64; LANES] {
        let row_length = LANES / rows.len();
        std::array::from_fn(|lane| rows[lane / row_length] + (lane % row_length) as u64 * step)
    }

    /// Returns the quarters for an offset of 64, as pairs of start and whether the lanes are contiguous.
    fn quarter_list(rows: &[u64], step: u64) -> Option<Vec<(u64, bool)>> {
        let quarters = quarters(&lanes(rows, step), 64, 4)?;
        Some(
            quarters
                .map(|quarter| (quarter.start, quarter.contiguous))
                .to_vec(),
        )
    }

    #[test]
    fn rows_are_split_into_quarters() {
        // Blocks 16 threads wide: two rows, uniform or contiguous over 64 bytes.
        let expected = [(64, false), (64, false), (4160, false), (4160, false)];
        assert_eq!(quarter_list(&[0, 4096], 0).unwrap(), expected);
        let expected = [(64, true), (96, true), (4160, true), (4192, true)];
        assert_eq!(quarter_list(&[0, 4096], 4).unwrap(), expected);
        // Blocks 8 threads wide: four rows in any order.
        let expected = [(576, true), (64, true), (64, true), (2112, true)];
        assert_eq!(quarter_list(&[512, 0, 0, 2048], 4).unwrap(), expected);
    }

    #[test]
    fn quarters_combine_into_a_warp_pattern() {
        let of = |rows: &[u64], step| warp_pattern(&quarters(&lanes(rows, step), 0, 4).unwrap(), 4);
        assert_eq!(of(&[512], 0), WarpPattern::Uniform);
        assert_eq!(of(&[512], 4), WarpPattern::Contiguous);
        // Addresses wrap around at the end of the address space.
        assert_eq!(of(&[u64::MAX - 63, 0], 4), WarpPattern::Contiguous);
        assert_eq!(of(&[512, 1024], 4), WarpPattern::Other);
        assert_eq!(of(&[512, 1024], 0), WarpPattern::Other);
    }

    #[test]
    fn scattered_lanes_have_no_quarter_pattern() {
        let mut addresses = lanes(&[0, 4096], 4);
        assert!(quarters(&addresses, 0, 4).is_some());
        assert!(quarters(&addresses, 0, 8).is_none());
        addresses[21] += 4;
        assert!(quarters(&addresses, 0, 4).is_none());
    }
}
