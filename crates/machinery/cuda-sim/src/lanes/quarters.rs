//! Access patterns of quarter warps, for accesses that are neither uniform nor contiguous over the whole warp.
//!
//! In a block that is 8 or 16 threads wide, a warp covers several rows, and the lanes of each row access one
//! address or contiguous addresses.

use super::LANES;

/// The number of lanes of a quarter warp.
pub const LANES_OF_QUARTER: usize = LANES / 4;

/// The access pattern of a quarter warp.
#[derive(Clone, Copy)]
pub struct Quarter {
    /// The address of the first lane.
    pub start: u64,
    /// True if the other lanes' accesses follow contiguously; false if all lanes access `start`.
    pub apart: bool,
}

/// Splits `addresses`, each plus `offset`, into quarter-warp patterns. Returns `None` unless every quarter is
/// uniform or has a stride of `size` bytes.
#[inline(always)]
pub fn quarters(addresses: &[u64; LANES], offset: u64, size: u64) -> Option<[Quarter; 4]> {
    let mut quarters = [Quarter {
        start: 0,
        apart: false,
    }; 4];
    let mut stray = 0;
    let lanes = addresses.chunks_exact(LANES_OF_QUARTER);
    for (quarter, lanes) in quarters.iter_mut().zip(lanes) {
        let start = lanes[0];
        // The second lane decides between the two patterns.
        let apart = lanes[1] != start;
        let step = if apart { u64::MAX } else { 0 };
        for (lane, &address) in (0..).zip(lanes) {
            stray |= address ^ start.wrapping_add((lane * size) & step);
        }
        *quarter = Quarter {
            start: start.wrapping_add(offset),
            apart,
        };
    }
    (stray == 0).then_some(quarters)
}

/// The access pattern of a whole warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    Same,
    Consecutive,
    Neither,
}

/// Combines four quarter-warp patterns of accesses of `size` bytes into the pattern of the warp.
#[inline(always)]
pub fn whole(quarters: &[Quarter; 4], size: u64) -> Whole {
    let first = quarters[0];
    let step = if first.apart {
        size * LANES_OF_QUARTER as u64
    } else {
        0
    };
    let alike = (0..).zip(quarters).all(|(nth, quarter)| {
        quarter.apart == first.apart && quarter.start == first.start.wrapping_add(nth * step)
    });
    match (alike, first.apart) {
        (true, false) => Whole::Same,
        (true, true) => Whole::Consecutive,
        (false, _) => Whole::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns addresses in `rows.len()` rows of equal length: lane n of row r accesses `rows[r] + n * step`.
    fn lanes(rows: &[u64], step: u64) -> [u64; LANES] {
        let wide = LANES / rows.len();
        std::array::from_fn(|lane| rows[lane / wide] + (lane % wide) as u64 * step)
    }

    /// Returns the quarters for an offset of 64, as pairs of start and whether the lanes are contiguous.
    fn found(rows: &[u64], step: u64) -> Option<Vec<(u64, bool)>> {
        let quarters = quarters(&lanes(rows, step), 64, 4)?;
        Some(
            quarters
                .map(|quarter| (quarter.start, quarter.apart))
                .to_vec(),
        )
    }

    #[test]
    fn rows_of_a_block() {
        // Blocks 16 threads wide: two rows, uniform or contiguous over 64 bytes.
        let wanted = [(64, false), (64, false), (4160, false), (4160, false)];
        assert_eq!(found(&[0, 4096], 0).unwrap(), wanted);
        let wanted = [(64, true), (96, true), (4160, true), (4192, true)];
        assert_eq!(found(&[0, 4096], 4).unwrap(), wanted);
        // Blocks 8 threads wide: four rows in any order.
        let wanted = [(576, true), (64, true), (64, true), (2112, true)];
        assert_eq!(found(&[512, 0, 0, 2048], 4).unwrap(), wanted);
    }

    #[test]
    fn quarters_of_a_whole_warp() {
        let of = |rows: &[u64], step| whole(&quarters(&lanes(rows, step), 0, 4).unwrap(), 4);
        assert_eq!(of(&[512], 0), Whole::Same);
        assert_eq!(of(&[512], 4), Whole::Consecutive);
        // Addresses wrap around at the end of the address space.
        assert_eq!(of(&[u64::MAX - 63, 0], 4), Whole::Consecutive);
        assert_eq!(of(&[512, 1024], 4), Whole::Neither);
        assert_eq!(of(&[512, 1024], 0), Whole::Neither);
    }

    #[test]
    fn scattered_lanes_are_no_quarters() {
        let mut addresses = lanes(&[0, 4096], 4);
        assert!(quarters(&addresses, 0, 4).is_some());
        assert!(quarters(&addresses, 0, 8).is_none());
        addresses[21] += 4;
        assert!(quarters(&addresses, 0, 4).is_none());
    }
}
