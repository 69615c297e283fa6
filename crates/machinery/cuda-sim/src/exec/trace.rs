//! What a traced launch tells of each access: who asked for which addresses, and what it came to.
//!
//! It is for whoever draws or explains an access pattern. What an access comes to is what is counted
//! for it; nothing is found out a second time. Left out are local memory, and what asynchronous
//! copies write to shared memory.

pub use crate::isa::{AccessKind, Memory};
use crate::isa::{Listing, SourceLine};
use crate::lanes::LANES;
use std::collections::HashMap;

/// One access of one warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// The block's number in the grid, x fastest, and the warp's in the block.
    pub block: u64,
    pub warp: usize,
    /// Where it is in the source.
    pub source: SourceLine,
    pub kind: AccessKind,
    /// Global, constant or shared memory.
    pub memory: Memory,
    /// Bytes that each lane moves.
    pub bytes: u64,
    /// The lanes that take part, a bit each.
    pub mask: u32,
    /// Each lane's address, in shared memory from where the block's begins.
    pub addresses: [u64; LANES],
    /// Distinct sectors of 32 bytes; of constant memory distinct addresses; zero for shared memory.
    pub units: u32,
    /// Passes through the data stage; zero for constant memory.
    pub wavefronts: u32,
    /// Of shared memory: wavefronts beyond those that the same bytes would take without conflicts.
    pub conflicts: u32,
}

impl Traced {
    /// The lanes that take part, and the address of each.
    pub fn lanes(&self) -> impl Iterator<Item = (usize, u64)> {
        let lanes = self.addresses.iter().copied().enumerate();
        lanes.filter(|(lane, _)| self.mask >> lane & 1 == 1)
    }
}

/// The same as it is recorded while a block runs.
pub struct RawAccess {
    pub warp: usize,
    pub slot: usize,
    pub mask: u32,
    pub at: [u64; LANES],
    pub units: u32,
    pub wavefronts: u32,
    pub conflicts: u32,
}

/// What is kept of the accesses of a traced launch.
pub struct Trace {
    /// Of each instruction the costliest access alone: of those that cost the same, the first one of the
    /// block with the lowest number.
    costliest: bool,
    /// The number of the block that runs.
    block: u64,
    recorded: Vec<(u64, RawAccess)>,
    /// Where an instruction's access is in that list, by its slot, if only one is kept.
    index_by_slot: HashMap<usize, usize>,
}

impl Trace {
    /// Nothing yet.
    pub fn new(costliest: bool) -> Trace {
        Trace {
            costliest,
            block: 0,
            recorded: Vec::new(),
            index_by_slot: HashMap::new(),
        }
    }

    /// From now on accesses are of this block.
    pub fn begin(&mut self, block: u64) {
        self.block = block;
    }

    /// Notes an access of an instruction that comes to so much (see [`Cost`]), if it is one to keep.
    #[cold]
    pub fn record(&mut self, slot: usize, cost: Cost, access: impl FnOnce() -> RawAccess) {
        if !self.costliest {
            self.recorded.push((self.block, access()));
            return;
        }
        let Some(&index) = self.index_by_slot.get(&slot) else {
            self.index_by_slot.insert(slot, self.recorded.len());
            self.recorded.push((self.block, access()));
            return;
        };
        let current = &self.recorded[index];
        let (before, after) = (current.1.cost(), cost);
        if after > before || after == before && self.block < current.0 {
            self.recorded[index] = (self.block, access());
        }
    }

    /// Adds what another multiprocessor recorded.
    pub fn add(&mut self, other: Trace) {
        for (block, access) in other.recorded {
            self.begin(block);
            self.record(access.slot, access.cost(), || access);
        }
    }
}

/// What an access comes to: sectors or distinct addresses first, then wavefronts.
pub type Cost = [u32; 3];

impl RawAccess {
    fn cost(&self) -> Cost {
        [self.units, self.wavefronts, self.conflicts]
    }
}

/// The accesses that were kept, by the blocks' numbers, in the order in which they were accesses.
pub fn traced(program: &Listing, trace: Trace) -> Vec<Traced> {
    let mut recorded = trace.recorded;
    recorded.sort_by_key(|&(block, _)| block);
    let resolve = |(block, recorded): (u64, RawAccess)| {
        let (site, access, memory) = program.sites.access(recorded.slot)?;
        Some(Traced {
            block,
            warp: recorded.warp,
            source: program.source_of(site.address),
            kind: access.kind,
            memory,
            bytes: access.bytes.into(),
            mask: recorded.mask,
            addresses: recorded.at,
            units: recorded.units,
            wavefronts: recorded.wavefronts,
            conflicts: recorded.conflicts,
        })
    };
    recorded.into_iter().filter_map(resolve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(warp: usize, slot: usize, units: u32) -> RawAccess {
        RawAccess {
            warp,
            slot,
            mask: 1,
            at: [0; LANES],
            units,
            wavefronts: 1,
            conflicts: 0,
        }
    }

    /// What a multiprocessor notes whose blocks make these accesses: block, warp, slot, sectors.
    fn recorded(costliest: bool, accesses: &[(u64, usize, usize, u32)]) -> Trace {
        let mut trace = Trace::new(costliest);
        for &(block, warp, slot, units) in accesses {
            trace.begin(block);
            trace.record(slot, [units, 1, 0], || access(warp, slot, units));
        }
        trace
    }

    fn entries(trace: &Trace) -> Vec<(u64, usize, usize, u32)> {
        let recorded = trace.recorded.iter();
        recorded
            .map(|(block, access)| (*block, access.warp, access.slot, access.units))
            .collect()
    }

    #[test]
    fn only_the_costliest_access_of_each_instruction_is_recorded() {
        let accesses = [(4, 0, 7, 4), (4, 1, 7, 32), (4, 2, 7, 32), (4, 0, 9, 1)];
        assert_eq!(
            entries(&recorded(true, &accesses)),
            [(4, 1, 7, 32), (4, 0, 9, 1)]
        );
        assert_eq!(entries(&recorded(false, &accesses)), accesses);
    }

    #[test]
    fn merging_traces_does_not_depend_on_their_order() {
        let one = [(6, 3, 7, 32), (5, 0, 9, 2)];
        let other = [(1, 2, 7, 32), (3, 0, 7, 4), (3, 0, 9, 2), (3, 1, 9, 5)];
        for [first, second] in [[&one[..], &other], [&other, &one]] {
            let mut all = recorded(true, first);
            all.add(recorded(true, second));
            let mut entries = entries(&all);
            entries.sort_unstable();
            assert_eq!(entries, [(1, 2, 7, 32), (3, 1, 9, 5)]);
        }
    }
}
