//! Calls of libraries such as cuBLAS: work on device memory that the host computes in stream order. The checks see its
//! accesses like those of a copy. Its instructions are not simulated, so its time is an estimate.

use std::fmt;

use super::memcpy::memory_rows;
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, StreamId};
use crate::check::{
    AccessedAs, AddressedMemory, AllocationAccesses, Cause, Details, FaultKind, Finding,
    FindingKind, Severity, call_site,
};
use crate::device::DeviceSpec;
use crate::exec::Fault;
use crate::exec::fault::{Diagnosis, FaultContext};
use crate::isa::Dims;

/// The work of a call.
type Work = dyn Fn(&mut CallMemory<'_>) -> Result<(), IllegalOperand> + Send + Sync;

/// A call of a library's function.
pub struct LibraryCall {
    /// The name of the C function.
    pub function: &'static str,
    /// Addresses in the allocations that the call may use: one in each.
    pub operands: Vec<u64>,
    pub operations: Operations,
    work: Box<Work>,
}

impl LibraryCall {
    /// Creates a call. `work` computes its results when all earlier work of its stream is complete; it may run several
    /// times if the call is captured in a graph.
    pub fn new(
        function: &'static str,
        operands: Vec<u64>,
        operations: Operations,
        work: impl Fn(&mut CallMemory<'_>) -> Result<(), IllegalOperand> + Send + Sync + 'static,
    ) -> Self {
        Self {
            function,
            operands,
            operations,
            work: Box::new(work),
        }
    }
}

impl fmt::Debug for LibraryCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.function)
    }
}

/// The arithmetic operations of a call, from which its time is estimated.
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    pub count: f64,
    pub arithmetic: Arithmetic,
}

/// The units that execute the operations of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// 16-bit floats on tensor cores; single precision on GPUs without them.
    Half,
    Single,
    Double,
}

/// The error of a call that accesses memory outside all allocations; the call's report describes it.
#[derive(Debug)]
pub struct IllegalOperand;

/// Rows of bytes of device memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryRows {
    /// The address of the first row.
    pub address: u64,
    /// Bytes per row.
    pub width: u64,
    /// Bytes from the start of a row to the start of the next.
    pub pitch: u64,
    /// The number of rows.
    pub height: u64,
}

impl MemoryRows {
    /// Creates contiguous bytes.
    pub fn contiguous(address: u64, bytes: u64) -> Self {
        Self {
            address,
            width: bytes,
            pitch: bytes,
            height: 1,
        }
    }

    fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Returns the bytes from the start of the first row to the end of the last; saturates.
    fn span(&self) -> u64 {
        let last = self.pitch.saturating_mul(self.height - 1);
        last.saturating_add(self.width)
    }

    fn rows(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        let rows = *self;
        (0..rows.height).map(move |y| (rows.address + y * rows.pitch, rows.width))
    }
}

/// The memory of the device during a call.
pub struct CallMemory<'a> {
    driver: &'a mut Driver,
    function: &'static str,
    accesses: Vec<AllocationAccesses>,
    /// The number of bytes that the call reads and writes.
    bytes: u64,
    fault: Option<Fault>,
}

