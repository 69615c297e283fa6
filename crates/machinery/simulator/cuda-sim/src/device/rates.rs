//! Throughputs and latencies of a GPU's units, the inputs of the time model.
//!
//! A cycle is one of the SM clock, [`DeviceSpec::clock_khz`](super::DeviceSpec).

/// The throughputs and latencies of one GPU. Throughputs are per SM unless stated otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Warp instructions issued per cycle.
    pub issued_per_cycle: f64,
    /// Lanes of 32-bit floating-point additions, multiplications or fused multiply-adds started per cycle. A
    /// warp has 32.
    pub fp32_lanes: f64,
    /// Lanes of 32-bit integer additions, logic operations or comparisons started per cycle.
    pub integer_lanes: f64,
    /// Lanes of approximate reciprocals, square roots, sines and the like started per cycle.
    pub special_lanes: f64,
    /// Lanes of 64-bit floating-point operations started per cycle.
    pub double_lanes: f64,
    /// Tensor-core cycles per warp for the largest matrix instruction (`mma` m16n8k8 of tf32, m16n8k16 of f16
    /// and bf16); 0 for a GPU without such tensor cores.
    pub tensor_cycles: f64,
    /// Tensor-core cycles per warp for eight columns of a `wgmma` (of tf32, f16 or bf16); 0 for a GPU without
    /// `wgmma`.
    pub warpgroup_cycles: f64,
    /// Wavefronts that the L1 cache or shared memory serves per cycle. A wavefront is one pass over all
    /// banks, 4 bytes of each.
    pub load_store_wavefronts: f64,
    /// The size in bytes of the L1 cache for global loads; 0 if there is none.
    pub l1_bytes: u32,
    /// True if shared memory is carved out of [`l1_bytes`](Self::l1_bytes), so that the cache is the remainder.
    pub l1_shares_with_shared: bool,
    /// True if ordinary global loads are cached in L1; otherwise they go to the L2 cache.
    pub l1_caches_global: bool,
    /// True if loads of read-only data (`__ldg`, `ld.global.nc`) are cached in L1.
    pub read_only_cache: bool,
    /// Cycles per request (one distinct address of a warp) that hits the first-level constant cache.
    pub constant_hit_cycles: f64,
    /// Cycles per request that misses the first-level constant cache and hits the second level.
    pub constant_l15_cycles: f64,
    /// Cycles per request that misses both constant caches.
    pub constant_l2_cycles: f64,
    /// The size in bytes of the first-level constant cache.
    pub constant_cache_bytes: u32,
    /// The size in bytes of the second-level constant cache.
    pub constant_l15_bytes: u32,
    /// Bytes per cycle that the L2 cache delivers to all SMs together. Without an L2 cache, the peak of
    /// device memory.
    pub l2_bytes_per_cycle: f64,
    /// Maximum bytes per second that kernels achieve when they read and write device memory; less than the
    /// peak bandwidth.
    pub achieved_memory_bandwidth: f64,
    /// Latencies of instructions.
    pub latency: Latencies,
    /// Seconds from the end of one launch to the start of the next on a busy stream.
    pub launch_seconds: f64,
    /// Cycles between the starts of two consecutive blocks on the whole GPU.
    pub block_interval_cycles: f64,
    /// Cycles that a block occupies its SM before its first and after its last instruction.
    pub block_overhead_cycles: f64,
}

/// Latencies in cycles: from the start of an instruction to the start of a dependent one on an otherwise idle
/// SM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latencies {
    /// A 32-bit addition, multiplication or fused multiply-add.
    pub arithmetic: f64,
    /// A tensor-core instruction.
    pub tensor: f64,
    /// A load from shared memory.
    pub shared: f64,
    /// A load that hits the first-level constant cache.
    pub constant: f64,
    /// A load that hits the L1 cache.
    pub l1: f64,
    /// A load that hits the L2 cache.
    pub l2: f64,
    /// A load from device memory.
    pub memory: f64,
    /// A barrier that all warps have reached: cycles per block and cycles per warp.
    pub barrier: [f64; 2],
}
