//! A warp's access in four quarters: the third pattern after one address and consecutive ones.
//!
//! In a block 8 or 16 threads wide a warp covers several rows, and the lanes of each row lie at
//! one address or at consecutive ones.

use super::lanes::LANES;

/// Lanes of a quarter.
pub const LANES_OF_QUARTER: usize = LANES / 4;

/// Where a quarter's lanes are.
#[derive(Clone, Copy)]
pub struct Quarter {
    /// The first lane's address.
    pub start: u64,
    /// From its first byte to its last: one element, or one a lane.
    pub bytes: u64,
}

/// The four quarters of `addresses`, each plus `offset`, if every one of them is at one address or
/// at addresses `size` bytes apart.
#[inline(always)]
pub fn quarters(addresses: &[u64; LANES], offset: u64, size: u64) -> Option<[Quarter; 4]> {
    let mut quarters = [Quarter { start: 0, bytes: 0 }; 4];
    let lanes = addresses.chunks_exact(LANES_OF_QUARTER);
    for (quarter, lanes) in quarters.iter_mut().zip(lanes) {
        let start = lanes[0];
        let (mut differ, mut stray) = (0, 0);
        for (lane, &address) in (0..).zip(lanes) {
            differ |= address ^ start;
            stray |= address ^ start.wrapping_add(lane * size);
        }
        quarter.start = start.wrapping_add(offset);
        quarter.bytes = match (differ, stray) {
            (0, _) => size,
            (_, 0) => size * LANES_OF_QUARTER as u64,
            _ => return None,
        };
    }
    Some(quarters)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane n of row r at `rows[r]` plus n times `step`, as many lanes a row as there is room.
    fn lanes(rows: &[u64], step: u64) -> [u64; LANES] {
        let wide = LANES / rows.len();
        std::array::from_fn(|lane| rows[lane / wide] + (lane % wide) as u64 * step)
    }

    /// What is found with an offset of 64, as start and bytes.
    fn found(rows: &[u64], step: u64) -> Option<Vec<(u64, u64)>> {
        let quarters = quarters(&lanes(rows, step), 64, 4)?;
        Some(
            quarters
                .map(|quarter| (quarter.start, quarter.bytes))
                .to_vec(),
        )
    }

    #[test]
    fn rows_of_a_block() {
        // 16 wide: two rows of an element, or of 64 bytes.
        let wanted = [(64, 4), (64, 4), (4160, 4), (4160, 4)];
        assert_eq!(found(&[0, 4096], 0).unwrap(), wanted);
        let wanted = [(64, 32), (96, 32), (4160, 32), (4192, 32)];
        assert_eq!(found(&[0, 4096], 4).unwrap(), wanted);
        // 8 wide: four rows, in whatever order.
        let wanted = [(576, 32), (64, 32), (64, 32), (2112, 32)];
        assert_eq!(found(&[512, 0, 0, 2048], 4).unwrap(), wanted);
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
