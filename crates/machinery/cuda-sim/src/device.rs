//! What a GPU is made of: the numbers that limits, attributes and the time model are read from.

/// One GPU model. Sizes are in bytes, clocks in kHz, bandwidths in bytes a second.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSpec {
    /// What `cuDeviceGetName` answers.
    pub name: &'static str,
    /// The GPU that is modelled, for the label of a modelled time.
    pub models: &'static str,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors (SMs).
    pub multiprocessors: u32,
    /// Boost clock of the SMs.
    pub clock_khz: u32,
    /// Clock of the memory; data moves twice a cycle.
    pub memory_clock_khz: u32,
    /// Width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// Device memory. The simulator hands out less when the host has less: see
    /// [`crate::driver::Driver::new`].
    pub memory_bytes: u64,
    /// Peak bandwidth of device memory.
    pub memory_bandwidth: f64,
    /// What one direction of the link to the host carries.
    pub host_link_bandwidth: f64,
    /// What a copy costs before its first byte, in seconds.
    pub copy_latency: f64,
    /// Level-2 cache.
    pub l2_bytes: u32,
    /// The constant bank of one module.
    pub constant_bytes: u32,
    /// The most bytes of kernel parameters.
    pub max_parameter_bytes: u32,
    /// Shared memory a block may have without asking.
    pub shared_per_block: u32,
    /// Shared memory a block may have after
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES` was raised.
    pub shared_per_block_optin: u32,
    /// Shared memory of one SM, over all its blocks.
    pub shared_per_multiprocessor: u32,
    /// Shared memory the system keeps for itself in each resident block.
    pub shared_reserved_per_block: u32,
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
}

impl DeviceSpec {
    /// NVIDIA H200 (SXM, 141 GB of HBM3e).
    pub const fn h200() -> Self {
        Self {
            name: "NVIDIA H200 (simulated)",
            models: "NVIDIA H200",
            compute_capability: (9, 0),
            multiprocessors: 132,
            clock_khz: 1_980_000,
            memory_clock_khz: 3_201_000,
            memory_bus_bits: 6144,
            memory_bytes: 150_754_820_096,
            memory_bandwidth: 4.8e12,
            host_link_bandwidth: 55e9,
            copy_latency: 1.5e-6,
            l2_bytes: 60 << 20,
            constant_bytes: 64 << 10,
            max_parameter_bytes: 32764,
            shared_per_block: 48 << 10,
            shared_per_block_optin: 227 << 10,
            shared_per_multiprocessor: 228 << 10,
            shared_reserved_per_block: 1 << 10,
            registers_per_multiprocessor: 65536,
            warp_size: 32,
            threads_per_block: 1024,
            block_dimensions: [1024, 1024, 64],
            grid_dimensions: [i32::MAX as u32, 65535, 65535],
            threads_per_multiprocessor: 2048,
            blocks_per_multiprocessor: 32,
        }
    }

    /// The most warps resident on one SM.
    pub const fn warps_per_multiprocessor(&self) -> u32 {
        self.threads_per_multiprocessor / self.warp_size
    }
}
