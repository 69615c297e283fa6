//! Kernel launches: validated as the driver does, then run to completion.

#[cfg(test)]
mod cooperative_tests;
#[cfg(test)]
mod heap_tests;
mod limits;
#[cfg(test)]
mod tests;

pub(super) use self::limits::{max_threads, registers_per_warp};

use std::sync::Arc;

use self::limits::check_launch;
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, FunctionId, Limit, StreamId};
use crate::check::Finding;
use crate::exec::{Fault, FaultKind, Heap, ProfileMode, Traced, Watch};
use crate::launch::{Launch, LaunchRecord, launch};

/// The arguments of `cuLaunchKernel`.
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig<'a> {
    /// The kernel.
    pub function: FunctionId,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameters, in the layout of the kernel's parameter space.
    pub parameters: &'a [u8],
    /// True for a cooperative launch: all blocks are resident at once and may synchronize with each other.
    pub cooperative: bool,
    /// The progress report of the launch, if any.
    pub watch: Option<&'a Watch>,
    /// True to profile the launch per source line.
    pub profile: bool,
}

/// The accesses that a launch traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// All accesses, block by block. For launches of a few blocks.
    All,
    /// The costliest access of each instruction.
    Costliest,
}

/// The outcome of a launch that was accepted.
#[derive(Debug, Default)]
pub struct LaunchOutcome {
    /// The kernel's `printf` output.
    pub printed: Vec<u8>,
    /// The record of the launch; `None` if it faulted.
    pub record: Option<LaunchRecord>,
    /// The fault that ended the kernel. It is the sticky error of the context from now on.
    pub fault: Option<Fault>,
    /// The findings of the checks, errors first.
    pub findings: Vec<Finding>,
    /// The traced accesses, if [`Driver::trace`] enabled tracing.
    pub trace: Vec<Traced>,
}

impl Driver {
    /// Validates a launch, except for its stream. Fails with the errors of [`Driver::launch`].
    pub fn check_launch(&self, context: ContextId, config: &LaunchConfig) -> Result<(), CudaError> {
        self.context(context)?;
        let (function, module) = self.loaded_function(config.function)?;
        if module.context != context {
            return Err(CudaError::InvalidHandle);
        }
        let kernel = module.kernel(function);
        check_launch(
            &self.device,
            kernel,
            function.settings.max_dynamic_shared,
            config,
        )?;
        if config.cooperative && blocks(config) > self.max_resident_blocks(config)? {
            return Err(CudaError::CooperativeLaunchTooLarge);
        }
        Ok(())
    }

