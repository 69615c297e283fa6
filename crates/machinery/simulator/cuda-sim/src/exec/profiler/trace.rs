//! Traces: a record of each access of a launch, with its lanes' addresses and its cost.
//!
//! Traces serve to draw and explain access patterns. The recorded cost is the counted cost, not computed a
//! second time. Accesses to local memory and the shared-memory writes of asynchronous copies are not
//! recorded.

pub use crate::isa::{AccessKind, Memory};

use crate::isa::{Listing, SourceLine};
use crate::lanes::LANES;
use std::collections::HashMap;

/// One access of one warp.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// Index of the block in the grid, x fastest.
    pub block: u64,
    pub warp: usize,
    /// Location in the source code.
    pub source: SourceLine,
    pub kind: AccessKind,
    /// State space: global, constant or shared memory.
    pub memory: Memory,
    /// Bytes per lane.
    pub bytes: u64,
    /// Mask of the participating lanes.
    pub mask: u32,
    /// Address of each lane. Addresses in shared memory are relative to the start of the block's.
    pub addresses: [u64; LANES],
    /// Number of distinct 32-byte sectors; for constant memory the number of distinct addresses; 0 for shared
    /// memory.
    pub units: u32,
    /// Number of wavefronts; 0 for constant memory.
    pub wavefronts: u32,
    /// For shared memory, the number of wavefronts in excess of a conflict-free access of the same bytes.
    pub conflicts: u32,
    /// Bytes of the warp's copies of `cp.async` that are in flight.
    pub bytes_in_flight: u64,
    /// Number of the block's barriers that have opened before.
    pub phase: u32,
    /// Bytes of the block's copies of `cp.async` that are in flight in this phase: the sum of each warp's largest number.
    pub phase_bytes_in_flight: u64,
}

impl Traced {
    /// Iterates over the participating lanes and their addresses.
    pub fn lanes(&self) -> impl Iterator<Item = (usize, u64)> {
        let lanes = self.addresses.iter().copied().enumerate();
        lanes.filter(|(lane, _)| self.mask >> lane & 1 == 1)
    }
}

/// An access as recorded while a block runs.
pub struct RawAccess {
    pub warp: usize,
    pub slot: usize,
    pub mask: u32,
    pub at: [u64; LANES],
    pub units: u32,
    pub wavefronts: u32,
    pub conflicts: u32,
    pub bytes_in_flight: u64,
    pub phase: u32,
}

/// The number of accesses after which a trace records no more.
const MAX_RECORDED: usize = 1 << 18;

/// The recorded accesses of a traced launch.
pub struct Trace {
    /// True to keep only the costliest access of each instruction; among equal ones, the first of the block
    /// with the lowest index.
    costliest: bool,
    /// Index of the running block.
    block: u64,
    recorded: Vec<(u64, RawAccess)>,
    /// Index in `recorded` of each instruction's access, by slot, if only one per instruction is kept.
    index_by_slot: HashMap<usize, usize>,
    /// The bytes of each warp's copies of `cp.async` that are in flight, by block.
    copies: HashMap<u64, HashMap<usize, u64>>,
    /// The number of barriers of each block that have opened.
    phases: HashMap<u64, u32>,
    /// The largest number of bytes of each warp's copies that are in flight in a block's phase.
    phase_bytes: HashMap<(u64, u32), HashMap<usize, u64>>,
}

impl Trace {
    /// Creates an empty trace.
    pub fn new(costliest: bool) -> Trace {
        Trace {
            costliest,
            block: 0,
            recorded: Vec::new(),
            index_by_slot: HashMap::new(),
            copies: HashMap::new(),
            phases: HashMap::new(),
            phase_bytes: HashMap::new(),
        }
    }

    /// Sets the block of the accesses that follow.
    pub fn set_block(&mut self, block: u64) {
        self.block = block;
    }

    /// Sets the number of bytes of the copies of a warp of the running block that are in flight.
    pub fn set_bytes_in_flight(&mut self, warp: usize, bytes: u64) {
        let copies = self.copies.entry(self.block).or_default();
        copies.insert(warp, bytes);
        let in_phase = self.phase_bytes.entry((self.block, self.phase()));
        let largest = in_phase.or_default().entry(warp).or_default();
        *largest = bytes.max(*largest);
    }

    /// Returns the number of bytes of the copies of a warp of the running block that are in flight.
    pub fn bytes_in_flight(&self, warp: usize) -> u64 {
        let copies = self.copies.get(&self.block);
        copies
            .and_then(|copies| copies.get(&warp))
            .copied()
            .unwrap_or(0)
    }

    /// Starts the next phase of the running block.
    pub fn open_barrier(&mut self) {
        *self.phases.entry(self.block).or_default() += 1;
        if let Some(copies) = self.copies.get(&self.block) {
            let in_phase = (self.block, self.phase());
            self.phase_bytes.insert(in_phase, copies.clone());
        }
    }

    /// Returns the number of barriers of the running block that have opened.
    pub fn phase(&self) -> u32 {
        self.phases.get(&self.block).copied().unwrap_or(0)
    }

    /// Records an access with this cost, unless a costlier access of its instruction is kept instead.
    #[cold]
    pub fn record(&mut self, slot: usize, cost: Cost, access: impl FnOnce() -> RawAccess) {
        if !self.costliest {
            if self.recorded.len() < MAX_RECORDED {
                self.recorded.push((self.block, access()));
            }
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

    /// Merges the trace of another SM.
    pub fn add(&mut self, other: Trace) {
        self.phase_bytes.extend(other.phase_bytes);
        for (block, access) in other.recorded {
            self.set_block(block);
            self.record(access.slot, access.cost(), || access);
        }
    }
}

/// Cost of an access, compared in this order: sectors or distinct addresses, wavefronts, bank conflicts.
pub type Cost = [u32; 3];

impl RawAccess {
    fn cost(&self) -> Cost {
        [self.units, self.wavefronts, self.conflicts]
    }
}

/// Returns the recorded accesses by block index, in program order within a block.
pub fn traced(program: &Listing, trace: Trace) -> Vec<Traced> {
    let (mut recorded, phase_bytes) = (trace.recorded, trace.phase_bytes);
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
            bytes_in_flight: recorded.bytes_in_flight,
            phase: recorded.phase,
            phase_bytes_in_flight: phase_bytes
                .get(&(block, recorded.phase))
                .map_or(0, |warps| warps.values().sum()),
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
            bytes_in_flight: 0,
            phase: 0,
        }
    }

    /// Creates the trace of an SM whose blocks make these accesses: block, warp, slot, sectors.
    fn recorded(costliest: bool, accesses: &[(u64, usize, usize, u32)]) -> Trace {
        let mut trace = Trace::new(costliest);
        for &(block, warp, slot, units) in accesses {
            trace.set_block(block);
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
