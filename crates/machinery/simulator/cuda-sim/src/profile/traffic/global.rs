//! Accesses to global memory: sectors, lines and wavefronts.

use super::banks::{atomic_wavefronts, phase_wavefronts, split};
use super::distinct::{DistinctKeys, conflict_free_rounds};
use super::pattern::AddressPattern;
use super::{LINE, SECTOR};
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
