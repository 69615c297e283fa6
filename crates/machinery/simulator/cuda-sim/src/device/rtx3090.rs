//! NVIDIA GeForce RTX 3090 (24 GB of GDDR6X): the GPU of the note on constant memory. Compute capability 8.6,
//! chip GA102.
//!
//! Sources, by the names used below:
//!
//! - *data sheet*: the specifications on NVIDIA's page about the GPU, and those in the white paper
//!   "NVIDIA Ampere GA102 GPU Architecture";
//! - *deviceQuery*: the output of NVIDIA's sample of that name for a Founders Edition (CUDA 11.8);
//! - *guide*: the CUDA C++ Programming Guide, "Compute Capabilities", 8.6;
//! - *A40*: the published results of `gpu-benches` (github.com/te42kyfo/gpu-benches) for an NVIDIA
//!   A40, which is the same chip with two more SMs and GDDR6;
//! - *RTX 3070*: the latencies in Accel-Sim's configuration `SM86_RTX3070`, measured on one;
//! - *MT4G*: the sample results of github.com/caps-tum/mt4g for an NVIDIA A100 (8.0) and an H100;
//! - *as on the H200*: no published figures; see [`h200`].

use super::{DeviceSpec, IMAGE_LIMITS_SINCE_6_0, Latencies, Rates, h200};

impl DeviceSpec {
    /// Returns the specification of the NVIDIA GeForce RTX 3090.
    pub const fn rtx3090() -> Self {
        Self {
            name: "NVIDIA GeForce RTX 3090 (simulated)",
            models: "NVIDIA GeForce RTX 3090",
            compute_capability: (8, 6),
            max_target_sm: 86,
            // Data sheet and deviceQuery.
            multiprocessors: 82,
            clock_khz: 1_695_000,
            memory_clock_khz: 9_751_000,
            memory_bus_bits: 384,
            memory_bytes: 25_443_893_248,
            memory_bandwidth: 936.2e9,
            error_correction: false,
            // Half of the achieved bandwidth, because each byte is read and written.
            device_copy: h200::device_copy(ACHIEVED_MEMORY_BANDWIDTH / 2.0),
            // PCIe 4.0 x16. An NVIDIA A10, the same chip, achieves 25.2 GB/s to the device and 26.3 GB/s from
            // it in NVIDIA's bandwidthTest.
            page_locked_copy: h200::page_locked_copy(25.2e9),
            // Depends on the host. 12.9 GB/s for 64 MiB with an RTX 4090 on the same kind of link
            // (github.com/NVlabs/cuda-oxide, pull request 976).
            pageable_copy: h200::pageable_copy(12.9e9),
            host_copy: h200::HOST_COPY,
            // deviceQuery.
            l2_bytes: 6 << 20,
            persisting_l2_bytes: 0,
            access_window_bytes: 0,
            // Guide. Parameters of more than 4 KB are supported since CUDA 12.1.
            constant_bytes: 64 << 10,
            max_parameter_bytes: 32764,
            shared_per_block: 48 << 10,
            shared_per_block_optin: 99 << 10,
            shared_per_multiprocessor: 100 << 10,
            shared_reserved_per_block: 1 << 10,
            shared_allocation_unit: 128,
            registers_per_multiprocessor: 65536,
            warp_size: 32,
            threads_per_block: 1024,
            block_dimensions: [1024, 1024, 64],
            grid_dimensions: [i32::MAX as u32, 65535, 65535],
            threads_per_multiprocessor: 1536,
            blocks_per_multiprocessor: 16,
            // The PCI ID Repository: GA102, Founders Edition.
            pci_ids: [0x2204_10de, 0x147d_10de],
            texture_alignment: 512,
            image_limits: IMAGE_LIMITS_SINCE_6_0,
            rates: RATES,
        }
    }
}

/// A40, `gpu-stream`: "scale", which reads and writes equal amounts, achieves 655 GB/s of a peak of 696 GB/s:
/// 94 %.
const ACHIEVED_MEMORY_BANDWIDTH: f64 = 0.94 * 936.2e9;

const RATES: Rates = Rates {
    // White paper: four schedulers, one instruction each.
    issued_per_cycle: 4.0,
    // Guide, "Throughput of Native Arithmetic Instructions", 8.6.
    fp32_lanes: 128.0,
    integer_lanes: 64.0,
    special_lanes: 16.0,
    double_lanes: 2.0,
    // White paper: 35.6 TFLOP/s of tf32, 71 TFLOP/s of f16 with 32-bit accumulation, dense.
    tensor_cycles: 8.0,
    // The GPU has no `wgmma`.
    warpgroup_cycles: 0.0,
    // A40, `gpu-cache`: 9352 GB/s from the L1 caches of 84 SMs at 1.74 GHz, which is 64 bytes per cycle, half
    // a wavefront.
    load_store_wavefronts: 0.5,
    // White paper: 128 KB for L1 cache and shared memory together.
    l1_bytes: 128 << 10,
    l1_shares_with_shared: true,
    // Guide: as for 7.x, "cached in L1".
    l1_caches_global: true,
    read_only_cache: true,
    // Hits as on the H200. Misses are scaled by the ratio of MT4G's miss penalties: 43.1 cycles on an A100 to
    // 55.3 on an H100.
    constant_hit_cycles: h200::CONSTANT_HIT_CYCLES,
    constant_l15_cycles: h200::CONSTANT_L15_CYCLES * 43.1 / 55.3,
    constant_l2_cycles: h200::CONSTANT_L2_CYCLES * 43.1 / 55.3,
    // MT4G, A100: 2 KB, and a second level that holds all of constant memory.
    constant_cache_bytes: 2 << 10,
    constant_l15_bytes: 64 << 10,
    // A40, `gpu-cache`: 2.43 TB/s from the L2 cache at 1.74 GHz. The RTX 3090 has the same slices.
    l2_bytes_per_cycle: 2.43e12 / 1.74e9,
    achieved_memory_bandwidth: ACHIEVED_MEMORY_BANDWIDTH,
    latency: Latencies {
        // RTX 3070.
        arithmetic: 4.0,
        tensor: h200::TENSOR_LATENCY,
        shared: 29.0,
        constant: h200::CONSTANT_LATENCY,
        // RTX 3070: 39 cycles; 187 more to the L2 cache, and 254 more to memory.
        l1: 39.0,
        l2: 226.0,
        memory: 480.0,
        barrier: h200::BARRIER,
    },
    // A40, `gpu-small-kernels`: 31 GB/s with kernels that move 64 KB.
    launch_seconds: 2.1e-6,
    block_interval_cycles: h200::BLOCK_INTERVAL_CYCLES,
    block_overhead_cycles: h200::BLOCK_OVERHEAD_CYCLES,
};
