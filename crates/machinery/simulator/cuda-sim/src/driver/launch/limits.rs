//! Validation of launches against the limits of the device and the kernel.

use super::LaunchConfig;
use crate::device::DeviceSpec;
use crate::driver::CudaError;
use crate::isa::Kernel;

/// Registers are allocated per warp in multiples of this number.
const REGISTER_UNIT: u32 = 256;

/// Validates a launch before any thread runs.
///
/// Fails with [`CudaError::InvalidValue`] for dimensions, shared memory or parameters that do not fit, and
/// with [`CudaError::LaunchOutOfResources`] for more registers than an SM has. `max_dynamic_shared` is the
/// limit in bytes that the program set for this function, if any.
pub(super) fn check_launch(
    device: &DeviceSpec,
    kernel: &Kernel,
    max_dynamic_shared: Option<u32>,
    config: &LaunchConfig,
) -> Result<(), CudaError> {
    let within = |size: [u32; 3], limits: [u32; 3]| {
        let mut axes = size.into_iter().zip(limits);
        axes.all(|(size, limit)| (1..=limit).contains(&size))
    };
    let threads = count(config.block);
    let max_threads_limit = kernel.max_threads.map_or(u64::MAX, count);
    let matches_required = kernel
        .required_threads
        .is_none_or(|required| required == config.block);
    let shared = kernel.shared_bytes.checked_add(config.dynamic_shared);
    let shared_limit = match max_dynamic_shared {
        Some(dynamic) => kernel.shared_bytes + dynamic,
        None => device.shared_per_block,
    };
    let fits = within(config.grid, device.grid_dimensions)
        && within(config.block, device.block_dimensions)
        && threads <= u64::from(device.threads_per_block).min(max_threads_limit)
        && matches_required
        && shared.is_some_and(|shared| shared <= shared_limit)
        && config.parameters.len() == kernel.param_bytes as usize;
    if !fits {
        return Err(CudaError::InvalidValue);
    }
    if threads > max_threads(device, kernel).into() {
        return Err(CudaError::LaunchOutOfResources);
    }
    Ok(())
}

/// Returns the maximum threads per block that the kernel's registers and its launch bounds (`.maxntid`,
/// `.reqntid`) allow.
pub(in crate::driver) fn max_threads(device: &DeviceSpec, kernel: &Kernel) -> u32 {
    // When in doubt, accept a launch that a GPU would reject rather than reject one that a GPU would accept.
    let needed = allocated_registers(device, kernel.estimated_registers());
    let warps = device.registers_per_multiprocessor / needed;
    let bound = kernel.max_threads.or(kernel.required_threads);
    let bound = bound
        .map_or(u64::MAX, count)
        .min(device.threads_per_block.into());
    (warps * device.warp_size).min(bound as u32)
}

/// Returns the registers that a resident warp of `kernel` occupies, estimated from the maximum number of live
/// registers in the PTX.
pub(in crate::driver) fn registers_per_warp(device: &DeviceSpec, kernel: &Kernel) -> u32 {
    /// The maximum registers per thread. An assembler spills the rest to local memory.
    const MAX_REGISTERS: u32 = 255;
    allocated_registers(
        device,
        kernel.limit_by_launch_bounds(kernel.registers.clamp(1, MAX_REGISTERS)),
    )
}

/// Returns the registers allocated to a warp whose threads need `registers` each.
fn allocated_registers(device: &DeviceSpec, registers: u32) -> u32 {
    (registers * device.warp_size).next_multiple_of(REGISTER_UNIT)
}

/// Returns the number of threads or blocks in a box of this size.
fn count(size: [u32; 3]) -> u64 {
    size.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}
