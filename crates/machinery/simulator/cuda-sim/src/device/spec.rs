//! The specification of one GPU.

use super::{CopyRate, Rates};

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
