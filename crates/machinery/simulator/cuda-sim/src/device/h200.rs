//! NVIDIA H200 (SXM, 141 GB of HBM3e). Compute capability 9.0, chip GH100.
//!
//! Limits are those that driver 580.159.04 reports. Rates were measured on 2026-11-21:
//!
//! ```text
//! nvcc -O3 -arch=native scripts/rates.cu -o rates && ./rates
//! ```
//!
//! The output is in `docs/results/rates-h200.txt`.
//!
//! The figures at the end of the file are known only for the H200, by measurement. The other GPUs' presets use
//! them too, because nothing is published about those GPUs.

use super::{CopyRate, DeviceSpec, IMAGE_LIMITS_SINCE_6_0, Latencies, Rates};

impl DeviceSpec {
    /// Returns the specification of the NVIDIA H200.
    pub const fn h200() -> Self {
        Self {
            name: "NVIDIA H200 (simulated)",
            models: "NVIDIA H200",
            compute_capability: (9, 0),
            max_target_sm: 90,
            multiprocessors: 132,
            clock_khz: 1_980_000,
            memory_clock_khz: 3_201_000,
            memory_bus_bits: 6016,
            memory_bytes: 150_109_880_320,
            // Data sheet.
            memory_bandwidth: 4.8e12,
            error_correction: true,
            // Derived from copies of 4 KB and 16 MiB (`vector-add`, `docs/results/h200.md`). The link is PCIe
            // 5.0 x16.
            device_copy: device_copy(2.4e12),
            page_locked_copy: page_locked_copy(55.5e9),
            pageable_copy: pageable_copy(18.7e9),
            host_copy: HOST_COPY,
            l2_bytes: 60 << 20,
            // Device attributes 108 and 109 of an H200, driver 580.159.04.
            persisting_l2_bytes: 39_321_600,
            access_window_bytes: 128 << 20,
            constant_bytes: 64 << 10,
            max_parameter_bytes: 32764,
            shared_per_block: 48 << 10,
            shared_per_block_optin: 227 << 10,
            shared_per_multiprocessor: 228 << 10,
            shared_reserved_per_block: 1 << 10,
            shared_allocation_unit: 128,
            registers_per_multiprocessor: 65536,
            warp_size: 32,
            threads_per_block: 1024,
            block_dimensions: [1024, 1024, 64],
            grid_dimensions: [i32::MAX as u32, 65535, 65535],
            threads_per_multiprocessor: 2048,
            blocks_per_multiprocessor: 32,
            pci_ids: [0x2335_10de, 0x18bf_10de],
            texture_alignment: 512,
            image_limits: IMAGE_LIMITS_SINCE_6_0,
            rates: RATES,
        }
    }
}

const RATES: Rates = Rates {
    // Four schedulers, one instruction each (NVIDIA H100 white paper).
    issued_per_cycle: 4.0,
    // CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions", 9.0.
    fp32_lanes: 128.0,
    integer_lanes: 64.0,
    special_lanes: 16.0,
    double_lanes: 64.0,
    // rates.cu, "arithmetic", mma: 1.64 to 1.69 cycles with at least 8 warps for all of these; with half of
    // k, 1.11 to 1.14.
    tensor_cycles: 1.68,
    // 1024 tf32 multiply-adds per cycle, the tensor cores' peak (NVIDIA H100 white paper): one m16n8k8.
    warpgroup_cycles: 1.0,
    // rates.cu, "L1 cache", 4 bytes: 1.01 cycles per warp-wide load of 128 bytes.
    load_store_wavefronts: 1.0,
    // White paper: 256 KB for L1 cache and shared memory together.
    l1_bytes: 256 << 10,
    l1_shares_with_shared: true,
    l1_caches_global: true,
    read_only_cache: true,
    constant_hit_cycles: CONSTANT_HIT_CYCLES,
    constant_l15_cycles: CONSTANT_L15_CYCLES,
    constant_l2_cycles: CONSTANT_L2_CYCLES,
    // rates.cu, "constant memory": loads of 32 addresses take equally long within 1024 and 2048 bytes, and
    // longer within 4096.
    constant_cache_bytes: 2 << 10,
    constant_l15_bytes: CONSTANT_L15_BYTES,
    // rates.cu, "read over again": up to 5.98 TB/s for 48 MB. Data that several SMs read at the same time
    // arrives at least three times as fast ("by all blocks"), because the GPU merges their requests; the
    // model does not know which requests coincide.
    l2_bytes_per_cycle: 5.9e12 / 1.98e9,
    // rates.cu, "memory": 4.55 TB/s when reading, 4.25 TB/s when copying. Kernels are in between.
    achieved_memory_bandwidth: 4.4e12,
    // rates.cu, "latency". Runs differ by up to 4 % for the longer latencies.
    latency: Latencies {
        arithmetic: 4.5,
        tensor: TENSOR_LATENCY,
        shared: 29.0,
        constant: CONSTANT_LATENCY,
        l1: 39.6,
        l2: 295.2,
        memory: 761.0,
        barrier: BARRIER,
    },
    // rates.cu, "launching": the minimum of several runs. The host contributes to it.
    launch_seconds: 2.51e-6,
    block_interval_cycles: BLOCK_INTERVAL_CYCLES,
    block_overhead_cycles: BLOCK_OVERHEAD_CYCLES,
};

