//! NVIDIA GeForce GTX 280 (1 GB of GDDR3): the GPU of CUDA by Example. Compute capability 1.3, chip
//! GT200.
//!
//! A real one cannot run the kernels: their PTX is for compute capability 5.2. The model runs them
//! all the same, within the limits of this GPU and at its rates, to show what its memories make of
//! their accesses.
//!
//! A real one sends a warp's access to memory as two requests, one of each half of the warp. The
//! simulator counts one request, as on all later GPUs, and the rates below are of whole warps. So a
//! sector that both halves access is counted once where the GPU transfers it twice, as when a whole
//! warp loads from one address.
//!
//! Sources, as they are named below:
//!
//! - *data sheet*: the specifications on NVIDIA's page of the GPU, and the technical brief
//!   "NVIDIA GeForce GTX 200 GPU Architectural Overview";
//! - *guide*: the CUDA C Programming Guide 4.2, appendix F, "Compute Capability 1.x";
//! - *Wong*: Wong et al., "Demystifying GPU Microarchitecture through Microbenchmarking", ISPASS
//!   2010: measured on a GTX 280;
//! - *TITAN Black*: NVIDIA's bandwidthTest on a GeForce GTX TITAN Black on PCIe 2.0
//!   (github.com/ComputationalRadiationPhysics/jungfrau-photoncounter, issue 18): 5.84 GB/s from
//!   page-locked memory, 4.03 from pageable memory, 230 GB/s, 69 % of the peak, within the device;
//! - *as on the H200*: nothing is published; see [`h200_defaults`].

use super::{CopyRate, DeviceSpec, Latencies, Rates, h200_defaults};

impl DeviceSpec {
    /// NVIDIA GeForce GTX 280.
    pub const fn gtx280() -> Self {
        Self {
            name: "NVIDIA GeForce GTX 280 (simulated)",
            models: "NVIDIA GeForce GTX 280",
            compute_capability: (1, 3),
            accepts: 52,
            // Data sheet: 30 multiprocessors of 8 processors each at 1296 MHz; memory at 1107 MHz.
            multiprocessors: 30,
            clock_khz: 1_296_000,
            memory_clock_khz: 1_107_000,
            memory_bus_bits: 512,
            memory_bytes: 1 << 30,
            memory_bandwidth: PEAK_BANDWIDTH,
            error_correction: false,
            // Half of the bandwidth that is reached, because a byte is read and written.
            device_copy: CopyRate {
                latency: h200_defaults::DEVICE_COPY_LATENCY,
                bandwidth: MEMORY_BANDWIDTH_REACHED / 2.0,
            },
            // TITAN Black: PCIe 2.0 with 16 lanes.
            page_locked_copy: CopyRate {
                latency: h200_defaults::PAGE_LOCKED_COPY_LATENCY,
                bandwidth: 5.8e9,
            },
            pageable_copy: CopyRate {
                latency: h200_defaults::PAGEABLE_COPY_LATENCY,
                bandwidth: 4.0e9,
            },
            host_copy: h200_defaults::HOST_COPY,
            // Wong: global memory is not cached.
            l2_bytes: 0,
            // Guide, 1.3. Parameters are in shared memory, 256 bytes at most, and 16 bytes for
            // the grid and block dimensions.
            constant_bytes: 64 << 10,
            max_parameter_bytes: 256,
            shared_per_block: 16 << 10,
            shared_per_block_optin: 16 << 10,
            shared_per_multiprocessor: 16 << 10,
            shared_reserved_per_block: 16,
            // NVIDIA's occupancy calculator, 1.3.
            shared_unit: 512,
            registers_per_multiprocessor: 16384,
            warp_size: 32,
            threads_per_block: 512,
            block_dimensions: [512, 512, 64],
            grid_dimensions: [65535, 65535, 1],
            threads_per_multiprocessor: 1024,
            blocks_per_multiprocessor: 8,
            // The PCI ID Repository: GT200. The subsystem is that of a board's maker.
            pci_ids: [0x05e1_10de, 0],
            texture_alignment: 256,
            image_limits: &[],
            rates: RATES,
        }
    }
}

/// Data sheet.
const PEAK_BANDWIDTH: f64 = 141.7e9;

/// TITAN Black: 69 % of the peak.
const MEMORY_BANDWIDTH_REACHED: f64 = 0.69 * PEAK_BANDWIDTH;

const RATES: Rates = Rates {
    // Guide: the scheduler issues a warp's instruction over four cycles.
    issued_per_cycle: 0.25,
    // Guide: 8 cores, 2 special function units, one double-precision unit.
    fp32_lanes: 8.0,
    integer_lanes: 8.0,
    special_lanes: 2.0,
    double_lanes: 1.0,
    // It has no tensor cores.
    tensor_cycles: 0.0,
    warpgroup_cycles: 0.0,
    // Guide, "Shared Memory": 16 banks, 32 bits of each in two cycles. A warp's wavefront is one of
    // each half.
    load_store_wavefronts: 0.25,
    l1_bytes: 0,
    l1_shares_with_shared: false,
    l1_caches_global: false,
    read_only_cache: false,
    // Guide: one address of constant memory is "as fast as reading from a register", which is four
    // cycles a warp.
    constant_hit_cycles: 4.0,
    // Wong: 81 cycles to the second constant cache, 220 to the third, which all multiprocessors
    // share. Nothing says that misses overlap.
    constant_miss_cycles: 81.0,
    constant_far_cycles: 220.0,
    // Wong: 2 KB and 8 KB.
    constant_cache_bytes: 2 << 10,
    constant_behind_bytes: 8 << 10,
    // There is no L2 cache.
    l2_bytes_per_cycle: PEAK_BANDWIDTH / 1.296e9,
    memory_bandwidth_reached: MEMORY_BANDWIDTH_REACHED,
    // Wong; loads that other GPUs may find in a cache go to memory.
    latency: Latencies {
        arithmetic: 24.0,
        tensor: 0.0,
        shared: 38.0,
        constant: 8.0,
        l1: 441.0,
        l2: 441.0,
        memory: 441.0,
        // One warp takes 20 cycles; each takes four to issue.
        barrier: [16.0, 4.0],
    },
    // Taken to be 5 µs; about 3 µs is what recent GPUs and drivers have come down to (NVIDIA
    // developer forum, topic 233645).
    launch_seconds: 5e-6,
    block_cycles: h200_defaults::BLOCK_CYCLES,
    block_start_cycles: h200_defaults::BLOCK_START_CYCLES,
};