impl CallMemory<'_> {
    /// Returns the host pointer to rows that the call reads; a dangling one for no bytes.
    ///
    /// # Errors
    /// Fails if the rows are not in one allocation that the device can access.
    pub fn read(&mut self, rows: MemoryRows) -> Result<*const u8, IllegalOperand> {
        Ok(self.access(rows, AccessedAs::Read)?.cast_const())
    }

    /// Returns the host pointer to rows that the call writes; a dangling one for no bytes. A call that also reads them must
    /// call [`CallMemory::read`] first.
    ///
    /// # Errors
    /// Fails with the errors of [`CallMemory::read`].
    pub fn write(&mut self, rows: MemoryRows) -> Result<*mut u8, IllegalOperand> {
        self.access(rows, AccessedAs::Write)
    }

    fn access(&mut self, rows: MemoryRows, kind: AccessedAs) -> Result<*mut u8, IllegalOperand> {
        if rows.is_empty() {
            return Ok(std::ptr::without_provenance_mut(16));
        }
        let is_write = kind == AccessedAs::Write;
        let global = &self.driver.global;
        let host = global.host(rows.address, rows.span());
        let is_accessible = global.inaccessible_owner(rows.address).is_none();
        let Some(host) = host.filter(|_| is_accessible) else {
            self.fault = Some(self.fault_at(rows, is_write));
            return Err(IllegalOperand);
        };
        self.bytes += rows.width * rows.height;
        if is_write {
            global.mark_initialized(rows.address, rows.rows());
        } else if self.driver.options.checks.init {
            self.check_initialized(rows);
        }
        let global = &self.driver.global;
        global.use_input(rows.address, rows.rows());
        if self.driver.options.checks.tracks_accesses()
            && let Some(allocation) = global.record(rows.address)
        {
            let base = allocation.base;
            let ranges = memory_rows(
                rows.address - base,
                rows.width,
                [rows.pitch, 0],
                [rows.height, 1],
            );
            self.accesses
                .push(AllocationAccesses::new(allocation, kind, ranges));
        }
        Ok(host)
    }

    /// Reports uninitialized bytes among those that the call reads.
    fn check_initialized(&mut self, rows: MemoryRows) {
        let global = &self.driver.global;
        if let Some(coverage) = global.coverage(rows.address, rows.rows())
            && let Some(allocation) = global.record(rows.address)
        {
            let details = Details::LibraryRead(
                self.function.to_owned(),
                rows.width * rows.height,
                coverage.unwritten * coverage.width,
                coverage.first * coverage.width,
                allocation,
            );
            let kind = FindingKind::UninitializedDevice;
            let finding = Finding::of_program(kind, Severity::Error, details);
            self.driver
                .findings
                .push(finding.at(call_site::locate(None)));
        }
    }

    /// Describes an access to rows that are not in one accessible allocation.
    fn fault_at(&self, rows: MemoryRows, write: bool) -> Fault {
        let global = &self.driver.global;
        let end = rows.address.saturating_add(rows.span());
        let allocation = global.allocation(rows.address);
        let allocation = allocation.filter(|_| global.inaccessible_owner(rows.address).is_none());
        let address =
            allocation.map_or(rows.address, |allocation| allocation.base + allocation.size);
        let illegal_address = FaultKind::IllegalAddress {
            address,
            bytes: 1,
            write,
            memory: AddressedMemory::Device,
        };
        let context = FaultContext {
            shared: 0,
            dynamic: 0,
            local: 0,
            params: 0,
            constants: 0,
            dims: Dims {
                grid: [1; 3],
                block: [1; 3],
            },
            cluster_blocks: 1,
            thread: None,
            array: None,
            exhausted_heap: None,
        };
        let mut diagnosis = Diagnosis::of(&illegal_address, global, &context);
        if let Some(diagnosis) = &mut diagnosis
            && diagnosis.kind == FindingKind::OutOfBounds
        {
            diagnosis.likely_cause = Some(Cause::LibraryArguments);
        }
        let kind = FaultKind::IllegalOperand {
            function: self.function.to_owned(),
            address,
            bytes: end - address,
            write,
        };
        Fault {
            diagnosis: diagnosis.map(Box::new),
            ..Fault::new(kind, None)
        }
    }
}

/// The result of a call.
#[derive(Debug)]
pub struct LibraryReport {
    /// The estimated time on the GPU.
    pub seconds: f64,
    /// The memory that it has used, if a check needs it.
    pub accesses: Vec<AllocationAccesses>,
    /// The access that ended the call.
    pub fault: Option<Fault>,
    /// The fault as a finding, if the check of memory is on.
    pub finding: Option<Finding>,
}

