//! Kernel launches: validated as the driver does, then run until they complete or fault.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::attribute::CLUSTER_CAPABILITY;
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, FunctionId, Limit, StreamId};
use crate::check::Reason;
use crate::check::reason::Size;
use crate::exec::sm::cluster::{MAX_CLUSTER, PORTABLE_CLUSTER};
use crate::exec::{DeviceRuntime, FaultKind, Heap, LaunchSpec, Program, Resources};
use crate::isa::Kernel;
use crate::launch::limits::{block_misfit, cluster_misfit, count, max_threads, misfit};
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
        mut spec: LaunchSpec,
    ) -> Result<CheckedLaunch, CudaError> {
        self.context(context)?;
        let (loaded, module) = self.loaded_function(function)?;
        if module.context != context {
            return Err(CudaError::InvalidHandle);
        }
        let (device, kernel) = (&self.device, module.kernel(loaded));
        spec.cluster = (spec.cluster)
            .or(kernel.required_cluster)
            .or(loaded.settings.cluster());
        self.check_cluster(kernel, spec.cluster, loaded.settings.allows_any_cluster())?;
        if let Some(reason) = misfit(device, kernel, loaded.settings.max_dynamic_shared, &spec) {
            // Without room for its shared memory, no block of a cooperative launch is resident.
            let is_shared = matches!(
                reason,
                Reason::SharedCapacity(..) | Reason::SharedAttribute(..) | Reason::SharedMemory(..)
            );
            let error = match reason {
                Reason::ClusterGrid(..) => CudaError::InvalidClusterSize,
                _ if spec.cooperative && is_shared => CudaError::CooperativeLaunchTooLarge,
                _ => CudaError::InvalidValue,
            };
            return Err(error.because(reason));
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

    /// `cuFuncSetBlockShape`: validates the block size of later launches of `function`. Fails with
    /// [`CudaError::InvalidValue`] for a size that does not fit the device or the kernel.
    pub fn check_block(&self, function: FunctionId, block: [u32; 3]) -> Result<(), CudaError> {
        let (loaded, module) = self.loaded_function(function)?;
        match block_misfit(&self.device, module.kernel(loaded), block) {
            Some(reason) => Err(CudaError::InvalidValue.because(reason)),
            None => Ok(()),
        }
    }

    /// Fails with [`CudaError::InvalidClusterSize`] if clusters of this size cannot be launched, or if the kernel
    /// requires a size and there is none; with [`CudaError::InvalidValue`] if the kernel requires another size; with
    /// [`CudaError::NotSupported`] on a device without clusters.
    fn check_cluster(
        &self,
        kernel: &Kernel,
        cluster: Option<[u32; 3]>,
        allows_any: bool,
    ) -> Result<(), CudaError> {
        let Some(size) = cluster else {
            return match kernel.explicit_cluster {
                true => Err(CudaError::InvalidClusterSize.because(Reason::ClusterMissing)),
                false => Ok(()),
            };
        };
        if let Some(required) = kernel.required_cluster.filter(|&required| required != size) {
            let reason = Reason::RequiredCluster(Size(size), Size(required));
            return Err(CudaError::InvalidValue.because(reason));
        }
        if size != [1; 3] && self.device.compute_capability < CLUSTER_CAPABILITY {
            return Err(CudaError::NotSupported);
        }
        let device_limit = match allows_any {
            true => MAX_CLUSTER,
            false => PORTABLE_CLUSTER,
        };
        let limit = kernel
            .max_cluster_rank
            .map_or(device_limit, |rank| device_limit.min(rank.into()));
        if count(size) > limit {
            let reason = Reason::ClusterSize(Size(size), limit);
            return Err(CudaError::InvalidClusterSize.because(reason));
        }
        Ok(())
    }

    /// Returns the maximum number of clusters of a launch that the device holds at once. An SM holds any number of
    /// blocks of a cluster. Fails with [`CudaError::InvalidClusterSize`] for clusters that cannot be launched.
    pub fn max_resident_clusters(
        &self,
        function: FunctionId,
        spec: &LaunchSpec,
    ) -> Result<u64, CudaError> {
        let (loaded, module) = self.loaded_function(function)?;
        let kernel = module.kernel(loaded);
        self.check_cluster(kernel, spec.cluster, loaded.settings.allows_any_cluster())?;
        if let Some(reason) = cluster_misfit(kernel, spec) {
            return Err(CudaError::InvalidClusterSize.because(reason));
        }
        let size = spec.cluster.map_or(1, count).max(1);
        Ok(self.max_resident_blocks(function, spec)? / size)
    }

    /// Returns the maximum number of blocks in a cluster of a launch: the largest power of two that the device and
    /// the kernel allow and that fits the device.
    pub fn max_cluster_size(
        &self,
        function: FunctionId,
        spec: &LaunchSpec,
    ) -> Result<u64, CudaError> {
        if self.device.compute_capability < CLUSTER_CAPABILITY {
            return Ok(1);
        }
        let (loaded, module) = self.loaded_function(function)?;
        let limit = match loaded.settings.allows_any_cluster() {
            true => MAX_CLUSTER,
            false => PORTABLE_CLUSTER,
        };
        let rank = module
            .kernel(loaded)
            .max_cluster_rank
            .map_or(limit, u64::from);
        let resident = self.max_resident_blocks(function, spec)?;
        let limit = limit.min(rank).min(resident);
        Ok(limit.checked_ilog2().map_or(0, |log| 1 << log))
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
        let resources = self.resources(context, checked, (kernel, &program))?;
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
            submitter: None,
        });
        if let Some(barrier) = resources.grid_barrier {
            self.global.free(barrier)?;
        }
        match &report.result {
            Ok(record) => {
                let milliseconds = record.time.milliseconds + report.descendants.milliseconds;
                let seconds = milliseconds / 1e3;
                let timeline = &mut self.context_mut(context)?.timeline;
                timeline.run(stream, Engine::Compute, seconds)?;
            }
            Err(fault) => self.fail(context, fault_code(&fault.kind)),
        }
        Ok(report)
    }
}

