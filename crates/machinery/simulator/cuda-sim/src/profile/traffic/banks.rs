//! The banks of the data stage: the wavefronts that bank conflicts cause.

use super::distinct::DistinctKeys;
use super::pattern::AddressPattern;
use super::{BANKS, WORD};
use crate::lanes::{FULL, LANES, active};

/// Returns the bank of the word at a shared-memory address.
#[inline]
pub fn bank(address: u64) -> usize {
    (address / WORD % BANKS as u64) as usize
}

/// Returns the number of lanes that one wavefront serves without conflicts, for accesses of `bytes` bytes per
/// lane.
#[inline]
pub(super) fn lanes_per_wavefront(bytes: u64) -> usize {
    LANES / (bytes / WORD).max(1) as usize
}

/// Splits a mask into groups of `lanes` adjacent lanes. Groups without active lanes are skipped.
#[inline]
pub(super) fn split(mask: u32, lanes: usize) -> impl Iterator<Item = u32> {
    let part = FULL >> (LANES - lanes.min(LANES));
    (0..LANES)
        .step_by(lanes)
        .map(move |first| mask & part << first)
        .filter(|&lanes| lanes != 0)
}

/// Returns the wavefronts of an access that is processed in groups of [`lanes_per_wavefront`] lanes, one
/// after the other.
#[inline(always)]
pub(super) fn phase_wavefronts(
    pattern: AddressPattern,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
) -> u32 {
    let parts = split(mask, lanes_per_wavefront(bytes));
    match pattern {
        AddressPattern::None | AddressPattern::Uniform(_) | AddressPattern::Contiguous(_) => {
            parts.count() as u32
        }
        AddressPattern::Scattered => parts
            .map(|lanes| bank_wavefronts(addresses, lanes, bytes))
            .sum(),
    }
}

/// Returns true if active lanes whose indices differ only by the bit `lane_bit` have the same address.
#[inline(always)]
pub(super) fn pairwise_equal(addresses: &[u64; LANES], mask: u32, lane_bit: usize) -> bool {
    let mut differ = 0;
    for lane in 0..LANES {
        let both = mask >> lane & mask >> (lane ^ lane_bit) & 1;
        differ |= (addresses[lane] ^ addresses[lane ^ lane_bit]) & u64::from(both).wrapping_neg();
    }
    differ == 0
}

/// Returns the wavefronts for a group of lanes: the maximum number of distinct words that any bank must serve
/// (or units of 8 or 16 bytes that any group of banks must serve).
#[inline(always)]
pub(super) fn bank_wavefronts(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.max(WORD).trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let (mut first, mut taken, mut conflict) = ([0; LANES], 0u32, false);
    for lane in active(mask) {
        let unit = addresses[lane] >> shift;
        let bank = (unit & (banks - 1)) as usize;
        conflict |= taken >> bank & 1 == 1 && first[bank] != unit;
        first[bank] = unit;
        taken |= 1 << bank;
    }
    if !conflict {
        return u32::from(taken != 0);
    }
    let mut keys = DistinctKeys::default();
    let (mut units, mut requests, mut max) = ([0; LANES], [0u8; LANES], 0);
    for lane in active(mask) {
        let unit = addresses[lane] >> shift;
        let (index, is_new) = keys.insert(unit, |index| units[index]);
        if is_new {
            units[index] = unit;
            let bank = &mut requests[(unit & (banks - 1)) as usize];
            *bank += 1;
            max = max.max(*bank);
        }
    }
    max.into()
}

/// Returns the wavefronts of an atomic: the maximum number of lanes that any bank must serve. A lane counts
/// once for each of its words. Accesses of 8 bytes are processed by half-warps.
pub(super) fn atomic_wavefronts(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let of = |lanes: u32| {
        let mut requests = [0; BANKS];
        for lane in active(lanes) {
            for word in 0..(bytes / WORD).max(1) {
                requests[bank(addresses[lane] + word * WORD)] += 1;
            }
        }
        requests.into_iter().max().unwrap_or(0)
    };
    split(mask, lanes_per_wavefront(bytes)).map(of).sum()
}

/// Returns, of lanes that each attempt a compare-and-swap, the mask of those that a bank serves at the first
/// attempt: the first lane on each bank. Accesses of 8 bytes are processed by half-warps.
pub fn first_lane_per_bank(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.max(WORD).trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let mut first = 0;
    for lanes in split(mask, lanes_per_wavefront(bytes)) {
        let mut taken = 0_u32;
        for lane in active(lanes) {
            let bank = 1 << ((addresses[lane] >> shift) & (banks - 1));
            if taken & bank == 0 {
                first |= 1 << lane;
            }
            taken |= bank;
        }
    }
    first
}

/// Returns the maximum number of lanes on any bank, or on any group of banks if a lane accesses more than a
/// word.
pub(super) fn max_lanes_per_bank(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let mut requests = [0; LANES];
    for lane in active(mask) {
        requests[((addresses[lane] >> shift) & (banks - 1)) as usize] += 1;
    }
    requests.into_iter().max().unwrap_or(0)
}
