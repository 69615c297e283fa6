//! Launches: checked as the driver checks them, then run to their end.

use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, FunctionId, Limit, StreamId};
use crate::check::Finding;
use crate::device::DeviceSpec;
use crate::exec::{Fault, FaultKind, Observe, Watch};
use crate::isa::Kernel;
use crate::launch::{Launch, LaunchRecord, launch};

/// What to launch and how.
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
    /// Where the launch shows how far it is, if anywhere.
    pub watch: Option<&'a Watch>,
    /// Whether to count everything, line by line.
    pub profile: bool,
}

/// What came of a launch that was accepted.
#[derive(Debug, Default)]
pub struct Launched {
    /// What the kernel printed.
    pub printed: Vec<u8>,
    /// What it did; none where it faulted.
    pub record: Option<LaunchRecord>,
    /// What stopped the kernel. From now on every call in its context answers with this.
    pub fault: Option<Fault>,
    /// What checks found, errors first.
    pub findings: Vec<Finding>,
}

impl Driver {
    /// Launches a kernel in `stream` and runs it to its end.
    ///
    /// As on a GPU, a kernel that faults was still launched: the fault is what later calls in the
    /// context answer. The error here is that of a launch refused: [`CudaError::InvalidValue`] for
    /// dimensions, shared memory or parameters that do not fit the device or the kernel,
    /// [`CudaError::LaunchOutOfResources`] for too many registers, [`CudaError::InvalidHandle`].
    pub fn launch(
        &mut self,
        context: ContextId,
        stream: StreamId,
        config: &LaunchConfig,
    ) -> Result<Launched, CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        let (function, module) = self.kernel(config.function)?;
        if module.context != context {
            return Err(CudaError::InvalidHandle);
        }
        let kernel = &module.program.listing.kernels[function.kernel];
        check(&self.device, kernel, function.max_dynamic_shared, config)?;
        let stack = self.limit(context, Limit::StackSize)?;
        let wanted = Launch {
            kernel: function.kernel,
            grid: config.grid,
            block: config.block,
            dynamic_shared: config.dynamic_shared,
            params: config.parameters,
            stack_limit: u32::try_from(stack).unwrap_or(u32::MAX),
            time_limit: self.time_limit,
            threads: None,
            watch: config.watch,
            observe: if config.profile {
                Observe::Everything
            } else {
                Observe::Sample
            },
            checks: self.checks,
        };
        let program = module.program.clone();
        let checks = self.checks;
        let outcome = launch(&program, &self.global, &self.device, &wanted);
        let state = self.context_mut(context)?;
        match outcome {
            Ok(report) => {
                let seconds = report.time.milliseconds / 1e3;
                state.timeline.run(stream, Engine::Compute, seconds)?;
                Ok(Launched {
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
                })
            }
            Err(mut fault) => {
                state.fault = Some(fault_code(&fault.kind));
                let findings = fault.take_findings(checks);
                Ok(Launched {
                    printed: std::mem::take(&mut fault.printed),
                    record: None,
                    fault: Some(fault),
                    findings,
                })
            }
        }
    }
}

/// The code later calls answer after a fault.
fn fault_code(fault: &FaultKind) -> CudaError {
    match fault {
        FaultKind::IllegalAddress { .. } => CudaError::IllegalAddress,
        FaultKind::MisalignedAddress { .. } => CudaError::MisalignedAddress,
        FaultKind::StackOverflow { .. } | FaultKind::CallsTooDeep => CudaError::HardwareStackError,
        FaultKind::InvalidCall { .. } => CudaError::InvalidPc,
        FaultKind::Assert { .. } => CudaError::Assert,
        FaultKind::InvalidBarrier { .. } | FaultKind::WarpIncomplete { .. } => {
            CudaError::IllegalInstruction
        }
        FaultKind::Timeout(_) => CudaError::LaunchTimeout,
        // A GPU would hang at a barrier that never opens until its watchdog ends the kernel.
        FaultKind::BarrierNeverOpens { .. } | FaultKind::WarpSyncNeverOpens { .. } => {
            CudaError::LaunchTimeout
        }
        FaultKind::Trap | FaultKind::Breakpoint => CudaError::LaunchFailed,
    }
}

