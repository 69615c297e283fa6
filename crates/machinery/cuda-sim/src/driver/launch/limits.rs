//! Which launches fit the device and the kernel.

use super::LaunchConfig;
use crate::device::DeviceSpec;
use crate::driver::CudaError;
use crate::isa::Kernel;

/// A warp is given registers in multiples of this number.
const REGISTER_UNIT: u32 = 256;

/// Refuses a launch that is known not to work before a thread has run.
///
/// [`CudaError::InvalidValue`] for dimensions, shared memory or parameters that do not fit;
/// [`CudaError::LaunchOutOfResources`] for more registers than an SM has. `max_dynamic_shared` is
/// the limit set for this function in bytes, if any.
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
    let threads = volume(config.block);
    let at_most = kernel.max_threads.map_or(u64::MAX, volume);
    let as_required = kernel
        .required_threads
        .is_none_or(|required| required == config.block);
    let shared = kernel.shared_bytes.checked_add(config.dynamic_shared);
    let shared_limit = match max_dynamic_shared {
        Some(dynamic) => kernel.shared_bytes + dynamic,
        None => device.shared_per_block,
    };
    let fits = within(config.grid, device.grid_dimensions)
        && within(config.block, device.block_dimensions)
        && threads <= u64::from(device.threads_per_block).min(at_most)
        && as_required
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

/// The most threads of a block that the kernel's registers and its own bounds (`.maxntid`,
/// `.reqntid`) leave room for.
pub(in crate::driver) fn max_threads(device: &DeviceSpec, kernel: &Kernel) -> u32 {
    // A launch is rather let through that a GPU refuses than refused where a GPU does it.
    let needed = dealt_out(device, kernel.probable_registers());
    let warps = device.registers_per_multiprocessor / needed;
    let bound = kernel.max_threads.or(kernel.required_threads);
    let bound = bound
        .map_or(u64::MAX, volume)
        .min(device.threads_per_block.into());
    (warps * device.warp_size).min(bound as u32)
}

/// The registers that a resident warp of `kernel` takes of those of its SM, by what is alive at once in the PTX.
pub(in crate::driver) fn registers_per_warp(device: &DeviceSpec, kernel: &Kernel) -> u32 {
    /// The most that a thread can have. What needs more is kept in local memory by an assembler.
    const MOST: u32 = 255;
    dealt_out(device, kernel.bounded(kernel.registers.clamp(1, MOST)))
}

/// What a warp is given whose threads need so many registers each.
fn dealt_out(device: &DeviceSpec, registers: u32) -> u32 {
    (registers * device.warp_size).next_multiple_of(REGISTER_UNIT)
}

/// How many threads or blocks there are in `size` of them in x, y and z.
fn volume(size: [u32; 3]) -> u64 {
    size.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}
