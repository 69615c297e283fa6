//! Kernel launches: validated as the driver does, then run until they complete or fault.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, FunctionId, Limit, StreamId};
use crate::check::reason::{Shape, Size};
use crate::check::{Bytes, Reason};
use crate::device::DeviceSpec;
use crate::exec::{FaultKind, Heap, LaunchSpec, Program, Resources};
use crate::isa::Kernel;
use crate::launch::{Launch, LaunchReport, launch};

/// A launch that fits the limits of its device and kernel, as [`Driver::check_launch`] has verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedLaunch {
    function: FunctionId,
    spec: LaunchSpec,
}

impl CheckedLaunch {
    /// Returns the kernel.
    pub fn function(&self) -> FunctionId {
        self.function
    }

    /// Returns the launch as requested.
    pub fn spec(&self) -> &LaunchSpec {
        &self.spec
    }
}

impl Driver {
    /// Validates a launch of `function` in `context`, except for its stream.
    ///
    /// Fails with [`CudaError::InvalidHandle`] for a function that does not belong to `context`, with
    /// [`CudaError::InvalidValue`] for dimensions, shared memory or parameters that do not fit the device or
    /// the kernel, with [`CudaError::LaunchOutOfResources`] for more registers than an SM has, and with
    /// [`CudaError::CooperativeLaunchTooLarge`] for a cooperative launch of more blocks than the device holds
    /// at once.
    pub fn check_launch(
        &self,
        context: ContextId,
        function: FunctionId,
        spec: LaunchSpec,
    ) -> Result<CheckedLaunch, CudaError> {
        self.context(context)?;
        let (loaded, module) = self.loaded_function(function)?;
        if module.context != context {
            return Err(CudaError::InvalidHandle);
        }
        let (device, kernel) = (&self.device, module.kernel(loaded));
        if let Some(reason) = misfit(device, kernel, loaded.settings.max_dynamic_shared, &spec) {
            return Err(CudaError::InvalidValue.because(reason));
        }
        let (threads, allowed) = (count(spec.block), max_threads(device, kernel));
        if threads > allowed.into() {
            let reason = Reason::Registers(
                threads,
                kernel.estimated_registers(),
                device.registers_per_multiprocessor,
                allowed,
            );
            return Err(CudaError::LaunchOutOfResources.because(reason));
        }
        if spec.cooperative {
            let (blocks, limit) = (spec.blocks(), self.max_resident_blocks(function, &spec)?);
            if blocks > limit {
                let reason = Reason::CooperativeBlocks(blocks, limit);
                return Err(CudaError::CooperativeLaunchTooLarge.because(reason));
            }
        }
        Ok(CheckedLaunch { function, spec })
    }

    /// Returns the maximum number of blocks of a launch that the device holds at once.
    fn max_resident_blocks(
        &self,
        function: FunctionId,
        spec: &LaunchSpec,
    ) -> Result<u64, CudaError> {
        let calculator = self.occupancy_calculator(function)?;
        let (threads, shared) = (spec.threads() as i32, spec.dynamic_shared.into());
        let per_sm = calculator.max_active_blocks(threads, shared)?;
        Ok(u64::from(per_sm) * u64::from(self.device.multiprocessors))
    }

    /// `cuLaunchKernel`: launches a kernel in `stream` of the context that it was checked in, and runs it to
    /// completion.
    ///
    /// As on a GPU, the launch of a kernel that faults succeeds; later calls in the context return the fault.
    /// This function fails with [`CudaError::InvalidHandle`] for a stream that does not belong to `context`
    /// or a function that has been unloaded.
    pub fn launch(
        &mut self,
        context: ContextId,
        stream: StreamId,
        checked: &CheckedLaunch,
    ) -> Result<LaunchReport, CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        let (function, module) = self.loaded_function(checked.function)?;
        let (kernel, program) = (function.kernel, module.program.clone());
        let resources = self.resources(context, &program, &checked.spec)?;
        self.global_of(context)?;
        if !self.options.checks.unused {
            // The reads of this launch are not recorded.
            self.global.forget_inputs();
        }
        let report = launch(&Launch {
            program: &program,
            kernel,
            spec: &checked.spec,
            resources: &resources,
            options: &self.options,
            global: &self.global,
            device: &self.device,
        });
        if let Some(barrier) = resources.grid_barrier {
            self.global.free(barrier)?;
        }
        let context = self.context_mut(context)?;
        match &report.result {
            Ok(record) => {
                let seconds = record.time.milliseconds / 1e3;
                context.timeline.run(stream, Engine::Compute, seconds)?;
            }
            Err(fault) => context.fault = Some(fault_code(&fault.kind)),
        }
        Ok(report)
    }
}

