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
    /// Loads, counted once for each thread that took part.
    pub loads: u64,
    /// Stores, counted likewise.
    pub stores: u64,
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

/// What a launch did, in sums.
///
/// A request is a warp-level instruction, whatever the number of lanes that took part and of the
/// bytes a lane moved; a sector is 32 bytes of device memory. Atomics are counted as atomics alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Loads from device memory, counted once for each thread and instruction: a vector is one.
    pub global_loads: u64,
    /// Stores to device memory, counted likewise.
    pub global_stores: u64,
    /// Warps' loads from device memory.
    pub global_load_requests: u64,
    /// Sectors of those, each counted once in a request.
    pub global_load_sectors: u64,
    /// Warps' stores to device memory.
    pub global_store_requests: u64,
    /// Sectors of those, each counted once in a request.
    pub global_store_sectors: u64,
    /// Warps' loads from shared memory.
    pub shared_load_requests: u64,
    /// Warps' stores to shared memory.
    pub shared_store_requests: u64,
    /// Warps' loads from constant memory at addresses that the compiler did not know.
    pub constant_load_requests: u64,
    /// Distinct addresses in each of those, summed: the constant cache serves them one by one.
    pub constant_addresses: u64,
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

impl Counts {
    pub fn new(blocks: usize) -> Counts {
        Counts {
            visits: vec![Visit::default(); blocks],
            ..Counts::default()
        }
    }

    /// PTX instructions, counted once for each thread that came to them, whether or not their
    /// guard let them act.
    pub fn thread_instructions(&self, program: &Program) -> u64 {
        let blocks = program.blocks.iter().zip(&self.visits);
        blocks
            .map(|(block, visit)| u64::from(block.ptx_instructions) * visit.threads)
            .sum()
    }

    /// The sums, of a launch of `program`.
    pub fn counters(&self, program: &Program) -> Counters {
        Counters {
            global_loads: self.global.loads,
            global_stores: self.global.stores,
            global_load_requests: self.global.load_requests,
            global_load_sectors: self.global.load_sectors,
            global_store_requests: self.global.store_requests,
            global_store_sectors: self.global.store_sectors,
            shared_load_requests: self.shared.loads,
            shared_store_requests: self.shared.stores,
            constant_load_requests: self.constant.loads,
            constant_addresses: self.constant.addresses,
            barriers: self.barriers,
            atomics: self.atomics,
            divergent_branches: self.divergent_branches,
            thread_instructions: self.thread_instructions(program),
        }
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
        self.global.loads += other.global.loads;
        self.global.stores += other.global.stores;
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
