//! NVIDIA GeForce GTX 970 (4 GB of GDDR5): the GPU of the note on shared memory. Compute capability 5.2, chip
//! GM204.
//!
//! Sources, by the names used below:
//!
//! - *data sheet*: the specifications on NVIDIA's page about the GPU, as corrected in January 2015
//!   (1792 KB of L2 cache; memory in partitions of 3.5 GB and 0.5 GB);
//! - *deviceQuery*: the output of NVIDIA's sample of that name for this GPU (CUDA 9.1);
//! - *guide*: the CUDA C Programming Guide, "Compute Capabilities", 5.x;
//! - *tuning guide*: NVIDIA's "Tuning CUDA Applications for Maxwell";
//! - *M60*: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking"
//!   (arXiv:1804.06826), table 3.1, for a Tesla M60, which uses the same chip;
//! - *P6000*: the sample results of github.com/caps-tum/mt4g for a Quadro P6000, of the next generation
//!   with the same kind of memory and the same SMs;
//! - *GTX 1080*: NVIDIA's bandwidthTest on a GTX 1080 (PCIe 3.0 x16): 12.0 GB/s to the device,
//!   12.8 GB/s from it, and 231 GB/s, 72 % of the peak, within it;
//! - *as on the H200*: no published figures; see [`h200`].

use super::{DeviceSpec, Latencies, Rates, h200};

impl DeviceSpec {
    /// Returns the specification of the NVIDIA GeForce GTX 970.
    pub const fn gtx970() -> Self {
        Self {
            name: "NVIDIA GeForce GTX 970 (simulated)",
            models: "NVIDIA GeForce GTX 970",
            compute_capability: (5, 2),
            max_target_sm: 52,
            // Data sheet: 1178 MHz boost clock. (Boards of other manufacturers reach up to 1.33 GHz.)
            multiprocessors: 13,
            clock_khz: 1_178_000,
            // deviceQuery.
            memory_clock_khz: 3_505_000,
            memory_bus_bits: 256,
            memory_bytes: 4_238_999_552,
            // The partition of 3.5 GB uses seven of the eight channels: 196 of 224 GB/s (data sheet).
            memory_bandwidth: 196e9,
            error_correction: false,
            // GTX 1080; half of the bandwidth, because each byte is read and written.
            device_copy: h200::device_copy(0.72 * 196e9 / 2.0),
            // GTX 1080.
            page_locked_copy: h200::page_locked_copy(12.0e9),
            // Depends on the host; assumed to equal the Quadro P2000's, which uses the same link.
            pageable_copy: h200::pageable_copy(9.4e9),
            host_copy: h200::HOST_COPY,
            // deviceQuery and data sheet.
            l2_bytes: 1792 << 10,
            persisting_l2_bytes: 0,
            access_window_bytes: 0,
            // Guide, 5.2.
            constant_bytes: 64 << 10,
            max_parameter_bytes: 4 << 10,
            shared_per_block: 48 << 10,
            shared_per_block_optin: 48 << 10,
            shared_per_multiprocessor: 96 << 10,
            shared_reserved_per_block: 0,
            // NVIDIA's occupancy calculator, 5.2.
            shared_allocation_unit: 256,
            registers_per_multiprocessor: 65536,
            warp_size: 32,
            threads_per_block: 1024,
            block_dimensions: [1024, 1024, 64],
            grid_dimensions: [i32::MAX as u32, 65535, 65535],
            threads_per_multiprocessor: 2048,
            blocks_per_multiprocessor: 32,
            // The PCI ID Repository: GM204. The subsystem ID depends on the board's manufacturer.
            pci_ids: [0x13c2_10de, 0],
            texture_alignment: 512,
            image_limits: &[],
            rates: RATES,
        }
    }
}

pub(super) const RATES: Rates = Rates {
    // Tuning guide: four schedulers. Each can dispatch a second instruction of the same warp to another unit,
    // which is not modelled, because one instruction fills its 32 lanes.
    issued_per_cycle: 4.0,
    // Guide, "Throughput of Native Arithmetic Instructions", 5.2.
    fp32_lanes: 128.0,
    integer_lanes: 128.0,
    special_lanes: 32.0,
    double_lanes: 4.0,
    // The GPU has no tensor cores.
    tensor_cycles: 0.0,
    warpgroup_cycles: 0.0,
    // Guide, "Shared Memory": 32 bits per bank and cycle.
    load_store_wavefronts: 1.0,
    // M60; guide: "a unified L1/texture cache of 24 KB".
    l1_bytes: 24 << 10,
    l1_shares_with_shared: false,
    // Tuning guide, "Unified L1/Texture Cache": global loads are cached in L2 only, unless they load
    // read-only data or the program is compiled with `-dlcm=ca`.
    l1_caches_global: false,
    read_only_cache: true,
    constant_hit_cycles: h200::CONSTANT_HIT_CYCLES,
    constant_l15_cycles: h200::CONSTANT_L15_CYCLES,
    constant_l2_cycles: h200::CONSTANT_L2_CYCLES,
    // M60: 2 KB and 32 KB.
    constant_cache_bytes: 2 << 10,
    constant_l15_bytes: 32 << 10,
    // P6000: 790 GiB/s at 1.645 GHz, which is 515 bytes per cycle, from 24 slices of 128 KB. This GPU has 14
    // slices.
    l2_bytes_per_cycle: 515.0 / 24.0 * 14.0,
    // P6000: 365 GiB/s read, of a peak of 433 GB/s: 91 %.
    achieved_memory_bandwidth: 0.91 * 196e9,
    latency: Latencies {
        // M60.
        arithmetic: 6.0,
        tensor: 0.0,
        shared: 23.0,
        constant: 25.0,
        l1: 82.0,
        l2: 207.0,
        // P6000: 188 cycles more than from the L2 cache.
        memory: 395.0,
        barrier: h200::BARRIER,
    },
    // Assumed to be 5 µs. Recent GPUs and drivers have reduced it to about 3 µs (NVIDIA developer forum,
    // topic 233645).
    launch_seconds: 5e-6,
    block_interval_cycles: h200::BLOCK_INTERVAL_CYCLES,
    block_overhead_cycles: h200::BLOCK_OVERHEAD_CYCLES,
};