/// Returns the reason for which a launch does not fit the device or the kernel; `None` if it does.
/// `max_dynamic_shared` is the limit that the program has set.
fn misfit(
    device: &DeviceSpec,
    kernel: &Kernel,
    max_dynamic_shared: Option<u32>,
    spec: &LaunchSpec,
) -> Option<Reason> {
    for (shape, size, limit) in [
        (Shape::Grid, spec.grid, device.grid_dimensions),
        (Shape::Block, spec.block, device.block_dimensions),
    ] {
        if size.contains(&0) {
            return Some(Reason::EmptyLaunch(shape, Size(size)));
        }
        if size
            .into_iter()
            .zip(limit)
            .any(|(size, limit)| size > limit)
        {
            return Some(Reason::DimensionTooLarge(shape, Size(size), Size(limit)));
        }
    }
    let threads = count(spec.block);
    let device_limit = u64::from(device.threads_per_block);
    if threads > device_limit {
        return Some(Reason::TooManyThreads(threads, device_limit));
    }
    let bound = kernel.max_threads.map(count);
    if let Some(limit) = bound.filter(|&limit| threads > limit) {
        return Some(Reason::LaunchBounds(threads, limit));
    }
    let required = kernel.required_threads.filter(|&size| size != spec.block);
    if let Some(required) = required {
        return Some(Reason::RequiredBlock(Size(spec.block), Size(required)));
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

/// Bytes of the grid workspace of a cooperative launch: its size, and the word on which the blocks
/// synchronize. (CUDA's `cooperative_groups` call it `grid_workspace`.)
const WORKSPACE: u64 = 8;

impl Driver {
    /// Returns the resources of `context` that a launch of a kernel of `program` uses.
    fn resources(
        &mut self,
        context: ContextId,
        program: &Program,
        spec: &LaunchSpec,
    ) -> Result<Resources, CudaError> {
        let stack = self.limit(context, Limit::StackSize)?;
        Ok(Resources {
            stack_limit: u32::try_from(stack).unwrap_or(u32::MAX),
            heap: program.uses_heap.then(|| self.heap(context)).transpose()?,
            grid_barrier: spec
                .cooperative
                .then(|| self.allocate_grid_barrier(context))
                .transpose()?,
            images: self.images.clone(),
        })
    }

    /// Returns the device heap of a context. It is allocated on first use, with the current limit as its size.
    fn heap(&mut self, context: ContextId) -> Result<Arc<Heap>, CudaError> {
        if let Some(heap) = &self.context(context)?.heap {
            return Ok(heap.clone());
        }
        let bytes = self.limit(context, Limit::MallocHeapSize)? as u64;
        let base = self.global_of(context)?.allocate(bytes)?;
        self.global.name(base, "device heap of malloc");
        let heap = Arc::new(Heap::new(base, bytes));
        self.context_mut(context)?.heap = Some(heap.clone());
        Ok(heap)
    }

    /// Allocates and initializes the grid workspace of a cooperative launch.
    fn allocate_grid_barrier(&mut self, context: ContextId) -> Result<u64, CudaError> {
        let address = self.global_of(context)?.allocate(WORKSPACE)?;
        // A name keeps it out of the numbering of the program's own allocations in messages.
        self.global.name(address, "grid barrier");
        if let Some(size) = self.global.host(address, WORKSPACE) {
            // SAFETY: `host` returned a pointer to `WORKSPACE` valid bytes, with the alignment of an
            // allocation.
            unsafe { size.cast::<u32>().write(WORKSPACE as u32) };
        }
        Ok(address)
    }
}

/// Returns the error code of later calls in the context after a fault.
fn fault_code(fault: &FaultKind) -> CudaError {
    match fault {
        FaultKind::IllegalAddress { .. } | FaultKind::IllegalOperand { .. } => {
            CudaError::IllegalAddress
        }
        FaultKind::MisalignedAddress { .. } | FaultKind::MisalignedSurface { .. } => {
            CudaError::MisalignedAddress
        }
        FaultKind::StackOverflow { .. } | FaultKind::CallsTooDeep { .. } => {
            CudaError::HardwareStackError
        }
        FaultKind::InvalidCall { .. } => CudaError::InvalidPc,
        FaultKind::Assert { .. } => CudaError::Assert,
        FaultKind::InvalidBarrier { .. }
        | FaultKind::WarpIncomplete { .. }
        | FaultKind::WarpgroupIncomplete
        | FaultKind::Warpgroup(_) => CudaError::IllegalInstruction,
        FaultKind::Timeout { .. } | FaultKind::Interrupted { .. } => CudaError::LaunchTimeout,
        // A GPU would hang at such a barrier until its watchdog ends the kernel.
        FaultKind::BarrierNeverOpens { .. } | FaultKind::WarpSyncNeverOpens { .. } => {
            CudaError::LaunchTimeout
        }
        FaultKind::Trap
        | FaultKind::GridBarrier
        | FaultKind::Breakpoint
        | FaultKind::Mbarrier(_)
        | FaultKind::InvalidFree { .. }
        | FaultKind::NoImage { .. } => CudaError::LaunchFailed,
    }
}

/// Registers are allocated per warp in multiples of this number.
const REGISTER_UNIT: u32 = 256;

/// Returns the maximum threads per block that the kernel's registers and its launch bounds (`.maxntid`,
/// `.reqntid`) allow.
pub(super) fn max_threads(device: &DeviceSpec, kernel: &Kernel) -> u32 {
    // When in doubt, accept a launch that a GPU would reject rather than reject one that a GPU would accept.
    let needed = allocated_registers(device, kernel.estimated_registers());
    let warps = device.registers_per_multiprocessor / needed;
    let bound = kernel
        .max_threads
        .or(kernel.required_threads)
        .map_or(u64::MAX, count)
        .min(device.threads_per_block.into());
    (warps * device.warp_size).min(bound as u32)
}

/// Returns the registers that a resident warp of `kernel` occupies, estimated from the maximum number of live
/// registers in the PTX.
pub(super) fn registers_per_warp(device: &DeviceSpec, kernel: &Kernel) -> u32 {
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
