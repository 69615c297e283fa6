//! The specification of a GPU: its limits, and the throughputs and latencies from which the time model computes. There is one
//! file per GPU, and each figure names its source.
//!
//! A cycle is one of the SM clock, [`DeviceSpec::clock_khz`].

mod gtx280;
mod gtx970;
mod h200;
mod p2000;
mod rtx3090;
#[cfg(test)]
mod tests;

/// The simulated GPUs with their short names: the default first, then those of the notes.
pub static PRESETS: [(&str, DeviceSpec); 5] = [
    ("h200", DeviceSpec::h200()),
    ("rtx3090", DeviceSpec::rtx3090()),
    ("gtx970", DeviceSpec::gtx970()),
    ("p2000", DeviceSpec::p2000()),
    ("gtx280", DeviceSpec::gtx280()),
];

impl DeviceSpec {
    /// Returns the preset with a name: the short or the full name, in any case, with or without spaces,
    /// dashes, and the words NVIDIA, GeForce and Quadro. Returns `None` for any other name.
    pub fn named(name: &str) -> Option<&'static DeviceSpec> {
        let short_name = normalize(name);
        let mut presets = PRESETS.iter();
        let preset = presets.find(|(short, _)| *short == short_name);
        preset.map(|(_, device)| device)
    }

    /// Returns true if no preset is newer.
    pub fn is_newest(&self) -> bool {
        let mut presets = PRESETS.iter();
        presets.all(|(_, device)| device.max_target_sm <= self.max_target_sm)
    }
}

/// Normalizes a GPU's name: `NVIDIA GeForce RTX 3090` becomes `rtx3090`.
fn normalize(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split([' ', '-', '_']);
    words
        .filter(|word| !["nvidia", "geforce", "quadro"].contains(word))
        .collect()
}

/// The specification of a GPU model. Sizes are in bytes, clocks in kHz, bandwidths in bytes per second.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSpec {
    /// The name that `cuDeviceGetName` returns.
    pub name: &'static str,
    /// The real GPU's name, for labels of modelled times.
    pub models: &'static str,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// The newest PTX target that is accepted, for example 90 for `sm_90`. The newest preset accepts newer
    /// targets too.
    pub max_target_sm: u32,
    /// Streaming multiprocessors (SMs).
    pub multiprocessors: u32,
    /// Boost clock of the SMs, in kHz.
    pub clock_khz: u32,
    /// Memory clock in kHz, as drivers report it. Data is transferred twice per cycle.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// Size of device memory. The simulated driver offers less if the host has too little memory.
    pub memory_bytes: u64,
    /// Peak bandwidth of device memory.
    pub memory_bandwidth: f64,
    /// True if device memory has error correction (ECC).
    pub error_correction: bool,
    /// Copies within device memory, which read and write each byte.
    pub device_copy: CopyRate,
    /// Copies over the link between the device and page-locked host memory, in each direction.
    pub page_locked_copy: CopyRate,
    /// Copies over the link between the device and pageable host memory, in each direction. They go through a
    /// page-locked buffer of the driver.
    pub pageable_copy: CopyRate,
    /// Copies within host memory.
    pub host_copy: CopyRate,
    /// Size of the L2 cache; 0 if there is none.
    pub l2_bytes: u32,
    /// Maximum part of the L2 cache that can be set aside for persisting accesses; 0 if there is none, or if it is
    /// unknown.
    pub persisting_l2_bytes: u32,
    /// Maximum size of an access policy window; 0 if there is none, or if it is unknown.
    pub access_window_bytes: u32,
    /// Maximum constant memory of a module.
    pub constant_bytes: u32,
    /// Maximum size of kernel parameters.
    pub max_parameter_bytes: u32,
    /// Maximum shared memory per block by default.
    pub shared_per_block: u32,
    /// Maximum shared memory per block after raising `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
    pub shared_per_block_optin: u32,
    /// Shared memory per SM, for all of its blocks.
    pub shared_per_multiprocessor: u32,
    /// Shared memory that the system reserves per resident block.
    pub shared_reserved_per_block: u32,
    /// The allocation granularity of shared memory.
    pub shared_allocation_unit: u32,
    /// 32-bit registers per SM, which is also the maximum per block.
    pub registers_per_multiprocessor: u32,
    /// Threads per warp.
    pub warp_size: u32,
    /// Maximum threads per block.
    pub threads_per_block: u32,
    /// Maximum block dimensions in x, y and z.
    pub block_dimensions: [u32; 3],
    /// Maximum grid dimensions in x, y and z.
    pub grid_dimensions: [u32; 3],
    /// Maximum resident threads per SM.
    pub threads_per_multiprocessor: u32,
    /// Maximum resident blocks per SM.
    pub blocks_per_multiprocessor: u32,
    /// The PCI device and subsystem IDs. The subsystem ID is 0 if it depends on the board's manufacturer.
    pub pci_ids: [u32; 2],
    /// Alignment of textures and surfaces.
    pub texture_alignment: u32,
    /// Maximum sizes of textures and surfaces, by device attribute, for programs that query them. Empty for
    /// GPUs before compute capability 6.0.
    pub image_limits: &'static [(i32, u32)],
    /// Throughputs and latencies for the time model.
    pub rates: Rates,
}

impl DeviceSpec {
    /// Returns the maximum number of resident warps per SM.
    pub const fn warps_per_multiprocessor(&self) -> u32 {
        self.threads_per_multiprocessor / self.warp_size
    }
}

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

/// The duration of copies between two kinds of memory: a constant latency plus a term proportional to the size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyRate {
    /// Seconds before the first byte.
    pub latency: f64,
    /// Bytes per second after that.
    pub bandwidth: f64,
}

impl CopyRate {
    /// Returns the seconds that a copy of `bytes` bytes takes.
    pub fn seconds(self, bytes: u64) -> f64 {
        self.latency + bytes as f64 / self.bandwidth
    }
}

/// Maximum sizes of textures and surfaces, by the numbers of their device attributes, for programs that query
/// them: the limits of compute capability 9.0, as driver 580.159.04 reports them for an NVIDIA H200. The table of
/// compute capabilities in the CUDA C++ Programming Guide lists the same limits for 6.1 and 8.6.
pub(super) const IMAGE_LIMITS_SINCE_6_0: &[(i32, u32)] = &[
    // Textures: 1D; 2D; 3D; 2D layered (width, height and layers).
    (21, 131_072),
    (22, 131_072),
    (23, 65536),
    (24, 16384),
    (25, 16384),
    (26, 16384),
    (27, 32768),
    (28, 32768),
    (29, 2048),
    // Textures: 1D layered; 2D gather; alternative 3D; cube maps and layered cube maps.
    (42, 32768),
    (43, 2048),
    (45, 32768),
    (46, 32768),
    (47, 8192),
    (48, 8192),
    (49, 32768),
    (52, 32768),
    (53, 32768),
    (54, 2046),
    // Surfaces: 1D; 2D; 3D; 1D and 2D layered; cube maps and layered cube maps.
    (55, 32768),
    (56, 131_072),
    (57, 65536),
    (58, 16384),
    (59, 16384),
    (60, 16384),
    (61, 32768),
    (62, 2048),
    (63, 32768),
    (64, 32768),
    (65, 2048),
    (66, 32768),
    (67, 32768),
    (68, 2046),
    // Textures in linear memory, 1D and 2D; mipmapped textures, 2D and 1D.
    (69, 268_435_456),
    (70, 131_072),
    (71, 65000),
    (72, 2_097_120),
    (73, 32768),
    (74, 32768),
    (77, 32768),
];
