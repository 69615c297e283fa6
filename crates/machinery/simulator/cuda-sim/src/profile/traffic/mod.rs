//! The memory traffic of a warp's access, computed from its addresses: sectors, lines and wavefronts in global memory, also of
//! asynchronous copies to shared memory (`cp.async`); requests to constant memory, one per distinct address; and the
//! wavefronts that the banks of shared memory require.
//!
//! All functions are pure functions of 32 addresses, the mask of active lanes, and the bytes per lane: 1, 2,
//! 4, 8 or 16, at addresses that are multiples of it, as hardware requires. They are called for each profiled
//! access, so the two most common patterns, uniform and contiguous addresses, have fast paths, and nothing is
//! allocated.
//!
//! The rules are those of an NVIDIA H200, determined with `scripts/accesses.cu`; `h200.txt` has the measured
//! counters.

use crate::isa::{AtomicMethod, Update};
use crate::lanes::{FULL, LANES, active};

/// Bytes per line of the L1 cache.
pub const LINE: u64 = 128;
/// Bytes per sector.
pub const SECTOR: u64 = 32;
/// Bytes per word: the width of each of the 32 banks of the data stage.
pub const WORD: u64 = 4;
/// The number of banks of the data stage. One word from each is a line.
pub const BANKS: usize = LANES;

/// The pattern of the active lanes' addresses.
#[derive(Clone, Copy)]
enum AddressPattern {
    /// No lane is active.
    None,
    /// All active lanes have this address.
    Uniform(u64),
    /// All 32 lanes are active, and their addresses are contiguous from this address on.
    Contiguous(u64),
    /// Any other pattern.
    Scattered,
}

impl AddressPattern {
    #[inline(always)]
    pub fn of(addresses: &[u64; LANES], mask: u32, bytes: u64) -> AddressPattern {
        if mask == 0 {
            return AddressPattern::None;
        }
        let start = addresses[mask.trailing_zeros() as usize];
        let (mut differ, mut not_contiguous) = (0, 0);
        for (lane, &address) in (0..).zip(addresses) {
            let active = u64::from(mask >> lane & 1).wrapping_neg();
            differ |= (address ^ start) & active;
            not_contiguous |= address ^ start.wrapping_add(lane * bytes);
        }
        match (differ, not_contiguous, mask) {
            (0, _, _) => AddressPattern::Uniform(start),
            (_, 0, FULL) => AddressPattern::Contiguous(start),
            _ => AddressPattern::Scattered,
        }
    }
}

/// Returns the rounds in which lanes are served if each address serves one lane per round: the first of its
/// pending lanes.
fn conflict_free_rounds(addresses: &[u64; LANES], mask: u32) -> impl Iterator<Item = u32> {
    let mut pending = mask;
    std::iter::from_fn(move || {
        let mut distinct = [0; LANES];
        let mut keys = DistinctKeys::default();
        let mut served = 0;
        for lane in active(pending) {
            let (index, is_new) = keys.insert(addresses[lane], |index| distinct[index]);
            if is_new {
                distinct[index] = addresses[lane];
                served |= 1 << lane;
            }
        }
        pending &= !served;
        (served != 0).then_some(served)
    })
}

/// A set of up to 32 keys. The keys themselves are in a list of the caller; this is a hash table of indices
/// into it.
struct DistinctKeys {
    /// An index into the list plus 1; 0 for an empty slot.
    slots: [u8; Self::SLOTS],
    /// The number of distinct keys.
    pub count: usize,
}

impl Default for DistinctKeys {
    fn default() -> Self {
        DistinctKeys {
            slots: [0; Self::SLOTS],
            count: 0,
        }
    }
}

impl DistinctKeys {
    /// The number of slots: twice the number of keys, so that probe sequences stay short.
    const SLOTS: usize = 2 * LANES;

