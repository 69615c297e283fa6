//! The limits of a device and a kernel that a launch must keep.

use crate::check::reason::{Shape, Size};
use crate::check::{Bytes, Reason};
use crate::device::DeviceSpec;
use crate::exec::LaunchSpec;
use crate::isa::Kernel;

/// Returns the reason for which a launch does not fit the device or the kernel; `None` if it does.
/// `max_dynamic_shared` is the limit that the program has set.
pub fn misfit(
    device: &DeviceSpec,
    kernel: &Kernel,
    max_dynamic_shared: Option<u32>,
    spec: &LaunchSpec,
) -> Option<Reason> {
    let misfit = dimension_misfit(Shape::Grid, spec.grid, device.grid_dimensions);
    let misfit = misfit.or_else(|| block_misfit(device, kernel, spec.block));
    if misfit.is_some() {
        return misfit;
    }
    if let Some(reason) = cluster_misfit(kernel, spec) {
        return Some(reason);
    }
    let (fixed, dynamic) = (kernel.shared_bytes, spec.dynamic_shared);
    let total = u64::from(fixed) + u64::from(dynamic);
    let limit = max_dynamic_shared.map_or(device.shared_per_block, |dynamic| fixed + dynamic);
    if total > limit.into() {
        let bytes = |bytes: u32| Bytes(bytes.into());
        return Some(if total > device.shared_per_block_optin.into() {
            Reason::SharedCapacity(Bytes(total), bytes(device.shared_per_block_optin))
        } else if let Some(allowed) = max_dynamic_shared {
            Reason::SharedAttribute(bytes(dynamic), bytes(allowed))
        } else {
            Reason::SharedMemory(bytes(dynamic), bytes(fixed), bytes(limit), dynamic)
        });
    }
    let (passed, expected) = (spec.parameters.len() as u64, u64::from(kernel.param_bytes));
    (passed != expected).then_some(Reason::ArgumentBytes(Bytes(passed), Bytes(expected)))
}

/// Returns the reason if the clusters of a launch do not divide its grid; `None` if they do or if there are none.
pub fn cluster_misfit(kernel: &Kernel, spec: &LaunchSpec) -> Option<Reason> {
    let cluster = spec.cluster.or(kernel.required_cluster)?;
    let divides = |axis: usize| cluster[axis] > 0 && spec.grid[axis].is_multiple_of(cluster[axis]);
    let fits = (0..3).all(divides);
    (!fits).then_some(Reason::ClusterGrid(Size(spec.grid), Size(cluster)))
}

/// Returns the reason for which blocks of this size do not fit the device or the kernel; `None` if they do.
pub fn block_misfit(device: &DeviceSpec, kernel: &Kernel, block: [u32; 3]) -> Option<Reason> {
    if let Some(reason) = dimension_misfit(Shape::Block, block, device.block_dimensions) {
        return Some(reason);
    }
    let threads = count(block);
    let device_limit = u64::from(device.threads_per_block);
    if threads > device_limit {
        return Some(Reason::TooManyThreads(threads, device_limit));
    }
    let bound = kernel.max_threads.map(count);
    if let Some(limit) = bound.filter(|&limit| threads > limit) {
        return Some(Reason::LaunchBounds(threads, limit));
    }
    let required = kernel.required_threads.filter(|&size| size != block);
    required.map(|required| Reason::RequiredBlock(Size(block), Size(required)))
}

/// Returns the reason for which the size of a grid or a block is empty or exceeds the limit of a dimension.
fn dimension_misfit(shape: Shape, size: [u32; 3], limit: [u32; 3]) -> Option<Reason> {
    if size.contains(&0) {
        return Some(Reason::EmptyLaunch(shape, Size(size)));
    }
    let mut dimensions = size.into_iter().zip(limit);
    let is_too_large = dimensions.any(|(size, limit)| size > limit);
    is_too_large.then_some(Reason::DimensionTooLarge(shape, Size(size), Size(limit)))
}

/// Registers are allocated per warp in multiples of this number.
const REGISTER_UNIT: u32 = 256;

/// Returns the maximum threads per block that the kernel's registers and its launch bounds (`.maxntid`) allow. The
/// block size that a kernel requires (`.reqntid`) does not count, as in the driver.
pub fn max_threads(device: &DeviceSpec, kernel: &Kernel) -> u32 {
    // When in doubt, accept a launch that a GPU would reject rather than reject one that a GPU would accept.
    let needed = allocated_registers(device, kernel.estimated_registers());
    let warps = device.registers_per_multiprocessor / needed;
    let bound = kernel
        .max_threads
        .map_or(u64::MAX, count)
        .min(device.threads_per_block.into());
    (warps * device.warp_size).min(bound as u32)
}

/// Returns the registers that a resident warp of `kernel` occupies, estimated from the maximum number of live
/// registers in the PTX.
pub fn registers_per_warp(device: &DeviceSpec, kernel: &Kernel) -> u32 {
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
pub fn count(size: [u32; 3]) -> u64 {
    size.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}
