//! Launches: checked as the driver checks them, then run to their end.

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

/// What to launch and how: the arguments of `cuLaunchKernel`.
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig<'a> {
    /// The kernel.
    pub function: FunctionId,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of shared memory besides what the kernel declares.
    pub dynamic_shared: u32,
    /// The parameters as they lie in the kernel's parameter space.
    pub parameters: &'a [u8],
    /// All blocks run at once, and may wait for each other.
    pub cooperative: bool,
    /// Where the launch shows how far it is, if anywhere.
    pub watch: Option<&'a Watch>,
    /// Whether to count everything, line by line.
    pub profile: bool,
}

/// Which accesses a launch tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// Each one, block by block: for launches of a few blocks.
    Each,
    /// Of each instruction the costliest.
    Costliest,
}

/// What came of a launch that was accepted.
#[derive(Debug, Default)]
pub struct LaunchOutcome {
    /// What the kernel printed.
    pub printed: Vec<u8>,
    /// What it did; none where it faulted.
    pub record: Option<LaunchRecord>,
    /// What stopped the kernel. From now on every call in its context answers with this.
    pub fault: Option<Fault>,
    /// What checks found, errors first.
    pub findings: Vec<Finding>,
    /// Its accesses, where [`Driver::trace`] asked for them.
    pub trace: Vec<Traced>,
}

impl Driver {
    /// Refuses a launch that [`Driver::launch`] would refuse, but for its stream; the errors are the same.
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
        if config.cooperative && blocks(config) > self.blocks_at_once(config)? {
            return Err(CudaError::CooperativeLaunchTooLarge);
        }
        Ok(())
    }

    /// `cuLaunchKernel`: launches a kernel in `stream` and runs it to its end.
    ///
    /// As on a GPU, a kernel that faults was still launched: the fault is what later calls in the
    /// context answer. The error here is that of a launch refused: [`CudaError::InvalidValue`] for
    /// dimensions, shared memory or parameters that do not fit the device or the kernel,
    /// [`CudaError::LaunchOutOfResources`] for too many registers,
    /// [`CudaError::CooperativeLaunchTooLarge`] for a cooperative one of more blocks than the device
    /// holds at once, [`CudaError::InvalidHandle`] for a stream or a function that `context` does not
    /// have.
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
            true => Some(self.meeting_place(context)?),
            false => None,
        };
        let wanted = Launch {
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
                (Some(Tracing::Each), _) => ProfileMode::Trace,
                (Some(Tracing::Costliest), _) => ProfileMode::TraceCostliest,
                (None, true) => ProfileMode::Full,
                (None, false) if self.sampled => ProfileMode::Sample,
                (None, false) => ProfileMode::Off,
            },
            checks: self.checks,
            conditions: self.conditions,
        };
        self.global_of(context)?;
        let ended = launch(&program, &self.global, &self.device, &wanted);
        if let Some(place) = cooperative {
            self.global.free(place)?;
        }
        let context = self.context_mut(context)?;
        match ended {
            Ok(report) => {
                let seconds = report.time.milliseconds / 1e3;
                context.timeline.run(stream, Engine::Compute, seconds)?;
                Ok(LaunchOutcome {
                    printed: report.printed,
                    record: Some(LaunchRecord {
                        kernel: program.listing.kernels[wanted.kernel].name.clone(),
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

/// Bytes of what the driver keeps for a cooperative launch: how many there are, and the word by which its
/// blocks wait for each other. (The names are CUDA's: `grid_workspace` in its `cooperative_groups`.)
const WORKSPACE: u64 = 8;

impl Driver {
    /// How many blocks of a launch the device holds at once.
    fn blocks_at_once(&self, config: &LaunchConfig) -> Result<u64, CudaError> {
        let threads = config.block.iter().product::<u32>();
        let calculator = self.occupancy_calculator(config.function)?;
        let each = calculator.max_active_blocks(threads as i32, config.dynamic_shared.into())?;
        Ok(u64::from(each) * u64::from(self.device.multiprocessors))
    }

    /// What `malloc` takes memory of in the kernels of a context: made when it is first needed, as large as
    /// the limit is then.
    fn heap(&mut self, context: ContextId) -> Result<Arc<Heap>, CudaError> {
        if let Some(heap) = &self.context(context)?.heap {
            return Ok(heap.clone());
        }
        let bytes = self.limit(context, Limit::MallocHeapSize)? as u64;
        let base = self.global_of(context)?.allocate(bytes)?;
        self.global.name(base, "the memory of malloc in kernels");
        let heap = Arc::new(Heap::new(base, bytes));
        self.context_mut(context)?.heap = Some(heap.clone());
        Ok(heap)
    }

    /// New memory in which the blocks of a cooperative launch wait for each other.
    fn meeting_place(&mut self, context: ContextId) -> Result<u64, CudaError> {
        let address = self.global_of(context)?.allocate(WORKSPACE)?;
        // It is not one of the program's own allocations, which messages number.
        self.global.name(address, "the grid's barrier");
        if let Some(size) = self.global.host(address, WORKSPACE) {
            // SAFETY: `host` answers for so many bytes, aligned as allocations are.
            unsafe { size.cast::<u32>().write(WORKSPACE as u32) };
        }
        Ok(address)
    }
}

/// The blocks of a launch.
fn blocks(config: &LaunchConfig) -> u64 {
    config.grid.into_iter().map(u64::from).product()
}

/// The code later calls answer after a fault.
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
        // A GPU would hang at a barrier that never opens until its watchdog ends the kernel.
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
