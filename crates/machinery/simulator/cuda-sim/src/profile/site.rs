//! The counts of a single instruction, one of the sites that the profiler distinguishes.

use super::traffic::{GlobalTraffic, RepeatedAccess};

/// The counts of one access, branch or barrier of the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SiteCounts {
    /// Executions by warps with at least one active lane.
    pub requests: u64,
    /// Active lanes, summed over the requests.
    pub threads: u64,
    /// Sectors, or for constant memory distinct addresses.
    pub units: u64,
    /// The units that hit the L1 cache.
    pub hits: u64,
    /// For constant memory: the units that also missed the L1.5 constant cache.
    pub l15_misses: u64,
    /// For atomics on global memory: the number of passes to the L2 cache.
    pub output_wavefronts: u64,
    /// For atomics that are compare-and-swap loops: the divergences at their branches.
    pub divergences: u64,
    /// Passes through the data stage.
    pub wavefronts: u64,
    /// Bank conflicts, or for branches the number of divergences.
    pub conflicts: u64,
}

impl SiteCounts {
    /// Records a request by the lanes in a mask.
    pub fn add_request(&mut self, lanes: u32) {
        self.requests += 1;
        self.threads += u64::from(lanes.count_ones());
    }

    /// Records a request by each of `warps` warps with the same lanes and the same traffic.
    #[inline(always)]
    pub fn add_traffic(&mut self, warps: usize, lanes: u32, traffic: &GlobalTraffic) {
        let warps = warps as u64;
        self.requests += warps;
        self.threads += warps * u64::from(lanes.count_ones());
        self.units += warps * u64::from(traffic.sectors);
        self.wavefronts += warps * u64::from(traffic.wavefronts);
        self.output_wavefronts += warps * u64::from(traffic.output_wavefronts);
    }

    /// Records the repeated execution of an instruction by one warp.
    pub fn add_repeated(&mut self, repeated: &RepeatedAccess) {
        self.requests += u64::from(repeated.times);
        self.threads += u64::from(repeated.lanes);
        self.wavefronts += u64::from(repeated.traffic.wavefronts);
        self.conflicts += u64::from(repeated.traffic.conflicts);
    }

    /// Adds the counts of another SM.
    pub fn add(&mut self, other: &SiteCounts) {
        self.requests += other.requests;
        self.threads += other.threads;
        self.units += other.units;
        self.hits += other.hits;
        self.l15_misses += other.l15_misses;
        self.output_wavefronts += other.output_wavefronts;
        self.divergences += other.divergences;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
    }
}
