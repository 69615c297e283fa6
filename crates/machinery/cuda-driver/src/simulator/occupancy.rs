//! How many blocks of a kernel fit.

use std::ffi::{c_int, c_uint};

use cuda_sim::driver::{CudaError, OccupancyCalculator};
use cust_raw::{CUfunction, CUoccupancyB2DSize};

use super::raw::Out;
use super::{launch_attributes, machine, with_function};
use crate::status::Answer;
use crate::types::CUlaunchConfig;

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

/// `cuOccupancyMaxActiveClusters`: a cluster of one block is a block.
pub unsafe fn active_clusters(
    clusters: *mut c_int,
    function: CUfunction,
    config: *const CUlaunchConfig,
) -> Answer {
    // SAFETY: the caller's promise.
    let (clusters, config) = unsafe { (Out::new(clusters)?, config.as_ref()) };
    let config = config.ok_or(CudaError::InvalidValue)?;
    // SAFETY: the caller's promise.
    unsafe { launch_attributes::read(config.attributes, config.attribute_count) }?;
    let sizes = config.block.map(u64::from);
    let threads = sizes.into_iter().fold(1, u64::saturating_mul);
    let threads = c_int::try_from(threads).map_err(|_| CudaError::InvalidValue)?;
    let blocks = calculator(function)?.max_active_blocks(threads, config.dynamic_shared.into())?;
    let multiprocessors = machine()?.device().multiprocessors;
    clusters.set((blocks * multiprocessors) as c_int);
    Ok(())
}

/// `cuOccupancyMaxPotentialClusterSize`: one block.
pub unsafe fn cluster_size(
    size: *mut c_int,
    function: CUfunction,
    config: *const CUlaunchConfig,
) -> Answer {
    // SAFETY: the caller's promise.
    let size = unsafe { Out::new(size) }?;
    if config.is_null() {
        return Err(CudaError::InvalidValue.into());
    }
    calculator(function)?;
    size.set(1);
    Ok(())
}

/// The calculator for a function. It has all it needs: nobody has to wait for the machine meanwhile.
fn calculator(function: CUfunction) -> Result<OccupancyCalculator, CudaError> {
    let (driver, function) = with_function(function)?;
    driver.occupancy_calculator(function)
}

fn check_flags(flags: c_uint) -> Result<(), CudaError> {
    if flags & !OCCUPANCY_FLAGS != 0 {
        return Err(CudaError::InvalidValue);
    }
    Ok(())
}
