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
    /// The same for 32-bit integer additions, logic and comparisons.
    pub integer_lanes: f64,
    /// The same for approximate reciprocals, square roots, sines and the like.
    pub special_lanes: f64,
    /// The same for 64-bit floating-point operations.
    pub double_lanes: f64,
    /// Cycles that the tensor cores of a multiprocessor take for a warp's product of matrices as
    /// deep as there are (`mma` m16n8k8 of tf32, m16n8k16 of f16 and bf16); 0 where there are none
    /// that take them.
    pub tensor_cycles: f64,
    /// Wavefronts that the first cache or shared memory of a multiprocessor serves in a cycle. A
    /// wavefront is one pass over all banks: 4 bytes of each.
    pub load_store_wavefronts: f64,
    /// The first cache of a multiprocessor for loads from global memory, in bytes; 0 where there is
    /// none.
    pub l1_bytes: u32,
    /// Whether [`l1_bytes`](Self::l1_bytes) holds shared memory too, so that a cache is what blocks
    /// leave of it.
    pub l1_shares_with_shared: bool,
    /// Whether an ordinary load from global memory goes through the first cache. Where it does not,
    /// it goes to the second.
    pub l1_caches_global: bool,
    /// Whether a load of read-only data (`__ldg`, `ld.global.nc`) goes through the first cache.
    pub read_only_cache: bool,
    /// Cycles that the constant cache of a multiprocessor takes for a request (one distinct address
    /// of a warp) that it holds.
    pub constant_hit_cycles: f64,
    /// The same for a request that it does not hold, but the larger cache behind it does.
    pub constant_miss_cycles: f64,
    /// The same for a request that neither of the two holds.
    pub constant_far_cycles: f64,
    /// The first constant cache of a multiprocessor, in bytes.
    pub constant_cache_bytes: u32,
    /// The larger one behind it.
    pub constant_behind_bytes: u32,
    /// Bytes that the second cache gives all multiprocessors together in a cycle. Without a second
    /// cache, what device memory gives at its peak.
    pub l2_bytes_per_cycle: f64,
    /// Bytes a second that device memory reaches, of its peak bandwidth.
    pub memory_bandwidth_reached: f64,
    /// How long what depends on a result waits for it.
    pub latency: Latencies,
    /// Seconds from the end of one launch to the start of the next, on a stream that is never
    /// empty.
    pub launch_seconds: f64,
    /// Cycles between one block handed out to a multiprocessor and the next, to any of them.
    pub block_cycles: f64,
    /// Cycles that a block keeps its place besides those of its instructions: until the first of
    /// them, and after the last.
    pub block_start_cycles: f64,
}

/// Cycles from an instruction to the first that can use its result, nothing else going on.
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
    /// A load from the first cache.
    pub l1: f64,
    /// A load from the second cache.
    pub l2: f64,
    /// A load from device memory.
    pub memory: f64,
    /// A barrier with all warps there: cycles for the block, and for each of its warps.
    pub barrier: [f64; 2],
}

/// What was measured on an H200 alone and is taken to be the same elsewhere: nobody has published
/// it for the other GPUs.
pub(super) mod as_on_h200 {
    /// The constant cache, a request it holds: `scripts/rates.cu`, "constant memory", 1 within
    /// 1024.
    pub const CONSTANT_HIT_CYCLES: f64 = 2.0;
    /// A request that the cache behind it holds: the same, 32 within 16384 (686.7 cycles for 32
    /// requests, of which an eighth hit the first).
    pub const CONSTANT_MISS_CYCLES: f64 = 16.0;
    /// A request that neither holds: one pseudo-random access of 64 KB takes 33 cycles
    /// (`add-constant`, `docs/results/h200.md`), and half of them are in the cache behind.
    pub const CONSTANT_FAR_CYCLES: f64 = 33.0;
    /// The cache behind the first: 32 addresses take longer the more of 4 to 32 KB they lie in,
    /// and no longer beyond.
    pub const CONSTANT_BEHIND_BYTES: u32 = 32 << 10;
    /// `scripts/rates.cu`, "one float a thread copied": a block of one warp, with few others there,
    /// keeps its place for 1120 cycles. Its load takes 761 of them, and the instructions around it
    /// some 90.
    pub const BLOCK_START_CYCLES: f64 = 270.0;
    /// `scripts/rates.cu`, "blocks of 256 threads".
    pub const BLOCK_CYCLES: f64 = 1.193;
    /// `scripts/rates.cu`, "latency", mma of tf32 and fp16 as deep as there are.
    pub const TENSOR_LATENCY: f64 = 27.2;
    /// `scripts/rates.cu`, "constant, hit".
    pub const CONSTANT_LATENCY: f64 = 34.1;
    /// `scripts/rates.cu`, "barrier": 14.5 cycles for one warp, 76.7 for 32, and a straight line
    /// between.
    pub const BARRIER: [f64; 2] = [12.6, 2.0];
}
