//! What a launch did, in numbers. Sums over warps, so the same whatever host thread ran which.

use crate::program::Program;

/// Counts of one launch.
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
    pub global: GlobalCounts,
    pub shared: AccessCounts,
    pub local: AccessCounts,
    pub constant: ConstantCounts,
}

/// A basic block's executions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visit {
    pub warps: u64,
    pub threads: u64,
}

/// Device memory: a request is a warp-level instruction, a sector 32 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GlobalCounts {
    pub load_requests: u64,
    pub load_sectors: u64,
    pub store_requests: u64,
    pub store_sectors: u64,
    /// Sectors of all accesses but loads of a single address.
    pub streamed_sectors: u64,
}

/// Warp-level instructions of a space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccessCounts {
    pub loads: u64,
    pub stores: u64,
}

/// Constant memory through an address in a register. (Constants whose address the compiler
/// knows are operands of other instructions and are not counted here.)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConstantCounts {
    /// Warp-level instructions.
    pub loads: u64,
    /// Distinct addresses a warp, summed: what the constant cache serves one by one.
    pub addresses: u64,
}

impl Counts {
    pub fn new(blocks: usize) -> Counts {
        Counts {
            visits: vec![Visit::default(); blocks],
            ..Counts::default()
        }
    }

    /// PTX instructions, counted once for each thread that ran them.
    pub fn thread_instructions(&self, program: &Program) -> u64 {
        let blocks = program.blocks.iter().zip(&self.visits);
        blocks
            .map(|(block, visit)| u64::from(block.instructions()) * visit.threads)
            .sum()
    }

    /// Warp-level reads of memory that other threads may write.
    pub(crate) fn reads(&self) -> u64 {
        self.global.load_requests + self.shared.loads + self.atomics
    }

    /// Adds another multiprocessor's counts of the same launch.
    pub fn add(&mut self, other: &Counts) {
        for (sum, part) in self.visits.iter_mut().zip(&other.visits) {
            sum.warps += part.warps;
            sum.threads += part.threads;
        }
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.atomics += other.atomics;
        self.global.load_requests += other.global.load_requests;
        self.global.load_sectors += other.global.load_sectors;
        self.global.store_requests += other.global.store_requests;
        self.global.store_sectors += other.global.store_sectors;
        self.global.streamed_sectors += other.global.streamed_sectors;
        self.shared.loads += other.shared.loads;
        self.shared.stores += other.shared.stores;
        self.local.loads += other.local.loads;
        self.local.stores += other.local.stores;
        self.constant.loads += other.constant.loads;
        self.constant.addresses += other.constant.addresses;
    }
}
