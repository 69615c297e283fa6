//! Accesses to shared memory: the wavefronts that its banks require, and bank conflicts.

use super::{AddressPattern, BANKS, DistinctKeys, WORD};
use crate::isa::{AtomicMethod, Update};
use crate::lanes::{FULL, LANES, active};

/// The traffic of a warp's access to shared memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedTraffic {
    /// Passes through the data stage.
    pub wavefronts: u32,
    /// The wavefronts among these that bank conflicts cause.
    pub conflicts: u32,
}

/// Returns the wavefronts and bank conflicts of a load from or a store to shared memory.
///
/// A wavefront moves up to 128 bytes: accesses of 8 bytes are processed by half-warps, of 16 bytes by
/// quarter-warps. A load's halves are merged, and so are the quarters of each half, if adjacent lanes have
/// the same address: each lane and the next (0 and 1, 2 and 3, …) throughout the warp, or each lane and the
/// next but one (0 and 2, 1 and 3, …). Inactive lanes match any address.
pub fn shared(addresses: &[u64; LANES], mask: u32, bytes: u64, write: bool) -> SharedTraffic {
    let pattern = AddressPattern::of(addresses, mask, bytes);
    let mut lanes = lanes_per_wavefront(bytes);
    if bytes > WORD
        && !write
        && (pairwise_equal(addresses, mask, 1) || pairwise_equal(addresses, mask, 2))
    {
        lanes *= 2;
    }
    let minimum = split(mask, lanes).count() as u32;
    let wavefronts = match pattern {
        AddressPattern::None | AddressPattern::Uniform(_) | AddressPattern::Contiguous(_) => {
            minimum
        }
        AddressPattern::Scattered => split(mask, lanes)
            .map(|lanes| bank_wavefronts(addresses, lanes, bytes))
            .sum(),
    };
    SharedTraffic {
        wavefronts,
        conflicts: wavefronts - minimum,
    }
}

/// Returns the wavefronts and bank conflicts of `ldmatrix`. The rows of each matrix, 16 bytes each, are at
/// the addresses of eight lanes, and a wavefront serves rows of one matrix only.
pub fn matrices(addresses: &[u64; LANES], count: usize) -> SharedTraffic {
    const ROWS: u32 = 8;
    const ROW_BYTES: u64 = 16;
    let rows = FULL >> (LANES as u32 - ROWS * count as u32);
    let wavefronts =
        split(rows, ROWS as usize).map(|rows| bank_wavefronts(addresses, rows, ROW_BYTES));
    let wavefronts = wavefronts.sum();
    SharedTraffic {
        wavefronts,
        conflicts: wavefronts - count as u32,
    }
}

/// Returns the wavefronts and bank conflicts of an atomic on shared memory. A bank serves one lane at a time,
/// even if two lanes access the same word, unless the atomic only counts lanes. A compare-and-swap takes two
/// wavefronts each time, one for the expected and one for the new value.
pub fn shared_atomic(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    update: Update,
) -> SharedTraffic {
    let mask = update.accessing(mask);
    if update.method == AtomicMethod::Popcount {
        return shared(addresses, mask, bytes, true);
    }
    let bank_wavefronts = atomic_wavefronts(addresses, mask, bytes);
    SharedTraffic {
        wavefronts: match update.method {
            AtomicMethod::CompareAndSwap => 2 * bank_wavefronts,
            _ => bank_wavefronts,
        },
        conflicts: bank_wavefronts
            .saturating_sub(split(mask, lanes_per_wavefront(bytes)).count() as u32),
    }
}

/// The traffic of an atomic that is a loop of loads and compare-and-swaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CasLoop {
    pub loads: RepeatedAccess,
    pub swaps: RepeatedAccess,
    /// Divergences: some lanes left the loop, or attempted to swap, and others did not.
    pub divergences: u32,
}

/// The repeated execution of one instruction by a warp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RepeatedAccess {
    /// The number of executions.
    pub times: u32,
    /// Active lanes, summed over the executions.
    pub lanes: u32,
    pub traffic: SharedTraffic,
    /// The costliest single execution.
    pub costliest: SharedTraffic,
}

impl RepeatedAccess {
    fn add(&mut self, lanes: u32, traffic: SharedTraffic) {
        if lanes != 0 {
            self.times += 1;
            self.lanes += lanes.count_ones();
            self.traffic.wavefronts += traffic.wavefronts;
            self.traffic.conflicts += traffic.conflicts;
            self.costliest.wavefronts = self.costliest.wavefronts.max(traffic.wavefronts);
            self.costliest.conflicts = self.costliest.conflicts.max(traffic.conflicts);
        }
    }
}

impl CasLoop {
    /// Adds an iteration of the loop: the lanes `load` load, of these the lanes `swap` attempt the swap, and
    /// of these the lanes `retry` fail and iterate again. A swap has no extra wavefronts for conflicts: lanes
    /// that a bank does not serve at once fail and retry.
    pub fn round(
        &mut self,
        addresses: &[u64; LANES],
        bytes: u64,
        (load, swap, retry): (u32, u32, u32),
    ) {
        self.divergences += u32::from(swap != 0 && swap != load);
        self.divergences += u32::from(retry != 0 && retry != swap);
        self.loads.add(load, shared(addresses, load, bytes, false));
        let swapping = SharedTraffic {
            wavefronts: 2 * split(swap, lanes_per_wavefront(bytes)).count() as u32,
            conflicts: 0,
        };
        self.swaps.add(swap, swapping);
    }
}

/// Returns the traffic of such a loop if each swap changes the value: of the lanes at one address, and of
/// those on one bank, the first succeeds, and the others iterate again.
pub fn cas_loop(addresses: &[u64; LANES], mask: u32, bytes: u64, update: Update) -> CasLoop {
    let mut pending = update.accessing(mask);
    let mut cas_loop = CasLoop::default();
    while pending != 0 {
        let mut swapped = DistinctKeys::default();
        let mut addresses_seen = [0; LANES];
        let mut retry = pending;
        for lane in active(first_lane_per_bank(addresses, pending, bytes)) {
            let (index, is_new) = swapped.insert(addresses[lane], |index| addresses_seen[index]);
            if is_new {
                addresses_seen[index] = addresses[lane];
                retry &= !(1 << lane);
            }
        }
        cas_loop.round(addresses, bytes, (pending, pending, retry));
        pending = retry;
    }
    cas_loop
}

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
fn pairwise_equal(addresses: &[u64; LANES], mask: u32, lane_bit: usize) -> bool {
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
fn bank_wavefronts(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
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
