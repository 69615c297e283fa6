//! What one instruction of a program did, counted as it ran.

use super::traffic::{GlobalTraffic, Repeated};

/// Counts of one access, branch or barrier of the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteCounts {
    /// Warps that came to it with a lane that takes part.
    pub requests: u64,
    /// Lanes that took part.
    pub threads: u64,
    /// Sectors; of constant memory distinct addresses.
    pub units: u64,
    /// Of those, the ones that the L1 cache had.
    pub hits: u64,
    /// Of constant memory: those that the larger cache behind the first did not have either.
    pub far: u64,
    /// Of atomics on global memory: how many times lanes of them were sent to the L2 cache.
    pub turns: u64,
    /// Of atomics that are loops: how often lanes parted at their branches.
    pub parted: u64,
    /// Passes through the data stage.
    pub wavefronts: u64,
    /// Bank conflicts; of a branch how often lanes parted.
    pub conflicts: u64,
}

impl SiteCounts {
    /// A warp came with these lanes.
    pub fn request(&mut self, lanes: u32) {
        self.requests += 1;
        self.threads += u64::from(lanes.count_ones());
    }

    /// So many warps came with the same lanes, each of which comes to as much.
    #[inline(always)]
    pub fn add_traffic(&mut self, warps: usize, lanes: u32, each: &GlobalTraffic) {
        let warps = warps as u64;
        self.requests += warps;
        self.threads += warps * u64::from(lanes.count_ones());
        self.units += warps * u64::from(each.sectors);
        self.wavefronts += warps * u64::from(each.wavefronts);
        self.turns += warps * u64::from(each.turns);
    }

    /// A warp came to an instruction over and over.
    pub fn repeat(&mut self, repeated: &Repeated) {
        self.requests += u64::from(repeated.times);
        self.threads += u64::from(repeated.lanes);
        self.wavefronts += u64::from(repeated.traffic.wavefronts);
        self.conflicts += u64::from(repeated.traffic.conflicts);
    }

    /// Adds what another multiprocessor counted.
    pub fn add(&mut self, other: &SiteCounts) {
        self.requests += other.requests;
        self.threads += other.threads;
        self.units += other.units;
        self.hits += other.hits;
        self.far += other.far;
        self.turns += other.turns;
        self.parted += other.parted;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
    }
}
