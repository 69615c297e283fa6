//! Accesses of global memory: sectors, lines and wavefronts.

use super::banks::{atomic_turns, phases, split};
use super::distinct::{DistinctKeys, rounds};
use super::pattern::AddressPattern;
use super::{LINE, SECTOR};
use crate::isa::{Means, Update};
use crate::lanes::{LANES, active};

/// Lines whose data a load may pick up in one wavefront.
const LINES_AT_ONCE: usize = 4;

/// What a warp's access to global memory comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GlobalTraffic {
    /// Distinct sectors of 32 bytes.
    pub sectors: u32,
    /// Distinct lines of 128 bytes: the L1 cache looks up one a cycle.
    pub lines: u32,
    /// Passes through the L1 cache's data stage.
    pub wavefronts: u32,
    /// Of an atomic: how many times its lanes are sent to the L2 cache, some of them at a time.
    pub turns: u32,
}

/// The sectors, lines and wavefronts of a load from global memory, or of a store.
///
/// Sectors and lines are exact. Wavefronts are those of the banks that shared memory has as well,
/// four lines at a time for a load; hardware sometimes takes a few more where a load's lines lie
/// in no order.
///
/// The lines are put into `found`, as [`lines`] does.
pub fn global(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    write: bool,
    found: &mut [(u64, u8); LANES],
) -> GlobalTraffic {
    let mut places = [0; LANES];
    let pattern = AddressPattern::of(addresses, mask, bytes);
    let count = find_lines(pattern, addresses, mask, bytes, found, &mut places);
    let sectors = found[..count]
        .iter()
        .map(|(_, sectors)| sectors.count_ones())
        .sum();
    let wavefronts = if write || count <= LINES_AT_ONCE {
        phases(pattern, addresses, mask, bytes)
    } else {
        let mut together = [0; LANES.div_ceil(LINES_AT_ONCE)];
        if let AddressPattern::Scattered = pattern {
            for lane in active(mask) {
                together[usize::from(places[lane]) / LINES_AT_ONCE] |= 1 << lane;
            }
        } else {
            // Consecutive lanes over five lines: only the last lines' lanes come later.
            for lane in active(mask) {
                let place = addresses[lane] / LINE - found[0].0;
                together[place as usize / LINES_AT_ONCE] |= 1 << lane;
            }
        }
        together
            .into_iter()
            .map(|lanes| phases(AddressPattern::Scattered, addresses, lanes, bytes))
            .sum()
    };
    GlobalTraffic {
        sectors,
        lines: count as u32,
        wavefronts,
        turns: 0,
    }
}

/// The sectors, lines and wavefronts of an atomic on global memory. Lanes at one address take
/// turns: each turn is sent by itself, so that a sector counts once for each. A turn takes as many
/// more as it has lines beyond four; a compare-and-swap goes half a warp at a time.
pub fn global_atomic(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    update: Update,
) -> GlobalTraffic {
    let mask = update.asking(mask);
    let at_once = match update.means {
        Means::CompareAndSwap => LANES / 2,
        _ => LANES,
    };
    let mut found = [(0, 0); LANES];
    let lines = lines(addresses, mask, bytes, &mut found) as u32;
    let (mut sectors, mut turns) = (0, 0);
    for turn in rounds(addresses, mask) {
        let count = self::lines(addresses, turn, bytes, &mut found);
        let of_turn = found[..count].iter().map(|(_, there)| there.count_ones());
        sectors += of_turn.sum::<u32>();
        for part in split(turn, at_once) {
            let count = self::lines(addresses, part, bytes, &mut found);
            turns += count.div_ceil(LINES_AT_ONCE) as u32;
        }
    }
    GlobalTraffic {
        sectors,
        lines,
        wavefronts: atomic_turns(addresses, mask, bytes),
        turns,
    }
}

/// The distinct lines of an access, each with a bit for every sector of it that is touched (the
/// lowest for the first), in the order of the lanes that touch them first. A line is given by its
/// number, the address divided by 128. Returns how many there are; the rest of `into` is left as
/// it was.
pub fn lines(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    into: &mut [(u64, u8); LANES],
) -> usize {
    let pattern = AddressPattern::of(addresses, mask, bytes);
    find_lines(pattern, addresses, mask, bytes, into, &mut [0; LANES])
}

/// Lists the lines as [`lines`] does. For scattered addresses `places` gets, for every lane, where
/// in the list its line is; for others it stays as it was.
fn find_lines(
    pattern: AddressPattern,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    into: &mut [(u64, u8); LANES],
    places: &mut [u8; LANES],
) -> usize {
    let sector = |address: u64| (address % LINE / SECTOR) as u32;
    match pattern {
        AddressPattern::None => 0,
        AddressPattern::Same(address) => {
            into[0] = (address / LINE, 1 << sector(address));
            1
        }
        AddressPattern::Consecutive(start) => {
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
                let (place, new) = seen.place(line, |place| into[place].0);
                if new {
                    into[place] = (line, bit);
                } else {
                    into[place].1 |= bit;
                }
                places[lane] = place as u8;
            }
            seen.count
        }
    }
}