impl Driver {
    /// Executes a call in `stream`. A call that accesses memory outside all allocations faults like a kernel: later calls in
    /// the context fail.
    ///
    /// Fails with [`CudaError::InvalidHandle`] for an unknown stream.
    pub fn call_library(
        &mut self,
        context: ContextId,
        stream: StreamId,
        call: &LibraryCall,
    ) -> Result<LibraryReport, CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        self.global_of(context)?;
        let mut memory = CallMemory {
            driver: self,
            function: call.function,
            accesses: Vec::new(),
            bytes: 0,
            fault: None,
        };
        // The fault describes the error.
        let _ = (call.work)(&mut memory);
        let CallMemory {
            accesses,
            bytes,
            fault,
            ..
        } = memory;
        let seconds = estimated_seconds(&self.device, call.operations, bytes);
        let timeline = &mut self.context_mut(context)?.timeline;
        timeline.run(stream, Engine::Compute, seconds)?;
        let finding = fault.as_ref().and_then(finding_of);
        let finding = finding.filter(|finding| self.options.checks.contains(finding.check));
        self.findings.extend(finding.clone());
        if fault.is_some() {
            self.fail(context, CudaError::IllegalAddress);
        }
        Ok(LibraryReport {
            seconds,
            accesses,
            fault,
            finding,
        })
    }
}

/// Returns the fault of a call as a finding.
fn finding_of(fault: &Fault) -> Option<Finding> {
    let diagnosis = fault.diagnosis.as_ref()?;
    let details = Details::AddressFault(fault.kind.clone(), diagnosis.address.clone()?);
    let finding = Finding::of_program(diagnosis.kind, Severity::Error, details);
    Some(
        Finding {
            likely_cause: diagnosis.likely_cause.clone(),
            ..finding
        }
        .at(call_site::locate(None)),
    )
}

/// Returns an estimate of the time of a call: the time of a launch, and the roofline's maximum of the times of memory and
/// arithmetic.
fn estimated_seconds(device: &DeviceSpec, operations: Operations, bytes: u64) -> f64 {
    let rates = &device.rates;
    let memory = bytes as f64 / rates.achieved_memory_bandwidth;
    let arithmetic = operations.count / operations_per_second(device, operations.arithmetic);
    rates.launch_seconds + memory.max(arithmetic)
}

