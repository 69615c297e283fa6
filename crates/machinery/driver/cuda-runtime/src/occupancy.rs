//! Occupancy queries: resident blocks per SM, and the dynamic shared memory that remains for a block.

use std::ffi::{c_int, c_uint, c_void};

use cuda_driver::functions as cu;

use crate::program;
use crate::status::{Result, check};

/// `cudaOccupancyMaxActiveBlocksPerMultiprocessor`.
pub unsafe fn active_blocks(
    to: *mut c_int,
    host: *const c_void,
    threads: c_int,
    dynamic_shared: usize,
) -> Result {
    // SAFETY: `cudaOccupancyMaxActiveBlocksPerMultiprocessor` has the same requirements for `to` and `host`
    // as `active_blocks_with_flags`.
    unsafe { active_blocks_with_flags(to, host, threads, dynamic_shared, 0) }
}

/// `cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`.
pub unsafe fn active_blocks_with_flags(
    to: *mut c_int,
    host: *const c_void,
    threads: c_int,
    dynamic_shared: usize,
    flags: c_uint,
) -> Result {
    let function = program::kernel(host)?;
    // SAFETY: `cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags` has the same requirements for `to` as
    // `cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`.
    check(unsafe {
        cu::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            to,
            function,
            threads,
            dynamic_shared,
            flags,
        )
    })
}

/// `cudaOccupancyAvailableDynamicSMemPerBlock`.
pub unsafe fn available_dynamic_shared(
    to: *mut usize,
    host: *const c_void,
    blocks: c_int,
    threads: c_int,
) -> Result {
    let function = program::kernel(host)?;
    // SAFETY: `cudaOccupancyAvailableDynamicSMemPerBlock` has the same requirements for `to` as
    // `cuOccupancyAvailableDynamicSMemPerBlock`.
    check(unsafe { cu::cuOccupancyAvailableDynamicSMemPerBlock(to, function, blocks, threads) })
}
