//! How many blocks of a kernel fit.

use std::ffi::{c_int, c_uint};

use cuda_sim::driver::{CudaError, FunctionId, OccupancyCalculator};
use cust_raw::{CUfunction, CUoccupancyB2DSize};

use super::driver;
use super::raw::{Out, number};
use crate::status::Answer;

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE`, the only flag; it changes nothing here.
const OCCUPANCY_FLAGS: c_uint = 1;

/// `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
pub unsafe fn active_blocks(
    blocks: *mut c_int,
    function: CUfunction,
    threads: c_int,
    dynamic_shared: usize,
) -> Answer {
    // SAFETY: the caller's promise.
    let blocks = unsafe { Out::new(blocks) }?;
    let found = calculator(function)?.max_active_blocks(threads, dynamic_shared as u64)?;
    blocks.set(found as c_int);
    Ok(())
}

/// `cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`.
pub unsafe fn active_blocks_with_flags(
    blocks: *mut c_int,
    function: CUfunction,
    threads: c_int,
    dynamic_shared: usize,
    flags: c_uint,
) -> Answer {
    check_flags(flags)?;
    // SAFETY: the caller's promise.
    unsafe { active_blocks(blocks, function, threads, dynamic_shared) }
}

/// `cuOccupancyMaxPotentialBlockSize`.
pub unsafe fn potential_block_size(
    blocks: *mut c_int,
    threads: *mut c_int,
    function: CUfunction,
    dynamic_shared_of: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: c_int,
) -> Answer {
    // SAFETY: the caller's promise.
    let (blocks, threads) = unsafe { (Out::new(blocks)?, Out::new(threads)?) };
    // The machine is not locked while the caller's function runs.
    let occupancy = calculator(function)?;
    let dynamic = |threads| match dynamic_shared_of {
        // SAFETY: the caller promises a function of the block size.
        Some(function) => unsafe { function(threads) as u64 },
        None => dynamic_shared as u64,
    };
    let best = occupancy.max_potential_block_size(dynamic, limit)?;
    blocks.set(best.0 as c_int);
    threads.set(best.1 as c_int);
    Ok(())
}

/// `cuOccupancyMaxPotentialBlockSizeWithFlags`.
pub unsafe fn potential_block_size_with_flags(
    blocks: *mut c_int,
    threads: *mut c_int,
    function: CUfunction,
    dynamic_shared_of: CUoccupancyB2DSize,
    dynamic_shared: usize,
    limit: c_int,
    flags: c_uint,
) -> Answer {
    check_flags(flags)?;
    // SAFETY: the caller's promise.
    unsafe {
        potential_block_size(
            blocks,
            threads,
            function,
            dynamic_shared_of,
            dynamic_shared,
            limit,
        )
    }
}

/// `cuOccupancyAvailableDynamicSMemPerBlock`.
pub unsafe fn available_dynamic_shared(
    bytes: *mut usize,
    function: CUfunction,
    blocks: c_int,
    threads: c_int,
) -> Answer {
    // SAFETY: the caller's promise.
    let bytes = unsafe { Out::new(bytes) }?;
    bytes.set(calculator(function)?.available_dynamic_shared(blocks, threads)? as usize);
    Ok(())
}

/// The calculator for a function. It has all it needs: nobody has to wait for the machine meanwhile.
fn calculator(function: CUfunction) -> Result<OccupancyCalculator, CudaError> {
    driver()?.occupancy_calculator(FunctionId(number(function)))
}

fn check_flags(flags: c_uint) -> Result<(), CudaError> {
    if flags & !OCCUPANCY_FLAGS != 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(())
}