/// Copies within host memory, which depend on the host and not on the GPU: those of the host with the
/// measured H200 (`vector-add`, `docs/results/h200.md`).
pub(super) const HOST_COPY: CopyRate = CopyRate {
    latency: 1.9e-6,
    bandwidth: 19.8e9,
};

/// Returns copies within the device. Their latency is mostly due to the driver and the host, and derived from
/// copies of 4 KB (`vector-add`, `docs/results/h200.md`).
pub(super) const fn device_copy(bandwidth: f64) -> CopyRate {
    let latency = 2.8e-6;
    CopyRate { latency, bandwidth }
}
/// Returns copies between the device and page-locked host memory, whose latency was measured the same way.
pub(super) const fn page_locked_copy(bandwidth: f64) -> CopyRate {
    let latency = 2.2e-6;
    CopyRate { latency, bandwidth }
}
/// Returns copies between the device and pageable host memory, whose latency was measured the same way.
pub(super) const fn pageable_copy(bandwidth: f64) -> CopyRate {
    let latency = 6.6e-6;
    CopyRate { latency, bandwidth }
}

/// Cycles per request that hits the constant cache. `scripts/rates.cu`, "constant memory", 1 address within
/// 1024 bytes.
pub(super) const CONSTANT_HIT_CYCLES: f64 = 2.0;
/// Cycles per request that hits the second-level constant cache. `scripts/rates.cu`, "constant memory", 32
/// addresses within 16384 bytes: 686.7 cycles for 32 requests, of which one eighth hits the first-level
/// cache.
pub(super) const CONSTANT_L15_CYCLES: f64 = 16.0;
/// Cycles per request that misses both constant caches. One access to a pseudo-random address within 64 KB
/// takes 33 cycles (`add-constant`, `docs/results/h200.md`); half of these accesses hit the second-level
/// cache.
pub(super) const CONSTANT_L2_CYCLES: f64 = 33.0;
/// Size of the second-level constant cache in bytes. Loads of 32 addresses take longer as their range grows
/// from 4 to 32 KB, and no longer than that in larger ranges.
const CONSTANT_L15_BYTES: u32 = 32 << 10;
/// Cycles of a block in addition to those of its instructions. `scripts/rates.cu`, "one float a thread
/// copied": a block of one warp, with few others on the SM, takes 1120 cycles, of which its load takes 761
/// and the instructions around it about 90.
pub(super) const BLOCK_OVERHEAD_CYCLES: f64 = 270.0;
/// Cycles between the starts of two blocks. `scripts/rates.cu`, "blocks of 256 threads".
pub(super) const BLOCK_INTERVAL_CYCLES: f64 = 1.193;
/// Latency in cycles of a tensor-core instruction. `scripts/rates.cu`, "latency", the largest `mma` of tf32
/// and fp16.
pub(super) const TENSOR_LATENCY: f64 = 27.2;
/// Latency in cycles of a hit in the constant cache. `scripts/rates.cu`, "constant, hit".
pub(super) const CONSTANT_LATENCY: f64 = 34.1;
/// Cycles of a barrier per block and per warp. `scripts/rates.cu`, "barrier": 14.5 cycles for one warp and
/// 76.7 for 32, interpolated linearly.
pub(super) const BARRIER: [f64; 2] = [12.6, 2.0];
