//! Accesses of shared memory: wavefronts and bank conflicts.

use super::WORD;
use super::banks::{alike, atomic_turns, first_at_banks, lanes_at_once, split, turns};
use super::distinct::DistinctKeys;
use super::pattern::AddressPattern;
use crate::isa::{Means, Update};
use crate::lanes::{FULL, LANES, active};

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
/// time, even where two lanes want the same word, unless the lanes there are only counted. A
/// compare-and-swap takes each turn twice, for what is expected and for what is new.
pub fn shared_atomic(
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u64,
    update: Update,
) -> SharedTraffic {
    let mask = update.asking(mask);
    if update.means == Means::Counts {
        return shared(addresses, mask, bytes, true);
    }
    let turns = atomic_turns(addresses, mask, bytes);
    SharedTraffic {
        wavefronts: match update.means {
            Means::CompareAndSwap => 2 * turns,
            _ => turns,
        },
        conflicts: turns.saturating_sub(split(mask, lanes_at_once(bytes)).count() as u32),
    }
}

/// What an atomic comes to that is a loop of loads and compare-and-swaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retried {
    pub loads: Repeated,
    pub swaps: Repeated,
    /// How often some lanes left the loop, or went to swap, and others did not.
    pub parted: u32,
}

/// One instruction, several times over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repeated {
    /// How often the warp came to it.
    pub times: u32,
    /// Lanes that took part, each time.
    pub lanes: u32,
    pub traffic: SharedTraffic,
    /// What the costliest of these times came to.
    pub costliest: SharedTraffic,
}

impl Repeated {
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

impl Retried {
    /// Lanes come to the loop once more: all of `load` load, `swap` of them then try to swap, and `again` of
    /// those have to come back. A swap takes no turns for conflicts: lanes that a bank does not serve at once
    /// come back.
    pub fn round(
        &mut self,
        addresses: &[u64; LANES],
        bytes: u64,
        (load, swap, again): (u32, u32, u32),
    ) {
        self.parted += u32::from(swap != 0 && swap != load);
        self.parted += u32::from(again != 0 && again != swap);
        self.loads.add(load, shared(addresses, load, bytes, false));
        let swapping = SharedTraffic {
            wavefronts: 2 * split(swap, lanes_at_once(bytes)).count() as u32,
            conflicts: 0,
        };
        self.swaps.add(swap, swapping);
    }
}

/// What such a loop comes to where each swap changes the value: of the lanes at one address, and of those at
/// one bank, the first is done, and the others go round again.
pub fn retried(addresses: &[u64; LANES], mask: u32, bytes: u64, update: Update) -> Retried {
    let mut waiting = update.asking(mask);
    let mut retried = Retried::default();
    while waiting != 0 {
        let mut swapped = DistinctKeys::default();
        let mut places = [0; LANES];
        let mut again = waiting;
        for lane in active(first_at_banks(addresses, waiting, bytes)) {
            let (place, new) = swapped.place(addresses[lane], |place| places[place]);
            if new {
                places[place] = addresses[lane];
                again &= !(1 << lane);
            }
        }
        retried.round(addresses, bytes, (waiting, waiting, again));
        waiting = again;
    }
    retried
}