/// Bytes of the grid workspace of a cooperative launch: its size, and the word on which the blocks
/// synchronize. (CUDA's `cooperative_groups` call it `grid_workspace`.)
const WORKSPACE: u64 = 8;

impl Driver {
    /// Returns the resources of `context` that a launch of a kernel uses, given by its index in the program.
    fn resources(
        &mut self,
        context: ContextId,
        checked: &CheckedLaunch,
        (kernel, program): (usize, &Program),
    ) -> Result<Resources, CudaError> {
        // A kernel that launches others may launch any kernel of the program.
        let launched = if program.launches_kernels {
            0..program.listing.kernels.len()
        } else {
            kernel..kernel + 1
        };
        let uses_heap = program.listing.kernels[launched]
            .iter()
            .any(|kernel| kernel.uses_heap);
        let runtime = program
            .launches_kernels
            .then(|| self.device_runtime(context, checked.function));
        let stack = self.limit(context, Limit::StackSize)?;
        Ok(Resources {
            stack_limit: u32::try_from(stack).unwrap_or(u32::MAX),
            heap: uses_heap.then(|| self.heap(context)).transpose()?,
            grid_barrier: checked
                .spec
                .cooperative
                .then(|| self.allocate_grid_barrier(context))
                .transpose()?,
            images: self.images.clone(),
            graph_conditions: self.graph_conditions.clone(),
            runtime: runtime.transpose()?,
        })
    }

    /// Returns the state for launches by kernels of the module of `function`.
    fn device_runtime(
        &self,
        context: ContextId,
        function: FunctionId,
    ) -> Result<Arc<DeviceRuntime>, CudaError> {
        let module = self.function_module(function)?;
        let functions = self.functions.values();
        let of_module = functions.filter(|function| function.module == module);
        let max_dynamic_shared = of_module.filter_map(|function| {
            let bytes = function.settings.max_dynamic_shared?;
            Some((function.kernel, bytes))
        });
        let max_pending = self.limit(context, Limit::PendingLaunches)? as u64;
        Ok(Arc::new(DeviceRuntime::new(
            max_pending,
            max_dynamic_shared.collect(),
        )))
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
        FaultKind::IllegalAddress { .. }
        | FaultKind::IllegalClusterAddress { .. }
        | FaultKind::IllegalOperand { .. } => CudaError::IllegalAddress,
        FaultKind::MisalignedAddress { .. }
        | FaultKind::MisalignedClusterAddress { .. }
        | FaultKind::MisalignedSurface { .. } => CudaError::MisalignedAddress,
        FaultKind::StackOverflow { .. } | FaultKind::CallsTooDeep { .. } => {
            CudaError::HardwareStackError
        }
        FaultKind::InvalidCall { .. } => CudaError::InvalidPc,
        FaultKind::Assert { .. } => CudaError::Assert,
        FaultKind::InvalidBarrier { .. }
        | FaultKind::WarpIncomplete { .. }
        | FaultKind::WarpgroupIncomplete
        | FaultKind::Warpgroup(_)
        | FaultKind::BulkCopy(_) => CudaError::IllegalInstruction,
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
        | FaultKind::NoGraphCondition { .. }
        | FaultKind::NoImage { .. }
        | FaultKind::UnboundReference { .. } => CudaError::LaunchFailed,
    }
}
