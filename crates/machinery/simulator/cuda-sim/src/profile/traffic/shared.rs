//! Accesses to shared memory: wavefronts and bank conflicts.

use super::WORD;
use super::banks::{
    atomic_wavefronts, bank_wavefronts, first_lane_per_bank, lanes_per_wavefront, pairwise_equal,
    split,
};
use super::distinct::DistinctKeys;
use super::pattern::AddressPattern;
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
