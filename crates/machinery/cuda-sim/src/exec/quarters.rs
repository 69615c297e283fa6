//! A warp's access in four quarters: the third pattern after one address and consecutive ones.
//!
//! In a block 8 or 16 threads wide a warp covers several rows, and the lanes of each row lie at
//! one address or at consecutive ones.

use super::access::SECTOR;
use super::lanes::LANES;
use super::space::Traffic;

/// Lanes of a quarter.
pub const LANES_OF_QUARTER: usize = LANES / 4;

/// Where a quarter's lanes are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// Distinct sectors and distinct addresses of quarters of elements of `size` bytes; none where
/// two quarters overlap in part, so that their addresses have to be looked at one by one.
#[inline(always)]
pub fn traffic(mut quarters: [Quarter; 4], size: u64) -> Option<Traffic> {
    quarters.sort_unstable();
    let (mut sectors, mut addresses) = (0, 0);
    let mut before: Option<Quarter> = None;
    for quarter in quarters {
        let mut from = quarter.start / SECTOR;
        let to = (quarter.start + quarter.bytes - 1) / SECTOR + 1;
        if let Some(before) = before {
            if quarter == before {
                continue;
            }
            let end = before.start + before.bytes;
            if quarter.start < end {
                return None;
            }
            from = from.max((end - 1) / SECTOR + 1);
        }
        sectors += to.saturating_sub(from) as u32;
        addresses += (quarter.bytes / size) as u32;
        before = Some(quarter);
    }
    Some(Traffic { sectors, addresses })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane n of row r at `rows[r]` plus n times `step`, as many lanes a row as there is room.
    fn lanes(rows: &[u64], step: u64) -> [u64; LANES] {
        let wide = LANES / rows.len();
        std::array::from_fn(|lane| rows[lane / wide] + (lane % wide) as u64 * step)
    }

    fn counted(rows: &[u64], step: u64) -> Option<(u32, u32)> {
        let quarters = quarters(&lanes(rows, step), 64, 4)?;
        traffic(quarters, 4).map(|traffic| (traffic.sectors, traffic.addresses))
    }

    #[test]
    fn rows_of_a_block_are_counted_once_each() {
        // 16 wide: two rows of an element, or of 64 bytes.
        assert_eq!(counted(&[0, 4096], 0), Some((2, 2)));
        assert_eq!(counted(&[0, 4096], 4), Some((4, 32)));
        // 8 wide: four rows; and the same row four times.
        assert_eq!(counted(&[0, 512, 1024, 2048], 4), Some((4, 32)));
        assert_eq!(counted(&[512, 512, 512, 512], 4), Some((1, 8)));
        // In whatever order; side by side in one sector; across a sector's edge.
        assert_eq!(counted(&[2048, 0, 1024, 512], 0), Some((4, 4)));
        assert_eq!(counted(&[0, 4, 8, 12], 0), Some((1, 4)));
        assert_eq!(counted(&[16, 48, 80, 112], 4), Some((5, 32)));
    }

    #[test]
    fn what_overlaps_in_part_is_not_counted_here() {
        assert_eq!(counted(&[0, 16, 1024, 2048], 4), None);
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
