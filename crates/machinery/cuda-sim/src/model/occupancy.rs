//! How many blocks of a launch a multiprocessor holds at once.
//!
//! Source: CUDA C++ Best Practices Guide, "Occupancy"; the limits are the device's.

use super::{Occupancy, OccupancyLimit};
use crate::device::DeviceSpec;
use crate::isa::Kernel;

/// Registers are dealt out to warps in these units.
const REGISTER_UNIT: u32 = 256;

/// The occupancy of `blocks` blocks of `threads` threads, with `shared` bytes of shared memory each.
pub fn occupancy(
    device: &DeviceSpec,
    kernel: &Kernel,
    threads: u32,
    shared: u32,
    blocks: u64,
) -> Occupancy {
    let most_warps = device.warps_per_multiprocessor();
    let warps = threads.div_ceil(device.warp_size).max(1);
    let registers = kernel.probable_registers() * device.warp_size;
    let resident = device.registers_per_multiprocessor / registers.next_multiple_of(REGISTER_UNIT);
    let shared = shared
        .saturating_add(device.shared_reserved_per_block)
        .max(1);
    let grid = blocks.div_ceil(device.multiprocessors.into());
    let limits = [
        (OccupancyLimit::Threads, most_warps / warps),
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
        most_warps,
        limit,
    }
}
