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

/// The same as it is noted while a block runs.
pub struct TracedAccess {
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
    noted: Vec<(u64, TracedAccess)>,
    /// Where an instruction's access is in that list, by its slot, if only one is kept.
    places: HashMap<usize, usize>,
}

impl Trace {
    /// Nothing yet.
    pub fn new(costliest: bool) -> Trace {
        Trace {
            costliest,
            block: 0,
            noted: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// From now on accesses are of this block.
    pub fn begin(&mut self, block: u64) {
        self.block = block;
    }

    /// Notes an access of an instruction that comes to so much (see [`Cost`]), if it is one to keep.
    #[cold]
    pub fn note(&mut self, slot: usize, cost: Cost, access: impl FnOnce() -> TracedAccess) {
        if !self.costliest {
            self.noted.push((self.block, access()));
            return;
        }
        let Some(&place) = self.places.get(&slot) else {
            self.places.insert(slot, self.noted.len());
            self.noted.push((self.block, access()));
            return;
        };
        let known = &self.noted[place];
        let (before, after) = (known.1.cost(), cost);
        if after > before || after == before && self.block < known.0 {
            self.noted[place] = (self.block, access());
        }
    }

    /// Adds what another multiprocessor noted.
    pub fn add(&mut self, other: Trace) {
        for (block, access) in other.noted {
            self.begin(block);
            self.note(access.slot, access.cost(), || access);
        }
    }
}

/// What an access comes to: sectors or distinct addresses first, then wavefronts.
pub type Cost = [u32; 3];

impl TracedAccess {
    fn cost(&self) -> Cost {
        [self.units, self.wavefronts, self.conflicts]
    }
}

/// The accesses that were kept, by the blocks' numbers, in the order in which they were made.
pub fn traced(program: &Listing, trace: Trace) -> Vec<Traced> {
    let mut noted = trace.noted;
    noted.sort_by_key(|&(block, _)| block);
    let found = |(block, noted): (u64, TracedAccess)| {
        let (site, access, memory) = program.sites.access(noted.slot)?;
        Some(Traced {
            block,
            warp: noted.warp,
            source: program.source_of(site.address),
            kind: access.kind,
            memory,
            bytes: access.bytes.into(),
            mask: noted.mask,
            addresses: noted.at,
            units: noted.units,
            wavefronts: noted.wavefronts,
            conflicts: noted.conflicts,
        })
    };
    noted.into_iter().filter_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(warp: usize, slot: usize, units: u32) -> TracedAccess {
        TracedAccess {
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
    fn noted(costliest: bool, made: &[(u64, usize, usize, u32)]) -> Trace {
        let mut trace = Trace::new(costliest);
        for &(block, warp, slot, units) in made {
            trace.begin(block);
            trace.note(slot, [units, 1, 0], || access(warp, slot, units));
        }
        trace
    }

    fn kept(trace: &Trace) -> Vec<(u64, usize, usize, u32)> {
        let noted = trace.noted.iter();
        noted
            .map(|(block, it)| (*block, it.warp, it.slot, it.units))
            .collect()
    }

    #[test]
    fn of_each_instruction_the_costliest_access_stays() {
        let made = [(4, 0, 7, 4), (4, 1, 7, 32), (4, 2, 7, 32), (4, 0, 9, 1)];
        assert_eq!(kept(&noted(true, &made)), [(4, 1, 7, 32), (4, 0, 9, 1)]);
        assert_eq!(kept(&noted(false, &made)), made);
    }

    #[test]
    fn it_does_not_depend_on_which_multiprocessor_is_asked_first() {
        let one = [(6, 3, 7, 32), (5, 0, 9, 2)];
        let other = [(1, 2, 7, 32), (3, 0, 7, 4), (3, 0, 9, 2), (3, 1, 9, 5)];
        for [first, second] in [[&one[..], &other], [&other, &one]] {
            let mut all = noted(true, first);
            all.add(noted(true, second));
            let mut kept = kept(&all);
            kept.sort_unstable();
            assert_eq!(kept, [(1, 2, 7, 32), (3, 1, 9, 5)]);
        }
    }
}