    /// Inserts `key`. Returns its index in the caller's list, and true if it is new. `at` reads the list.
    #[inline(always)]
    pub fn insert(&mut self, key: u64, at: impl Fn(usize) -> u64) -> (usize, bool) {
        // Fibonacci hashing: the top bits of the product depend on all bits of the key.
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        loop {
            match self.slots[slot % Self::SLOTS] {
                0 => {
                    self.count += 1;
                    self.slots[slot % Self::SLOTS] = self.count as u8;
                    return (self.count - 1, true);
                }
                taken if at(taken as usize - 1) == key => return (taken as usize - 1, false),
                _ => slot += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests;

/// The number of lines from which a load collects data in one wavefront.
const LINES_PER_WAVEFRONT: usize = 4;

/// The traffic of a warp's access to global memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GlobalTraffic {
    /// Distinct 32-byte sectors.
    pub sectors: u32,
    /// Distinct 128-byte lines. The L1 cache looks up one per cycle.
    pub lines: u32,
    /// Passes through the L1 cache's data stage.
    pub wavefronts: u32,
    /// For an atomic: the number of passes to the L2 cache, each with some of the lanes.
    pub output_wavefronts: u32,
}

/// Returns the traffic of a load from or a store to global memory.
///
/// Sectors and lines are exact. Wavefronts follow the bank rules of shared memory, four lines at a time for a
/// load; if a load's lines are in an irregular order, hardware sometimes needs a few more.
///
/// Writes the lines to `lines`, like the function [`lines`].
pub fn global(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    write: bool,
    lines: &mut [(u64, u8); LANES],
) -> GlobalTraffic {
    let mut line_indices = [0; LANES];
    let pattern = AddressPattern::of(addresses, mask, bytes);
    let count = find_lines(pattern, addresses, mask, bytes, lines, &mut line_indices);
    let sectors = lines[..count]
        .iter()
        .map(|(_, sectors)| sectors.count_ones())
        .sum();
    let wavefronts = if write || count <= LINES_PER_WAVEFRONT {
        phase_wavefronts(pattern, addresses, mask, bytes)
    } else {
        let mut groups = [0; LANES.div_ceil(LINES_PER_WAVEFRONT)];
        if let AddressPattern::Scattered = pattern {
            for lane in active(mask) {
                groups[usize::from(line_indices[lane]) / LINES_PER_WAVEFRONT] |= 1 << lane;
            }
        } else {
            // Contiguous lanes that span five lines: only the lanes of the last line form a second group.
            for lane in active(mask) {
                let index = addresses[lane] / LINE - lines[0].0;
                groups[index as usize / LINES_PER_WAVEFRONT] |= 1 << lane;
            }
        }
        groups
            .into_iter()
            .map(|lanes| phase_wavefronts(AddressPattern::Scattered, addresses, lanes, bytes))
            .sum()
    };
    GlobalTraffic {
        sectors,
        lines: count as u32,
        wavefronts,
        output_wavefronts: 0,
    }
}

/// Returns the traffic of an atomic on global memory. Lanes with the same address are served in separate
/// rounds, and a sector counts once per round. A round takes one pass per four lines; a compare-and-swap is
/// processed by half-warps.
pub fn global_atomic(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    update: Update,
) -> GlobalTraffic {
    let mask = update.accessing(mask);
    let lanes_per_pass = match update.method {
        AtomicMethod::CompareAndSwap => LANES / 2,
        _ => LANES,
    };
    let mut line_buffer = [(0, 0); LANES];
    let lines = lines(addresses, mask, bytes, &mut line_buffer) as u32;
    let (mut sectors, mut output_wavefronts) = (0, 0);
    for round in conflict_free_rounds(addresses, mask) {
        let count = self::lines(addresses, round, bytes, &mut line_buffer);
        let round_sectors = line_buffer[..count]
            .iter()
            .map(|(_, sectors)| sectors.count_ones());
        sectors += round_sectors.sum::<u32>();
        for pass in split(round, lanes_per_pass) {
            let count = self::lines(addresses, pass, bytes, &mut line_buffer);
            output_wavefronts += count.div_ceil(LINES_PER_WAVEFRONT) as u32;
        }
    }
    GlobalTraffic {
        sectors,
        lines,
        wavefronts: atomic_wavefronts(addresses, mask, bytes),
        output_wavefronts,
    }
}

/// Writes the distinct lines of an access to `into`, each with a mask of the accessed sectors (the lowest bit
/// is the first sector), in the order of the first lane that accesses each. A line is identified by its
/// address divided by 128. Returns their number; the remaining elements of `into` are unchanged.
pub fn lines(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    into: &mut [(u64, u8); LANES],
) -> usize {
    let pattern = AddressPattern::of(addresses, mask, bytes);
    find_lines(pattern, addresses, mask, bytes, into, &mut [0; LANES])
}

/// Lists the lines like [`lines`]. For scattered addresses, also writes for each lane the index of its line to
/// `line_indices`; for other patterns `line_indices` is unchanged.
fn find_lines(
    pattern: AddressPattern,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    into: &mut [(u64, u8); LANES],
    line_indices: &mut [u8; LANES],
) -> usize {
    let sector = |address: u64| (address % LINE / SECTOR) as u32;
    match pattern {
        AddressPattern::None => 0,
        AddressPattern::Uniform(address) => {
            into[0] = (address / LINE, 1 << sector(address));
            1
        }
        AddressPattern::Contiguous(start) => {
            let end = start + bytes * LANES as u64 - 1;
            let (first, last) = (start / LINE, end / LINE);
            for (line, entry) in (first..=last).zip(into.iter_mut()) {
                let from = if line == first { sector(start) } else { 0 };
                let to = if line == last { sector(end) } else { 3 };
                *entry = (line, (0b1111 << from & 0b1111 >> (3 - to)) as u8);
            }
            (last - first + 1) as usize
        }
        AddressPattern::Scattered => {
            let mut seen = DistinctKeys::default();
            for lane in active(mask) {
                let (line, bit) = (addresses[lane] / LINE, 1 << sector(addresses[lane]));
                let (index, is_new) = seen.insert(line, |index| into[index].0);
                if is_new {
                    into[index] = (line, bit);
                } else {
                    into[index].1 |= bit;
                }
                line_indices[lane] = index as u8;
            }
            seen.count
        }
    }
}

/// The traffic of a warp's asynchronous copy from global to shared memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyTraffic {
    /// Sectors requested.
    pub sectors: u32,
    /// Passes through the data stage on the way to shared memory, and those among them that bank conflicts
    /// cause.
    pub shared: SharedTraffic,
}

/// Returns the traffic of an asynchronous copy through the L1 cache. Its sectors are those of a load. A
/// wavefront moves one word from each bank to each bank: lanes that read from the same bank are serialized,
/// even if they read the same word, and so are lanes that write to the same bank. If lanes collide on both
/// sides, hardware sometimes needs a few more wavefronts.
pub fn copy(from: &[u64; LANES], to: &[u64; LANES], mask: u32, bytes: u64) -> CopyTraffic {
    let phases = || split(mask, lanes_per_wavefront(bytes));
    let bank_lanes = |at: &[u64; LANES], lanes| max_lanes_per_bank(at, lanes, bytes);
    let wavefronts = phases()
        .map(|lanes| bank_lanes(from, lanes).max(bank_lanes(to, lanes)))
        .sum();
    CopyTraffic {
        sectors: global(from, mask, bytes, false, &mut [(0, 0); LANES]).sectors,
        shared: SharedTraffic {
            wavefronts,
            conflicts: wavefronts - phases().count() as u32,
        },
    }
}

/// Returns the traffic of an asynchronous copy of 16 bytes per lane that bypasses the L1 cache. A sector goes
/// straight to one 32-byte unit of shared memory: it is requested once for each such unit, and separately for
/// lanes that change their half of it. Lanes must write to different addresses.
///
/// Sectors are exact. Wavefronts are exact for sectors that go from one line to one line of shared memory,
/// all shifted or all swapped in the same way; for irregular orders hardware needs a few more or fewer.
pub fn copy_past_l1(from: &[u64; LANES], to: &[u64; LANES], mask: u32) -> CopyTraffic {
    let distinct = |key: &dyn Fn(usize) -> u64| {
        let mut keys = [0; LANES];
        let mut seen = DistinctKeys::default();
        for lane in active(mask) {
            let key = key(lane);
            let (index, is_new) = seen.insert(key, |index| keys[index]);
            if is_new {
                keys[index] = key;
            }
        }
        seen.count as u32
    };
    // 13 bits are enough for a sector of shared memory.
    let key = |source: u64, target: u64, variant: u64| (source << 16) | (target << 3) | variant;
    let half = |lane: usize| (from[lane] ^ to[lane]) / (SECTOR / 2) % 2;
    let sectors = distinct(&|lane| key(from[lane] / SECTOR, to[lane] / SECTOR, half(lane)));
    let lines = |shift: fn(u64, u64) -> u64| {
        distinct(&|lane| {
            let moved = shift(to[lane] / SECTOR, from[lane] / SECTOR) % (LINE / SECTOR);
            key(from[lane] / LINE, to[lane] / LINE, 2 * moved + half(lane))
        })
    };
    let (shifted, swapped) = (lines(u64::wrapping_sub), lines(|to, from| to ^ from));
    CopyTraffic {
        sectors,
        shared: SharedTraffic {
            wavefronts: shifted.min(swapped),
            conflicts: 0,
        },
    }
}

/// Writes the distinct addresses of a load from constant memory to `into`, in the order of the first lane
/// that has each. Each address is one request. Returns their number; the remaining elements of `into` are
/// unchanged.
pub fn constant(addresses: &[u64; LANES], mask: u32, bytes: u64, into: &mut [u64; LANES]) -> usize {
    match AddressPattern::of(addresses, mask, bytes) {
        AddressPattern::None => 0,
        AddressPattern::Uniform(address) => {
            into[0] = address;
            1
        }
        AddressPattern::Contiguous(_) => {
            *into = *addresses;
            LANES
        }
        AddressPattern::Scattered => {
            let mut keys = DistinctKeys::default();
            for lane in active(mask) {
                let (index, is_new) = keys.insert(addresses[lane], |index| into[index]);
                if is_new {
                    into[index] = addresses[lane];
                }
            }
            keys.count
        }
    }
}

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
fn lanes_per_wavefront(bytes: u64) -> usize {
    LANES / (bytes / WORD).max(1) as usize
}

/// Splits a mask into groups of `lanes` adjacent lanes. Groups without active lanes are skipped.
#[inline]
fn split(mask: u32, lanes: usize) -> impl Iterator<Item = u32> {
    let part = FULL >> (LANES - lanes.min(LANES));
    (0..LANES)
        .step_by(lanes)
        .map(move |first| mask & part << first)
        .filter(|&lanes| lanes != 0)
}

/// Returns the wavefronts of an access that is processed in groups of [`lanes_per_wavefront`] lanes, one
/// after the other.
#[inline(always)]
fn phase_wavefronts(
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
fn atomic_wavefronts(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
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
fn max_lanes_per_bank(addresses: &[u64; LANES], mask: u32, bytes: u64) -> u32 {
    let shift = bytes.trailing_zeros();
    let banks = (LANES as u64 * WORD) >> shift;
    let mut requests = [0; LANES];
    for lane in active(mask) {
        requests[((addresses[lane] >> shift) & (banks - 1)) as usize] += 1;
    }
    requests.into_iter().max().unwrap_or(0)
}
