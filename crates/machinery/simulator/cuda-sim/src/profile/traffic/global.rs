//! Accesses to global memory (sectors, lines and wavefronts), asynchronous copies from global to shared memory
//! (`cp.async`), and loads from constant memory, which make one request per distinct address.

use super::shared::{
    SharedTraffic, atomic_wavefronts, lanes_per_wavefront, max_lanes_per_bank, phase_wavefronts,
    split,
};
use super::{AddressPattern, DistinctKeys, LINE, SECTOR, conflict_free_rounds};
use crate::isa::{AtomicMethod, Update};
use crate::lanes::{LANES, active};

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