/// What is known to be wrong before a thread has run.
fn check(
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
    let at_most = kernel.max_threads.map_or(u64::MAX, count);
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

/// The largest block the kernel's registers and bounds leave room for.
pub(super) fn max_threads(device: &DeviceSpec, kernel: &Kernel) -> u32 {
    let warps = device.registers_per_multiprocessor / registers_per_warp(device, kernel);
    let bound = kernel.max_threads.or(kernel.required_threads);
    let bound = bound
        .map_or(u64::MAX, count)
        .min(device.threads_per_block.into());
    (warps * device.warp_size).min(bound as u32)
}

/// A thread has at most this many registers; an assembler keeps the rest in local memory.
const MAX_REGISTERS: u32 = 255;

/// The registers a resident warp takes: they are dealt out 256 at a time.
pub(super) fn registers_per_warp(device: &DeviceSpec, kernel: &Kernel) -> u32 {
    let needed = kernel.registers.clamp(1, MAX_REGISTERS) * device.warp_size;
    needed.next_multiple_of(256)
}

fn count(size: [u32; 3]) -> u64 {
    size.into_iter().map(u64::from).fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::tests::{PTX, driver};
    use super::super::{Copy, Memory};
    use super::*;

    /// The kernel `name` of the tests' module.
    fn function(driver: &mut Driver, context: ContextId, name: &str) -> FunctionId {
        let module = driver.load_module(context, PTX).unwrap();
        driver.function(context, module, name).unwrap()
    }

    /// `store`'s parameters: where to, and what.
    fn parameters(address: u64, value: u32) -> Vec<u8> {
        [&address.to_le_bytes()[..], &value.to_le_bytes()].concat()
    }

    fn config(function: FunctionId, parameters: &[u8]) -> LaunchConfig<'_> {
        LaunchConfig {
            function,
            grid: [1; 3],
            block: [32, 1, 1],
            dynamic_shared: 0,
            parameters,
            watch: None,
            profile: false,
        }
    }

    #[test]
    fn a_launch_writes_memory_and_takes_time() {
        let (mut driver, context) = driver();
        let function = function(&mut driver, context, "store");
        let address = driver.allocate(context, 128).unwrap();
        let parameters = parameters(address, 7);
        let start = driver.create_event(context, 0).unwrap();
        let end = driver.create_event(context, 0).unwrap();
        driver.record(context, start, StreamId::LEGACY).unwrap();
        let launched = driver
            .launch(context, StreamId::LEGACY, &config(function, &parameters))
            .unwrap();
        driver.record(context, end, StreamId::LEGACY).unwrap();
        assert!(launched.fault.is_none());
        driver.synchronize_event(end).unwrap();
        assert!(driver.elapsed(start, end).unwrap() > 0.0);

        let mut found = [0u8; 128];
        let to = Memory::Host(found.as_mut_ptr());
        let copy = Copy::linear(to, Memory::Device(address), 128);
        // SAFETY: `found` holds 128 bytes.
        unsafe { driver.copy(context, &copy) }.unwrap();
        // Thread i writes value + i.
        let words = found
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        assert!(words.eq(7..39));
    }

    #[test]
    fn a_fault_shows_in_later_calls_until_the_context_goes() {
        let (mut driver, context) = driver();
        let function = function(&mut driver, context, "store");
        let address = driver.allocate(context, 64).unwrap();
        let parameters = parameters(address, 7);
        let launch = config(function, &parameters);
        let launched = driver.launch(context, StreamId::LEGACY, &launch).unwrap();
        let message = launched.fault.unwrap().to_string();
        assert!(message.contains("store"), "{message}");
        assert!(message.contains("thread (16, 0, 0)"), "{message}");
        let sticky = CudaError::IllegalAddress;
        assert_eq!(driver.synchronize(context), Err(sticky));
        assert_eq!(driver.allocate(context, 4), Err(sticky));
        assert_eq!(driver.free(context, address), Err(sticky));
        assert_eq!(driver.query_stream(context, StreamId::LEGACY), Err(sticky));
        let again = driver.launch(context, StreamId::LEGACY, &launch);
        assert_eq!(again.err(), Some(sticky));
        driver.reset_primary();
        let fresh = driver.retain_primary();
        assert_eq!(driver.synchronize(fresh), Ok(()));
    }

    #[test]
    fn launches_that_do_not_fit_are_refused_and_leave_the_context_well() {
        let (mut driver, context) = driver();
        let function = function(&mut driver, context, "store");
        let address = driver.allocate(context, 4096).unwrap();
        let parameters = parameters(address, 0);
        let good = config(function, &parameters);
        let bad = [
            LaunchConfig {
                grid: [0, 1, 1],
                ..good
            },
            LaunchConfig {
                grid: [1, 65536, 1],
                ..good
            },
            LaunchConfig {
                grid: [1 << 31, 1, 1],
                ..good
            },
            LaunchConfig {
                block: [0, 1, 1],
                ..good
            },
            LaunchConfig {
                block: [1025, 1, 1],
                ..good
            },
            LaunchConfig {
                block: [32, 33, 1],
                ..good
            },
            LaunchConfig {
                block: [1, 1, 65],
                ..good
            },
            LaunchConfig {
                dynamic_shared: (48 << 10) + 1,
                ..good
            },
            LaunchConfig {
                dynamic_shared: u32::MAX,
                ..good
            },
            LaunchConfig {
                parameters: &parameters[..4],
                ..good
            },
        ];
        for launch in bad {
            let refused = driver.launch(context, StreamId::LEGACY, &launch);
            assert_eq!(refused.err(), Some(CudaError::InvalidValue), "{launch:?}");
        }
        let unknown = driver.launch(context, StreamId(5), &good);
        assert_eq!(unknown.err(), Some(CudaError::InvalidHandle));
        let other = driver.create_context(0).unwrap();
        let elsewhere = driver.launch(other, StreamId::LEGACY, &good);
        assert_eq!(elsewhere.err(), Some(CudaError::InvalidHandle));
        assert!(driver.launch(context, StreamId::LEGACY, &good).is_ok());
    }

    #[test]
    fn a_kernels_own_bounds_are_kept() {
        let (mut driver, context) = driver();
        let bounded = function(&mut driver, context, "bounded");
        for (threads, fits) in [(64, true), (65, false)] {
            let launch = LaunchConfig {
                block: [threads, 1, 1],
                ..config(bounded, &[])
            };
            let launched = driver.launch(context, StreamId::LEGACY, &launch);
            assert_eq!(launched.is_ok(), fits, "{threads} threads");
        }
    }

    #[test]
    fn more_shared_memory_has_to_be_asked_for() {
        let (mut driver, context) = driver();
        let bounded = function(&mut driver, context, "bounded");
        let launch = LaunchConfig {
            dynamic_shared: 100 << 10,
            ..config(bounded, &[])
        };
        let refused = driver.launch(context, StreamId::LEGACY, &launch);
        assert_eq!(refused.err(), Some(CudaError::InvalidValue));
        driver
            .set_function_attribute(bounded, 8, 100 << 10)
            .unwrap();
        assert!(driver.launch(context, StreamId::LEGACY, &launch).is_ok());
    }

    #[test]
    fn an_endless_kernel_ends_at_the_time_limit() {
        let mut driver = Driver::new(DeviceSpec::h200(), Some(Duration::from_millis(50)));
        let context = driver.retain_primary();
        let endless = function(&mut driver, context, "endless");
        let launched = driver
            .launch(context, StreamId::LEGACY, &config(endless, &[]))
            .unwrap();
        assert!(matches!(
            launched.fault.unwrap().kind,
            FaultKind::Timeout(_)
        ));
        assert_eq!(driver.synchronize(context), Err(CudaError::LaunchTimeout));
    }
}
