//! How fast the parts of a GPU are: what the time model reads.
//!
//! A cycle is one of the multiprocessors' clock, [`DeviceSpec::clock_khz`](super::DeviceSpec).

/// The rates and latencies of one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Warp instructions a multiprocessor issues in a cycle.
    pub issued_per_cycle: f64,
    /// Lanes for which a multiprocessor starts a 32-bit floating-point addition, multiplication or
    /// fused multiply-add in a cycle. A warp has 32.
    pub fp32_lanes: f64,
    /// Lanes for which a multiprocessor starts a 32-bit integer addition, logic operation or
    /// comparison in a cycle.
    pub integer_lanes: f64,
    /// Lanes for which a multiprocessor starts an approximate reciprocal, square root, sine or the
    /// like in a cycle.
    pub special_lanes: f64,
    /// Lanes for which a multiprocessor starts a 64-bit floating-point operation in a cycle.
    pub double_lanes: f64,
    /// Cycles that the tensor cores of a multiprocessor take for a warp's product of the largest
    /// matrices that one instruction takes (`mma` m16n8k8 of tf32, m16n8k16 of f16 and bf16); 0 for a
    /// GPU without such tensor cores.
    pub tensor_cycles: f64,
    /// Cycles that the tensor cores of a multiprocessor take for eight columns of a warp's part of a product
    /// of a warpgroup (`wgmma` of tf32, f16 and bf16); 0 for a GPU without such products.
    pub warpgroup_cycles: f64,
    /// Wavefronts that the L1 cache or shared memory of a multiprocessor serves in a cycle. A
    /// wavefront is one pass over all banks: 4 bytes of each.
    pub load_store_wavefronts: f64,
    /// The L1 cache of a multiprocessor for loads from global memory, in bytes; 0 where there is
    /// none.
    pub l1_bytes: u32,
    /// Whether shared memory is taken from [`l1_bytes`](Self::l1_bytes), so that the cache is what
    /// the blocks' shared memory leaves of them.
    pub l1_shares_with_shared: bool,
    /// Whether an ordinary load from global memory goes through the L1 cache. Where it does not,
    /// it goes to the second.
    pub l1_caches_global: bool,
    /// Whether a load of read-only data (`__ldg`, `ld.global.nc`) goes through the L1 cache.
    pub read_only_cache: bool,
    /// Cycles that the constant cache of a multiprocessor takes for a request (one distinct address
    /// of a warp) that it holds.
    pub constant_hit_cycles: f64,
    /// Cycles that a multiprocessor takes for a request that its constant cache does not hold, but
    /// the larger cache behind it does.
    pub constant_miss_cycles: f64,
    /// Cycles that a multiprocessor takes for a request that neither of its two constant caches
    /// holds.
    pub constant_far_cycles: f64,
    /// The first constant cache of a multiprocessor, in bytes.
    pub constant_cache_bytes: u32,
    /// The larger cache behind the first constant cache, in bytes.
    pub constant_behind_bytes: u32,
    /// Bytes that the L2 cache gives all multiprocessors together in a cycle. Without a L2
    /// cache, what device memory gives at its peak.
    pub l2_bytes_per_cycle: f64,
    /// Bytes a second that kernels reach at most when they read and write device memory: less than
    /// its peak bandwidth.
    pub memory_bandwidth_reached: f64,
    /// How long an instruction waits for the result of another.
    pub latency: Latencies,
    /// Seconds from the end of one launch to the start of the next, on a stream that is never
    /// empty.
    pub launch_seconds: f64,
    /// Cycles from the start of one block to the start of the next, on whichever multiprocessors.
    pub block_cycles: f64,
    /// Cycles that a block is on its multiprocessor before its first instruction and after its last.
    pub block_start_cycles: f64,
}

/// Cycles from the start of an instruction to that of another that uses its result, when the
/// multiprocessor does nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    /// A 32-bit addition, multiplication or fused multiply-add.
    pub arithmetic: f64,
    /// A product of matrices on tensor cores.
    pub tensor: f64,
    /// A load from shared memory.
    pub shared: f64,
    /// A load from the first constant cache.
    pub constant: f64,
    /// A load from the L1 cache.
    pub l1: f64,
    /// A load from the L2 cache.
    pub l2: f64,
    /// A load from device memory.
    pub memory: f64,
    /// A barrier that all warps have reached: cycles once for the block, and cycles for each of its
    /// warps.
    pub barrier: [f64; 2],
}
