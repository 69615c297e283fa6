//! What some instructions of a launch did to the memory system: sums, so that parts may be added.

/// Counts of a kernel, or of one line of its source.
///
/// Everything is counted a warp at a time, as hardware does. A *request* is one warp's load or
/// store; a *sector* is 32 bytes; a *wavefront* is one pass through the first cache's data stage.
/// Loads of neighbouring words that a GPU's assembler makes one wide load are one request here as
/// well (see `program/wide.rs`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// PTX instructions, once for each warp that came to them.
    pub instructions: u64,
    /// The same, once for each thread.
    pub thread_instructions: u64,
    /// Products of matrices on tensor cores, once for each warp.
    pub products: u64,
    /// Conditional branches, once for each warp.
    pub branches: u64,
    /// Those at which the lanes of a warp parted.
    pub divergent_branches: u64,
    /// Warps' arrivals at block barriers.
    pub barriers: u64,
    /// Loads from global memory, `__ldg` and its like included.
    pub global_loads: Access,
    /// Stores to global memory.
    pub global_stores: Access,
    /// Atomics on global memory.
    pub global_atomics: Access,
    /// Loads from local memory.
    pub local_loads: Access,
    /// Stores to local memory.
    pub local_stores: Access,
    /// Loads from shared memory.
    pub shared_loads: Access,
    /// Stores to shared memory.
    pub shared_stores: Access,
    /// Atomics on shared memory.
    pub shared_atomics: Access,
    /// Asynchronous copies from global to shared memory: what they read.
    pub async_copies: Access,
    /// The same copies: what they write.
    pub copied_to_shared: Access,
    /// Loads of matrices from shared memory (`ldmatrix`).
    pub matrix_loads: Access,
    /// Loads from constant memory at addresses that are in a register.
    pub constant: Constant,
    /// Sectors that go to the second cache: those that miss the first, and all written.
    pub l2: Level2,
}

/// Accesses of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Access {
    /// Warp-level instructions that at least one lane took part in.
    pub requests: u64,
    /// Those, and the ones of warps that come to it with all lanes switched off: a GPU's assembler
    /// makes a short branch around an access a predicate of it.
    pub issued: u64,
    /// Requests, once for each thread that took part.
    pub threads: u64,
    /// Bytes that those threads moved.
    pub bytes: u64,
    /// Distinct sectors of each request, summed. Zero for shared memory.
    pub sectors: u64,
    /// Of those, the ones that the modelled first cache had. Zero for stores and atomics.
    pub hits: u64,
    /// Passes through the data stage: for shared memory the turns that bank conflicts and wide
    /// accesses take, for the others the lines of 128 bytes.
    pub wavefronts: u64,
    /// Wavefronts of shared memory beyond those that the same bytes would take without conflicts.
    pub conflicts: u64,
}

/// Loads from constant memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Constant {
    /// Warp-level instructions.
    pub instructions: u64,
    /// Distinct addresses of each, summed: the constant cache is asked for one after the other.
    pub requests: u64,
    /// Requests that the modelled constant cache had.
    pub hits: u64,
}

/// The second cache, which all multiprocessors share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Level2 {
    /// Sectors read: those that missed the first cache.
    pub read_sectors: u64,
    /// Sectors written.
    pub written_sectors: u64,
}

impl Tally {
    /// Adds what other instructions did.
    pub fn add(&mut self, other: &Tally) {
        self.instructions += other.instructions;
        self.thread_instructions += other.thread_instructions;
        self.products += other.products;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.global_loads.add(&other.global_loads);
        self.global_stores.add(&other.global_stores);
        self.global_atomics.add(&other.global_atomics);
        self.local_loads.add(&other.local_loads);
        self.local_stores.add(&other.local_stores);
        self.shared_loads.add(&other.shared_loads);
        self.shared_stores.add(&other.shared_stores);
        self.shared_atomics.add(&other.shared_atomics);
        self.async_copies.add(&other.async_copies);
        self.copied_to_shared.add(&other.copied_to_shared);
        self.matrix_loads.add(&other.matrix_loads);
        self.constant.add(&other.constant);
        self.l2.read_sectors += other.l2.read_sectors;
        self.l2.written_sectors += other.l2.written_sectors;
    }
}

impl Access {
    /// Adds others of the same kind.
    pub fn add(&mut self, other: &Access) {
        self.requests += other.requests;
        self.issued += other.issued;
        self.threads += other.threads;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.hits += other.hits;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
    }
}

impl Constant {
    /// Adds others.
    pub fn add(&mut self, other: &Constant) {
        self.instructions += other.instructions;
        self.requests += other.requests;
        self.hits += other.hits;
    }
}
