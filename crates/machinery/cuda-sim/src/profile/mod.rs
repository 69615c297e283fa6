//! What a launch did, in numbers. Sums over warps, so the same whatever host thread ran which.

pub(crate) mod cache;
pub(crate) mod collect;
mod launch;
mod metric;
pub(crate) mod shape;
pub(crate) mod site;
mod tally;
pub mod traffic;

pub use launch::{LaunchProfile, LineProfile};
pub use metric::{Agreement, Figure, Group, METRICS, Metric};
pub use tally::{AccessCounts, Level2, Tally};

use serde::{Deserialize, Serialize};

use crate::isa::Listing;

/// What is counted of every launch, whether or not it is profiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often each basic block of the program was entered.
    pub visits: Vec<Visit>,
    /// Branches at which lanes of a warp parted.
    pub divergent_branches: u64,
    /// Warp-level arrivals at block barriers.
    pub barriers: u64,
    /// Warp-level atomics.
    pub atomics: u64,
    /// Loads from device memory, counted once for each thread that took part.
    pub global_loads: u64,
    /// Stores to device memory, counted likewise.
    pub global_stores: u64,
    /// Warp-level reads of memory that other threads may write.
    pub(crate) reads: u64,
    /// Of blocks that have ended.
    pub(crate) work: Work,
}

/// How evenly the work falls on blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Warp instructions: of the program that runs, whose instructions need not be those of the PTX.
    pub instructions: Shares,
    /// Loads from device memory and stores to it, once for each thread: a block that spins works hard,
    /// and does nothing.
    pub accesses: Shares,
}

/// Of one kind of work: what all blocks do together, and what the one does that does most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    all: u64,
    busiest: u64,
}

impl Work {
    /// Adds another part of the same launch.
    fn add(&mut self, other: &Work) {
        self.instructions.add(&other.instructions);
        self.accesses.add(&other.accesses);
    }
}

impl Shares {
    /// A block has ended, which did so much.
    pub fn add_block(&mut self, work: u64) {
        self.add(&Shares {
            all: work,
            busiest: work,
        });
    }

    fn add(&mut self, other: &Shares) {
        self.all += other.all;
        self.busiest = self.busiest.max(other.busiest);
    }

    /// Of all blocks.
    pub fn all(&self) -> u64 {
        self.all
    }

    /// How many times as much the busiest of so many blocks does as blocks do on average.
    pub fn unevenness(&self, blocks: u64) -> f64 {
        match self.all {
            0 => 1.0,
            all => self.busiest as f64 * blocks as f64 / all as f64,
        }
    }
}

/// A basic block's executions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visit {
    pub warps: u64,
    pub threads: u64,
}

/// What a launch did, in sums that are known of every launch. [`LaunchProfile`] has the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Loads from device memory, counted once for each thread and instruction: a vector is one.
    pub global_loads: u64,
    /// Stores to device memory, counted likewise.
    pub global_stores: u64,
    /// Warps' arrivals at block barriers.
    pub barriers: u64,
    /// Warps' atomics.
    pub atomics: u64,
    /// Branches at which the lanes of a warp parted.
    pub divergent_branches: u64,
    /// PTX instructions, counted once for each thread that came to them, whether or not their
    /// guard let them act.
    pub thread_instructions: u64,
}

impl Counters {
    /// Adds another launch's.
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

    /// Nothing, again.
    pub(crate) fn clear(&mut self) {
        let mut visits = std::mem::take(&mut self.visits);
        visits.fill(Visit::default());
        *self = Counts {
            visits,
            ..Counts::default()
        };
    }

    /// PTX instructions, counted once for each thread that came to them, whether or not their
    /// guard let them act.
    pub fn thread_instructions(&self, program: &Listing) -> u64 {
        let blocks = program.blocks.iter().zip(&self.visits);
        blocks
            .map(|(block, visit)| u64::from(block.ptx_instructions) * visit.threads)
            .sum()
    }

    /// Loads from device memory and stores to it, once for each thread.
    pub(crate) fn accesses(&self) -> u64 {
        self.global_loads + self.global_stores
    }

    /// The sums, of a launch of `program`.
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
