//! What a GPU is made of: the numbers that limits, attributes and the time model are read from.

/// The limits of textures and surfaces of compute capability 9.0.
const HOPPER_IMAGES: &[(i32, u32)] = &[
    // Textures: 1D; 2D; 3D; 2D layered (its third number: layers).
    (21, 131_072),
    (22, 131_072),
    (23, 65536),
    (24, 16384),
    (25, 16384),
    (26, 16384),
    (27, 32768),
    (28, 32768),
    (29, 2048),
    // 1D layered; 2D gathered; the other shape of 3D; cube maps, layered too.
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
    // Surfaces: 1D; 2D; 3D; 1D and 2D layered; cube maps, layered too.
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
    // Textures in linear memory, 1D and 2D; with mip maps, 2D and 1D.
    (69, 268_435_456),
    (70, 131_072),
    (71, 65000),
    (72, 2_097_120),
    (73, 32768),
    (74, 32768),
    (77, 32768),
];

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
    /// Copies within the device's memory, where every byte is read and written.
    pub device_copy: CopyRate,
    /// Copies over the link to the host, from or to page-locked memory; each way.
    pub page_locked_copy: CopyRate,
    /// The same with pageable memory, which goes through a page-locked buffer of the driver's.
    pub pageable_copy: CopyRate,
    /// Copies within the host's memory.
    pub host_copy: CopyRate,
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
    /// PCI device and subsystem: the numbers of the model, not of a slot.
    pub pci_ids: [u32; 2],
    /// The largest textures and surfaces, each by the number of its device attribute. Limits
    /// that programs list; the simulator has neither textures nor surfaces.
    pub image_limits: &'static [(i32, u32)],
}

/// What a kind of copy takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CopyRate {
    /// Seconds before its first byte.
    pub latency: f64,
    /// Bytes a second from then on.
    pub bandwidth: f64,
}

impl CopyRate {
    /// Seconds for `bytes` bytes.
    pub fn seconds(self, bytes: u64) -> f64 {
        self.latency + bytes as f64 / self.bandwidth
    }
}

impl DeviceSpec {
    /// NVIDIA H200 (SXM, 141 GB of HBM3e), as driver 580.159.04 answers for it. The
    /// bandwidth of its memory is that of its data sheet.
    pub const fn h200() -> Self {
        Self {
            name: "NVIDIA H200 (simulated)",
            models: "NVIDIA H200",
            compute_capability: (9, 0),
            multiprocessors: 132,
            clock_khz: 1_980_000,
            memory_clock_khz: 3_201_000,
            memory_bus_bits: 6016,
            memory_bytes: 150_109_880_320,
            memory_bandwidth: 4.8e12,
            // Read off an H200 with copies of 4 KB and 16 MiB (`vector-add`,
            // `docs/results/h200.md`); the link is PCIe 5.0 with 16 lanes.
            device_copy: CopyRate {
                latency: 2.8e-6,
                bandwidth: 2.4e12,
            },
            page_locked_copy: CopyRate {
                latency: 2.2e-6,
                bandwidth: 55.5e9,
            },
            pageable_copy: CopyRate {
                latency: 6.6e-6,
                bandwidth: 18.7e9,
            },
            host_copy: CopyRate {
                latency: 1.9e-6,
                bandwidth: 19.8e9,
            },
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
            pci_ids: [0x2335_10de, 0x18bf_10de],
            image_limits: HOPPER_IMAGES,
        }
    }

    /// The most warps resident on one SM.
    pub const fn warps_per_multiprocessor(&self) -> u32 {
        self.threads_per_multiprocessor / self.warp_size
    }
}
