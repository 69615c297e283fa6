//! What some instructions of a launch did to the memory system: sums, so that parts may be added.

use crate::isa::{AccessClass, AccessSet, Direction};
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// Counts of a kernel, or of one line of its source.
///
/// Everything is counted a warp at a time, as hardware does. A *request* is one warp's load or
/// store; a *sector* is 32 bytes; a *wavefront* is one pass through the L1 cache's data stage.
/// Loads of neighbouring words that a GPU's assembler makes one wide load are one request here as
/// well (see `lower/analysis/wide.rs`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// PTX instructions, once for each warp that came to them.
    pub instructions: u64,
    /// The same, once for each thread.
    pub thread_instructions: u64,
    /// Products of matrices on tensor cores, once for each warp.
    pub products: u64,
    /// Conditional branches, once for each warp.
    pub branches: u64,
    /// Those at which the lanes of a warp parted, and which are branches in machine code too.
    pub divergent_branches: u64,
    /// Warps' arrivals at block barriers.
    pub barriers: u64,
    /// Accesses of each class, by its number: `tally[AccessClass::GlobalLoad]`.
    pub accesses: [AccessCounts; AccessClass::COUNT],
}

/// Accesses of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessCounts {
    /// Warp-level instructions that at least one lane took part in.
    pub requests: u64,
    /// Those, and the ones of warps that come to it with all lanes switched off: a GPU's assembler
    /// makes a short branch around an access a predicate of it. Of constant memory, where no counter
    /// tells of them, the requests alone.
    pub issued: u64,
    /// Requests, once for each thread that took part.
    pub threads: u64,
    /// Bytes that those threads moved.
    pub bytes: u64,
    /// Distinct sectors of each request, summed. Zero for shared and constant memory.
    pub sectors: u64,
    /// Distinct addresses of each request to constant memory, summed: the constant cache is asked
    /// for one after the other. Zero for other memories.
    pub addresses: u64,
    /// Of the sectors, or the addresses, those that the modelled cache in front of the memory had.
    /// Zero for stores and atomics.
    pub hits: u64,
    /// Of atomics on global memory: how many times lanes of a request were sent to the L2 cache. Those
    /// that share an address go one after the other. Zero for all others.
    pub turns: u64,
    /// Passes through the data stage: for shared memory the turns that bank conflicts and wide
    /// accesses take, for the others the lines of 128 bytes. Zero for constant memory.
    pub wavefronts: u64,
    /// Wavefronts of shared memory beyond those that the same bytes would take without conflicts.
    pub conflicts: u64,
}

/// The L2 cache, which all multiprocessors share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Level2 {
    /// Sectors read: those that missed the L1 cache.
    pub read_sectors: u64,
    /// Sectors written.
    pub written_sectors: u64,
}

impl Tally {
    /// Nothing but accesses of some classes.
    pub fn of<const N: usize>(accesses: [(AccessClass, AccessCounts); N]) -> Tally {
        let mut tally = Tally::default();
        for (class, counts) in accesses {
            tally[class] = counts;
        }
        tally
    }

    /// Adds what other instructions did.
    pub fn add(&mut self, other: &Tally) {
        self.instructions += other.instructions;
        self.thread_instructions += other.thread_instructions;
        self.products += other.products;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        for (sum, part) in self.accesses.iter_mut().zip(&other.accesses) {
            sum.add(part);
        }
    }

    /// The accesses of some classes together.
    pub fn sum(&self, classes: AccessSet) -> AccessCounts {
        let mut sum = AccessCounts::default();
        for class in classes.iter() {
            sum.add(&self[class]);
        }
        sum
    }

    /// Sectors that go to the L2 cache: those that miss the first, and all written.
    pub fn l2(&self) -> Level2 {
        let reads = AccessSet::DEVICE.and(AccessSet::that(Direction::Reads));
        Level2 {
            read_sectors: self.sum(reads).misses(),
            written_sectors: self.sum(AccessSet::DEVICE.without(reads)).misses(),
        }
    }
}

impl Index<AccessClass> for Tally {
    type Output = AccessCounts;

    fn index(&self, class: AccessClass) -> &AccessCounts {
        &self.accesses[class as usize]
    }
}

impl IndexMut<AccessClass> for Tally {
    fn index_mut(&mut self, class: AccessClass) -> &mut AccessCounts {
        &mut self.accesses[class as usize]
    }
}

impl AccessCounts {
    /// Adds others.
    pub fn add(&mut self, other: &AccessCounts) {
        self.requests += other.requests;
        self.issued += other.issued;
        self.threads += other.threads;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.addresses += other.addresses;
        self.hits += other.hits;
        self.turns += other.turns;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
    }

    /// Sectors that the L1 cache did not have.
    pub fn misses(&self) -> u64 {
        self.sectors.saturating_sub(self.hits)
    }
}
