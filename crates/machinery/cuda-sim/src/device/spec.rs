//! The numbers of one GPU.

use super::{CopyRate, Rates};

/// One GPU model. Sizes are in bytes, clocks in kHz, bandwidths in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSpec {
    /// What `cuDeviceGetName` answers.
    pub name: &'static str,
    /// The GPU that is modelled, for the label of a modelled time.
    pub models: &'static str,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// The newest PTX target whose kernels it runs, 90 for `sm_90`. The newest GPU that can be modelled
    /// stands for newer ones too.
    pub accepts: u32,
    /// Streaming multiprocessors (SMs).
    pub multiprocessors: u32,
    /// Boost clock of the SMs, in kHz.
    pub clock_khz: u32,
    /// Clock of the memory in kHz, as drivers report it; data moves twice a cycle.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// Device memory. The simulated driver hands out less when the host has little memory itself.
    pub memory_bytes: u64,
    /// Peak bandwidth of device memory.
    pub memory_bandwidth: f64,
    /// Whether device memory corrects errors (ECC).
    pub error_correction: bool,
    /// Copies within the device's memory, where every byte is read and written.
    pub device_copy: CopyRate,
    /// Copies over the link to the host, from or to page-locked memory; each way.
    pub page_locked_copy: CopyRate,
    /// Copies over the link to the host, from or to pageable memory, which go through a page-locked
    /// buffer of the driver's; each way.
    pub pageable_copy: CopyRate,
    /// Copies within the host's memory.
    pub host_copy: CopyRate,
    /// Level-2 cache; 0 where there is none.
    pub l2_bytes: u32,
    /// The most constant memory of one module.
    pub constant_bytes: u32,
    /// The most bytes of kernel parameters.
    pub max_parameter_bytes: u32,
    /// Shared memory a block may have unless a program raises the limit.
    pub shared_per_block: u32,
    /// Shared memory a block may have after
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` was raised.
    pub shared_per_block_optin: u32,
    /// Shared memory of one SM, over all its blocks.
    pub shared_per_multiprocessor: u32,
    /// Shared memory that the system takes for itself with each resident block.
    pub shared_reserved_per_block: u32,
    /// Shared memory is dealt out to blocks in these units.
    pub shared_unit: u32,
    /// 32-bit registers of one SM, and the most one block may have.
    pub registers_per_multiprocessor: u32,
    /// Threads in a warp.
    pub warp_size: u32,
    /// The most threads in a block.
    pub threads_per_block: u32,
    /// The largest block in x, y and z.
    pub block_dimensions: [u32; 3],
    /// The largest grid in x, y and z.
    pub grid_dimensions: [u32; 3],
    /// The most threads resident on one SM.
    pub threads_per_multiprocessor: u32,
    /// The most blocks resident on one SM.
    pub blocks_per_multiprocessor: u32,
    /// The PCI device and subsystem numbers of the model. The subsystem is 0 where each maker of
    /// boards has another.
    pub pci_ids: [u32; 2],
    /// Alignment of textures and surfaces.
    pub texture_alignment: u32,
    /// The largest textures and surfaces, each with the number of its device attribute. Programs
    /// list them; the simulator has neither textures nor surfaces. Empty for GPUs before compute
    /// capability 6.
    pub image_limits: &'static [(i32, u32)],
    /// How fast its parts are.
    pub rates: Rates,
}

impl DeviceSpec {
    /// The most warps resident on one SM.
    pub const fn warps_per_multiprocessor(&self) -> u32 {
        self.threads_per_multiprocessor / self.warp_size
    }
}
