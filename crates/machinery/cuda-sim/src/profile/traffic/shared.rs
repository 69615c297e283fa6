//! Accesses of shared memory: wavefronts and bank conflicts.

use super::WORD;
use super::banks::{alike, atomic_turns, lanes_at_once, split, turns};
use super::pattern::AddressPattern;
use crate::lanes::{FULL, LANES};

/// What a warp's access to shared memory comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedTraffic {
    /// Passes through the data stage.
    pub wavefronts: u32,
    /// Passes that only bank conflicts make necessary; they are among those above.
    pub conflicts: u32,
}

/// The wavefronts and bank conflicts of a load from shared memory, or of a store.
///
/// A wavefront moves up to 128 bytes: lanes of 8 bytes go a half of the warp at a time, of 16 a
/// quarter. A load's halves go together, and so do the quarters of each half, where neighbouring
/// lanes want the same: each lane and the next (0 and 1, 2 and 3, …) throughout the warp, or each
/// and the next but one (0 and 2, 1 and 3, …). Lanes that do not take part want whatever suits.
pub fn shared(addresses: &[u64; LANES], mask: u32, bytes: u64, write: bool) -> SharedTraffic {
    let pattern = AddressPattern::of(addresses, mask, bytes);
    let mut lanes = lanes_at_once(bytes);
    if bytes > WORD && !write && (alike(addresses, mask, 1) || alike(addresses, mask, 2)) {
        lanes *= 2;
    }
    let fewest = split(mask, lanes).count() as u32;
    let wavefronts = match pattern {
        AddressPattern::None | AddressPattern::Same(_) | AddressPattern::Consecutive(_) => fewest,
        AddressPattern::Scattered => split(mask, lanes)
            .map(|lanes| turns(addresses, lanes, bytes))
            .sum(),
    };
    SharedTraffic {
        wavefronts,
        conflicts: wavefronts - fewest,
    }
}

/// The wavefronts and bank conflicts of `ldmatrix`: the rows of each matrix, 16 bytes each, are at
/// the addresses of eight lanes, and a wavefront serves those of one matrix alone.
pub fn matrices(addresses: &[u64; LANES], count: usize) -> SharedTraffic {
    const ROWS: u32 = 8;
    const ROW_BYTES: u64 = 16;
    let rows = FULL >> (LANES as u32 - ROWS * count as u32);
    let wavefronts = split(rows, ROWS as usize).map(|rows| turns(addresses, rows, ROW_BYTES));
    let wavefronts = wavefronts.sum();
    SharedTraffic {
        wavefronts,
        conflicts: wavefronts - count as u32,
    }
}

/// The wavefronts and bank conflicts of an atomic on shared memory: a bank serves one lane at a
/// time, even where two lanes want the same word.
pub fn shared_atomic(addresses: &[u64; LANES], mask: u32, bytes: u64) -> SharedTraffic {
    let wavefronts = atomic_turns(addresses, mask, bytes);
    SharedTraffic {
        wavefronts,
        conflicts: wavefronts.saturating_sub(split(mask, lanes_at_once(bytes)).count() as u32),
    }
}