/// Returns the peak throughput of arithmetic; a fused multiply-add is two operations.
fn operations_per_second(device: &DeviceSpec, arithmetic: Arithmetic) -> f64 {
    /// Operations of `mma` m16n8k16, and of a warp's part of eight columns of `wgmma`.
    const PER_MATRIX_INSTRUCTION: f64 = 2.0 * 16.0 * 8.0 * 16.0;
    let rates = &device.rates;
    let tensor_cycles = match rates.warpgroup_cycles {
        0.0 => rates.tensor_cycles,
        cycles => cycles,
    };
    let per_cycle = match arithmetic {
        Arithmetic::Half if tensor_cycles > 0.0 => PER_MATRIX_INSTRUCTION / tensor_cycles,
        Arithmetic::Half | Arithmetic::Single => 2.0 * rates.fp32_lanes,
        Arithmetic::Double => 2.0 * rates.double_lanes,
    };
    per_cycle * f64::from(device.multiprocessors) * f64::from(device.clock_khz) * 1e3
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;
    use crate::device::PRESETS;

    fn call(
        work: impl Fn(&mut CallMemory<'_>) -> Result<(), IllegalOperand> + Send + Sync + 'static,
    ) -> LibraryCall {
        let operations = Operations {
            count: 1e6,
            arithmetic: Arithmetic::Single,
        };
        LibraryCall::new("cublasSgemm", Vec::new(), operations, work)
    }

    #[test]
    fn work_reads_and_writes_device_memory_and_takes_time() {
        let (mut driver, context) = driver();
        let address = driver.allocate(context, 8).unwrap();
        let add = call(move |memory| {
            let from = memory.read(MemoryRows::contiguous(address, 4))?;
            let to = memory.write(MemoryRows::contiguous(address + 4, 4))?;
            // SAFETY: both are four bytes of the allocation.
            unsafe { to.cast::<u32>().write(from.cast::<u32>().read() + 7) };
            Ok(())
        });
        let stream = StreamId::LEGACY;
        let start = driver.stream_time(context, stream).unwrap();
        let report = driver.call_library(context, stream, &add).unwrap();
        assert!(report.fault.is_none() && report.seconds > 0.0);
        let end = driver.stream_time(context, stream).unwrap();
        let milliseconds = f64::from(end.milliseconds_since(start));
        assert!((milliseconds - report.seconds * 1e3).abs() < 1e-6);
        let sum = driver.global.host(address + 4, 4).unwrap();
        // SAFETY: these are four bytes of the allocation.
        assert_eq!(unsafe { sum.cast::<u32>().read() }, 7);
    }

    #[test]
    fn operands_outside_of_allocations_fault() {
        let (mut driver, context) = driver();
        driver.options.checks = crate::check::Checks::ALL;
        let address = driver.allocate(context, 64).unwrap();
        let past_end = call(move |memory| {
            let rows = MemoryRows {
                address,
                width: 8,
                pitch: 32,
                height: 3,
            };
            memory.read(rows)?;
            panic!("the last row ends eight bytes past the end");
        });
        let report = driver.call_library(context, StreamId::LEGACY, &past_end);
        let report = report.unwrap();
        let fault = report.fault.unwrap().to_string();
        let expected = format!(
            "illegal address: cublasSgemm reads 8 bytes at {:#x}, outside every device memory allocation",
            address + 64
        );
        assert!(fault.starts_with(&expected), "{fault}");
        let finding = report.finding.unwrap();
        assert_eq!(finding.kind, FindingKind::OutOfBounds);
        assert_eq!(finding.likely_cause, Some(Cause::LibraryArguments));
        assert_eq!(driver.take_findings().last(), Some(&finding));
        assert_eq!(
            driver.synchronize_context(context),
            Err(CudaError::IllegalAddress)
        );
    }

    #[test]
    fn reads_of_uninitialized_memory_are_findings() {
        let (mut driver, context) = driver();
        driver.options.checks.init = true;
        let address = driver.allocate(context, 64).unwrap();
        let write = call(move |memory| {
            memory.write(MemoryRows::contiguous(address, 16))?;
            Ok(())
        });
        let read = call(move |memory| {
            memory.read(MemoryRows::contiguous(address, 24))?;
            Ok(())
        });
        for call in [write, read] {
            driver
                .call_library(context, StreamId::LEGACY, &call)
                .unwrap();
        }
        let findings = driver.take_findings();
        let [finding] = &findings[..] else {
            panic!("{findings:?}");
        };
        assert_eq!(finding.kind, FindingKind::UninitializedDevice);
        let text = finding.to_string();
        let expected =
            "cublasSgemm reads 24 bytes, 8 of which nothing has written; the first is byte 16 of";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn the_estimate_is_the_maximum_of_memory_and_arithmetic() {
        let device = &PRESETS[0].1;
        let seconds = |count, arithmetic, bytes| {
            let operations = Operations { count, arithmetic };
            estimated_seconds(device, operations, bytes) - device.rates.launch_seconds
        };
        let memory = seconds(1.0, Arithmetic::Single, 1 << 30);
        let expected = (1u64 << 30) as f64 / device.rates.achieved_memory_bandwidth;
        assert!((memory / expected - 1.0).abs() < 1e-6);
        let single = seconds(1e13, Arithmetic::Single, 8);
        assert!(single > memory);
        assert!(seconds(1e13, Arithmetic::Half, 8) <= single);
        assert!(seconds(1e13, Arithmetic::Double, 8) > single);
    }
}
