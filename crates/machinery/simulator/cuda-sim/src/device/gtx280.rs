//! NVIDIA GeForce GTX 280 (1 GB of GDDR3): the GPU of the book CUDA by Example. Compute capability 1.3, chip
//! GT200.
//!
//! A real GTX 280 cannot run the kernels, because their PTX is for compute capability 5.2. The simulator runs
//! them anyway, within the limits of this GPU and at its rates, to show how its memory system serves their
//! accesses.
//!
//! A real GTX 280 splits a warp's memory access into two requests, one per half-warp. The simulator counts
//! one request, as on all later GPUs, and the rates below are per warp. Therefore a sector that both halves
//! access is counted once although the GPU transfers it twice, for example if a whole warp loads from one
//! address.
//!
//! Sources, by the names used below:
//!
//! - *data sheet*: the specifications on NVIDIA's page about the GPU, and the technical brief
//!   "NVIDIA GeForce GTX 200 GPU Architectural Overview";
//! - *guide*: the CUDA C Programming Guide 4.2, appendix F, "Compute Capability 1.x";
//! - *Wong*: Wong et al., "Demystifying GPU Microarchitecture through Microbenchmarking", ISPASS
//!   2010: measured on a GTX 280;
//! - *TITAN Black*: NVIDIA's bandwidthTest on a GeForce GTX TITAN Black on PCIe 2.0
//!   (github.com/ComputationalRadiationPhysics/jungfrau-photoncounter, issue 18): 5.84 GB/s from
//!   page-locked memory, 4.03 from pageable memory, 230 GB/s, 69 % of the peak, within the device;
//! - *as on the H200*: no published figures; see [`h200`].

use super::{DeviceSpec, Latencies, Rates, h200};

impl DeviceSpec {
    /// Returns the specification of the NVIDIA GeForce GTX 280.
    pub const fn gtx280() -> Self {
        Self {
            name: "NVIDIA GeForce GTX 280 (simulated)",
            models: "NVIDIA GeForce GTX 280",
            compute_capability: (1, 3),
            max_target_sm: 52,
            // Data sheet: 30 SMs with 8 cores each at 1296 MHz; memory at 1107 MHz.
            multiprocessors: 30,
            clock_khz: 1_296_000,
            memory_clock_khz: 1_107_000,
            memory_bus_bits: 512,
            memory_bytes: 1 << 30,
            memory_bandwidth: PEAK_BANDWIDTH,
            error_correction: false,
            // Half of the achieved bandwidth, because each byte is read and written.
            device_copy: h200::device_copy(ACHIEVED_MEMORY_BANDWIDTH / 2.0),
            // TITAN Black: PCIe 2.0 x16.
            page_locked_copy: h200::page_locked_copy(5.8e9),
            pageable_copy: h200::pageable_copy(4.0e9),
            host_copy: h200::HOST_COPY,
            // Wong: global memory is not cached.
            l2_bytes: 0,
            persisting_l2_bytes: 0,
            access_window_bytes: 0,
            // Guide, 1.3. Parameters occupy at most 256 bytes of shared memory, and the grid and block
            // dimensions 16 bytes.
            constant_bytes: 64 << 10,
            max_parameter_bytes: 256,
            shared_per_block: 16 << 10,
            shared_per_block_optin: 16 << 10,
            shared_per_multiprocessor: 16 << 10,
            shared_reserved_per_block: 16,
            // NVIDIA's occupancy calculator, 1.3.
            shared_allocation_unit: 512,
            registers_per_multiprocessor: 16384,
            warp_size: 32,
            threads_per_block: 512,
            block_dimensions: [512, 512, 64],
            grid_dimensions: [65535, 65535, 1],
            threads_per_multiprocessor: 1024,
            blocks_per_multiprocessor: 8,
            // The PCI ID Repository: GT200. The subsystem ID depends on the board's manufacturer.
            pci_ids: [0x05e1_10de, 0],
            texture_alignment: 256,
            image_limits: &[],
            rates: RATES,
        }
    }
}

/// Peak bandwidth according to the data sheet.
const PEAK_BANDWIDTH: f64 = 141.7e9;

/// TITAN Black: 69 % of the peak.
const ACHIEVED_MEMORY_BANDWIDTH: f64 = 0.69 * PEAK_BANDWIDTH;

const RATES: Rates = Rates {
    // Guide: the scheduler issues a warp's instruction over four cycles.
    issued_per_cycle: 0.25,
    // Guide: 8 cores, 2 special function units, 1 double-precision unit.
    fp32_lanes: 8.0,
    integer_lanes: 8.0,
    special_lanes: 2.0,
    double_lanes: 1.0,
    // The GPU has no tensor cores.
    tensor_cycles: 0.0,
    warpgroup_cycles: 0.0,
    // Guide, "Shared Memory": 16 banks with 32 bits per two cycles each. A warp needs one wavefront per
    // half-warp.
    load_store_wavefronts: 0.25,
    l1_bytes: 0,
    l1_shares_with_shared: false,
    l1_caches_global: false,
    read_only_cache: false,
    // Guide: reading one address of constant memory is "as fast as reading from a register", which takes four
    // cycles per warp.
    constant_hit_cycles: 4.0,
    // Wong: 81 cycles to the second-level constant cache and 220 to the third level, which all SMs share.
    // There is no evidence that misses overlap.
    constant_l15_cycles: 81.0,
    constant_l2_cycles: 220.0,
    // Wong: 2 KB and 8 KB.
    constant_cache_bytes: 2 << 10,
    constant_l15_bytes: 8 << 10,
    // There is no L2 cache.
    l2_bytes_per_cycle: PEAK_BANDWIDTH / 1.296e9,
    achieved_memory_bandwidth: ACHIEVED_MEMORY_BANDWIDTH,
    // Wong. Loads that hit a cache on other GPUs go to memory.
    latency: Latencies {
        arithmetic: 24.0,
        tensor: 0.0,
        shared: 38.0,
        constant: 8.0,
        l1: 441.0,
        l2: 441.0,
        memory: 441.0,
        // Wong: a barrier of one warp takes 20 cycles, and each warp's issue takes four.
        barrier: [16.0, 4.0],
    },
    // Assumed to be 5 µs. Recent GPUs and drivers have reduced it to about 3 µs (NVIDIA developer forum,
    // topic 233645).
    launch_seconds: 5e-6,
    block_interval_cycles: h200::BLOCK_INTERVAL_CYCLES,
    block_overhead_cycles: h200::BLOCK_OVERHEAD_CYCLES,
};