    /// `cuLaunchKernel`: launches a kernel in `stream` and runs it to completion.
    ///
    /// As on a GPU, the launch of a kernel that faults succeeds; later calls in the context return the fault.
    /// This function fails if the launch itself is invalid: with [`CudaError::InvalidValue`] for dimensions,
    /// shared memory or parameters that do not fit the device or the kernel, with
    /// [`CudaError::LaunchOutOfResources`] for too many registers, with
    /// [`CudaError::CooperativeLaunchTooLarge`] for a cooperative launch of more blocks than the device holds
    /// at once, and with [`CudaError::InvalidHandle`] for a stream or a function that does not belong to
    /// `context`.
    pub fn launch(
        &mut self,
        context: ContextId,
        stream: StreamId,
        config: &LaunchConfig,
    ) -> Result<LaunchOutcome, CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        self.check_launch(context, config)?;
        let (function, module) = self.loaded_function(config.function)?;
        let kernel = function.kernel;
        let program = module.program.clone();
        let stack = self.limit(context, Limit::StackSize)?;
        let checks = self.checks;
        let heap = match program.uses_heap {
            true => Some(self.heap(context)?),
            false => None,
        };
        let cooperative = match config.cooperative {
            true => Some(self.allocate_grid_barrier(context)?),
            false => None,
        };
        let request = Launch {
            kernel,
            grid: config.grid,
            block: config.block,
            dynamic_shared: config.dynamic_shared,
            params: config.parameters,
            stack_limit: u32::try_from(stack).unwrap_or(u32::MAX),
            cooperative,
            heap,
            images: self.images.clone(),
            time_limit: self.time_limit,
            threads: None,
            watch: config.watch,
            profile: match (self.tracing, config.profile) {
                (Some(Tracing::All), _) => ProfileMode::Trace,
                (Some(Tracing::Costliest), _) => ProfileMode::TraceCostliest,
                (None, true) => ProfileMode::Full,
                (None, false) if self.sampled => ProfileMode::Sample,
                (None, false) => ProfileMode::Off,
            },
            checks: self.checks,
            conditions: self.conditions,
        };
        self.global_of(context)?;
        let result = launch(&program, &self.global, &self.device, &request);
        if let Some(barrier) = cooperative {
            self.global.free(barrier)?;
        }
        let context = self.context_mut(context)?;
        match result {
            Ok(report) => {
                let seconds = report.time.milliseconds / 1e3;
                context.timeline.run(stream, Engine::Compute, seconds)?;
                Ok(LaunchOutcome {
                    printed: report.printed,
                    record: Some(LaunchRecord {
                        kernel: program.listing.kernels[request.kernel].name.clone(),
                        grid: config.grid,
                        block: config.block,
                        counters: report.counts.counters(&program.listing),
                        time: report.time,
                        profile: report.profile,
                    }),
                    fault: None,
                    findings: report.findings,
                    trace: report.trace,
                })
            }
            Err(mut fault) => {
                context.fault = Some(fault_code(&fault.kind));
                let findings = fault.take_findings(checks);
                Ok(LaunchOutcome {
                    printed: std::mem::take(&mut fault.printed),
                    record: None,
                    fault: Some(fault),
                    findings,
                    trace: Vec::new(),
                })
            }
        }
    }
}

/// Bytes of the grid workspace of a cooperative launch: its size, and the word on which the blocks
/// synchronize. (CUDA's `cooperative_groups` call it `grid_workspace`.)
const WORKSPACE: u64 = 8;

impl Driver {
    /// Returns the maximum number of blocks of a launch that the device holds at once.
    fn max_resident_blocks(&self, config: &LaunchConfig) -> Result<u64, CudaError> {
        let threads = config.block.iter().product::<u32>();
        let calculator = self.occupancy_calculator(config.function)?;
        let per_sm = calculator.max_active_blocks(threads as i32, config.dynamic_shared.into())?;
        Ok(u64::from(per_sm) * u64::from(self.device.multiprocessors))
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

/// Returns the number of blocks of a launch.
fn blocks(config: &LaunchConfig) -> u64 {
    config.grid.into_iter().map(u64::from).product()
}

/// Returns the error code of later calls in the context after a fault.
fn fault_code(fault: &FaultKind) -> CudaError {
    match fault {
        FaultKind::IllegalAddress { .. } => CudaError::IllegalAddress,
        FaultKind::MisalignedAddress { .. } => CudaError::MisalignedAddress,
        FaultKind::StackOverflow { .. } | FaultKind::CallsTooDeep => CudaError::HardwareStackError,
        FaultKind::InvalidCall { .. } => CudaError::InvalidPc,
        FaultKind::Assert { .. } => CudaError::Assert,
        FaultKind::InvalidBarrier { .. }
        | FaultKind::WarpIncomplete { .. }
        | FaultKind::WarpgroupIncomplete
        | FaultKind::Warpgroup(_) => CudaError::IllegalInstruction,
        FaultKind::Timeout { .. } | FaultKind::Interrupted => CudaError::LaunchTimeout,
        // A GPU would hang at such a barrier until its watchdog ends the kernel.
        FaultKind::BarrierNeverOpens { .. } | FaultKind::WarpSyncNeverOpens { .. } => {
            CudaError::LaunchTimeout
        }
        FaultKind::Trap
        | FaultKind::Breakpoint
        | FaultKind::Mbarrier(_)
        | FaultKind::InvalidFree { .. }
        | FaultKind::NoImage { .. } => CudaError::LaunchFailed,
    }
}
