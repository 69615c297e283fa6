//! Occupancy: the number of blocks of a launch that an SM holds at once.
//!
//! Source: CUDA C++ Best Practices Guide, "Occupancy". The limits are the device's.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::device::DeviceSpec;
use crate::isa::Kernel;

/// The number of warps of a kernel that an SM holds at once, and what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Resident blocks per SM.
    pub blocks: u32,
    /// Resident warps per SM.
    pub warps: u32,
    /// The hardware maximum of resident warps per SM.
    #[serde(rename = "most_warps")]
    pub max_warps: u32,
    /// The resource that prevents a further block.
    pub limit: OccupancyLimit,
}

/// The resource that limits the number of resident blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OccupancyLimit {
    /// The maximum number of threads per SM.
    Threads,
    /// The maximum number of blocks per SM.
    Blocks,
    /// Shared memory.
    SharedMemory,
    /// Registers.
    Registers,
    /// No resource: the grid has no further blocks.
    Grid,
}

impl fmt::Display for OccupancyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OccupancyLimit::Threads => "threads",
            OccupancyLimit::Blocks => "blocks",
            OccupancyLimit::SharedMemory => "shared memory",
            OccupancyLimit::Registers => "registers",
            OccupancyLimit::Grid => "the grid",
        })
    }
}

/// Registers are allocated per warp in multiples of this number.
const REGISTER_UNIT: u32 = 256;

/// Returns the occupancy of `blocks` blocks of `threads` threads, with `shared` bytes of shared memory per
/// block.
pub fn occupancy(
    device: &DeviceSpec,
    kernel: &Kernel,
    threads: u32,
    shared: u32,
    blocks: u64,
) -> Occupancy {
    let max_warps = device.warps_per_multiprocessor();
    let warps = threads.div_ceil(device.warp_size).max(1);
    let registers = kernel.estimated_registers() * device.warp_size;
    let resident = device.registers_per_multiprocessor / registers.next_multiple_of(REGISTER_UNIT);
    let shared = shared
        .saturating_add(device.shared_reserved_per_block)
        .max(1);
    let grid = blocks.div_ceil(device.multiprocessors.into());
    let limits = [
        (OccupancyLimit::Threads, max_warps / warps),
        (OccupancyLimit::Blocks, device.blocks_per_multiprocessor),
        (
            OccupancyLimit::SharedMemory,
            device.shared_per_multiprocessor / shared,
        ),
        (OccupancyLimit::Registers, resident / warps),
        (
            OccupancyLimit::Grid,
            u32::try_from(grid).unwrap_or(u32::MAX),
        ),
    ];
    let tightest = limits.into_iter().min_by_key(|&(_, blocks)| blocks);
    let (limit, blocks) = tightest.unwrap_or((OccupancyLimit::Grid, 1));
    let blocks = blocks.max(1);
    Occupancy {
        blocks,
        warps: blocks * warps,
        max_warps,
        limit,
    }
}
