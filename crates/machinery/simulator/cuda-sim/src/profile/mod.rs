//! The counters of a launch. All are sums over warps, so they do not depend on which host thread ran which
//! warp.

pub(crate) mod cache;
pub(crate) mod collect;
mod metric;
pub(crate) mod shape;
mod tally;
pub mod traffic;

pub use metric::{Agreement, Group, METRICS, Metric, MetricSource};
pub use tally::{AccessCounts, L2Traffic, LaunchProfile, LineProfile, Tally};

use serde::{Deserialize, Serialize};

use crate::isa::Listing;

/// The counts that every launch keeps, profiled or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// The executions of each basic block of the program.
    pub visits: Vec<Visit>,
    /// Branches at which the lanes of a warp diverged.
    pub divergent_branches: u64,
    /// Warp-level arrivals at block barriers.
    pub barriers: u64,
    /// Warp-level atomics.
    pub atomics: u64,
    /// Loads from device memory, counted per active thread.
    pub global_loads: u64,
    /// Stores to device memory, counted per active thread.
    pub global_stores: u64,
    /// Warp-level reads of memory that other threads may write.
    pub(crate) reads: u64,
    /// The work of the blocks that have ended.
    pub(crate) work: Work,
}

/// The distribution of work over blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Warp instructions of the executed program, which need not be those of the PTX.
    pub instructions: WorkShare,
    /// Loads from and stores to device memory, per thread. A block that spins executes many instructions but
    /// few accesses.
    pub accesses: WorkShare,
    /// Cycles of delay loops that the simulator skipped.
    pub delays: WorkShare,
    /// Nanoseconds of sleep.
    pub sleeps: WorkShare,
    /// The instructions of the busiest warp of each block, summed over all blocks.
    pub busiest_warps: u64,
}

/// One kind of work: the total over all blocks, and that of the busiest block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WorkShare {
    total: u64,
    busiest: u64,
}

impl Work {
    /// Adds another part of the same launch.
    fn add(&mut self, other: &Work) {
        self.instructions.add(&other.instructions);
        self.accesses.add(&other.accesses);
        self.delays.add(&other.delays);
        self.sleeps.add(&other.sleeps);
        self.busiest_warps += other.busiest_warps;
    }
}

impl WorkShare {
    /// Adds the work of a block that has ended.
    pub fn add_block(&mut self, work: u64) {
        self.add(&WorkShare {
            total: work,
            busiest: work,
        });
    }

    fn add(&mut self, other: &WorkShare) {
        self.total += other.total;
        self.busiest = self.busiest.max(other.busiest);
    }

    /// Returns the total over all blocks.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the work of the busiest block.
    pub fn busiest(&self) -> u64 {
        self.busiest
    }

    /// Returns the busiest block's share of the total.
    pub fn busiest_share(&self) -> f64 {
        self.busiest as f64 / self.total.max(1) as f64
    }

    /// Returns the ratio of the busiest block's work to the average over `blocks` blocks.
    pub fn imbalance(&self, blocks: u64) -> f64 {
        match self.total {
            0 => 1.0,
            total => self.busiest as f64 * blocks as f64 / total as f64,
        }
    }
}

/// The number of executions of a basic block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visit {
    pub warps: u64,
    pub threads: u64,
}

/// The counters that are known of every launch. [`LaunchProfile`] has the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Loads from device memory, counted per thread and instruction. A vector load counts once.
    pub global_loads: u64,
    /// Stores to device memory, counted per active thread.
    pub global_stores: u64,
    /// Arrivals of warps at block barriers.
    pub barriers: u64,
    /// Atomics, counted per warp.
    pub atomics: u64,
    /// Branches at which the lanes of a warp parted.
    pub divergent_branches: u64,
    /// PTX instructions, counted per thread that reached them, whether or not their guard predicate was true.
    pub thread_instructions: u64,
}

impl Counters {
    /// Adds another launch's counters.
    pub(crate) fn add(&mut self, other: &Counters) {
        self.global_loads += other.global_loads;
        self.global_stores += other.global_stores;
        self.barriers += other.barriers;
        self.atomics += other.atomics;
        self.divergent_branches += other.divergent_branches;
        self.thread_instructions += other.thread_instructions;
    }
}

impl Counts {
    pub fn new(blocks: usize) -> Counts {
        Counts {
            visits: vec![Visit::default(); blocks],
            ..Counts::default()
        }
    }

    /// Resets all counts to zero.
    pub(crate) fn clear(&mut self) {
        let mut visits = std::mem::take(&mut self.visits);
        visits.fill(Visit::default());
        *self = Counts {
            visits,
            ..Counts::default()
        };
    }

    /// Returns the number of PTX instructions, counted per thread that reached them, whether or not their
    /// guard predicate was true.
    pub fn thread_instructions(&self, program: &Listing) -> u64 {
        let blocks = program.blocks.iter().zip(&self.visits);
        blocks
            .map(|(block, visit)| u64::from(block.ptx_instructions) * visit.threads)
            .sum()
    }

    /// Returns the loads from and stores to device memory, counted per thread.
    pub(crate) fn accesses(&self) -> u64 {
        self.global_loads + self.global_stores
    }

    /// Returns the counters of a launch of `program`.
    pub fn counters(&self, program: &Listing) -> Counters {
        Counters {
            global_loads: self.global_loads,
            global_stores: self.global_stores,
            barriers: self.barriers,
            atomics: self.atomics,
            divergent_branches: self.divergent_branches,
            thread_instructions: self.thread_instructions(program),
        }
    }

    /// Adds another part of the same launch.
    pub fn add(&mut self, other: &Counts) {
        for (sum, part) in self.visits.iter_mut().zip(&other.visits) {
            sum.warps += part.warps;
            sum.threads += part.threads;
        }
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.atomics += other.atomics;
        self.global_loads += other.global_loads;
        self.global_stores += other.global_stores;
        self.reads += other.reads;
        self.work.add(&other.work);
    }
}
