//! Faults: device exceptions that end a launch, that is, actions of a kernel for which a GPU stops it, and their
//! diagnosis: the allocation that an invalid address missed, and the likely cause.

use crate::check::{
    ActualMemory, AddressDetails, AddressedMemory, BulkCopyMisuse, Bytes, Cause, Checks, Details,
    Extent, FaultKind, Finding, FindingKind, NamedArray, Severity, unsigned_bound_cause,
};
use crate::isa::check_event::SharedArray;
use crate::isa::{Dims, SourceLine};
use crate::memory::global::{ALIGNMENT, AllocationRecord, Global, Rows};
use crate::memory::{
    FUNCTION_BASE, LOCAL_GRANULE, LOCAL_WINDOW, PARAM_WINDOW, SHARED_GRANULE, SHARED_WINDOW,
    in_window,
};
use std::fmt;

/// A device exception that ended a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    /// The thread and instruction that faulted, if known.
    pub location: Option<Box<FaultLocation>>,
    /// An explanation of the fault, if there is one.
    pub diagnosis: Option<Box<Diagnosis>>,
    /// The lines at which the threads of a launch were that did not end by itself.
    pub stalls: Vec<Stall>,
}

/// Threads of a launch that did not end by itself, all at one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    pub threads: u64,
    /// The number of blocks that the threads belong to, and the first of them.
    pub blocks: u64,
    pub first_block: [u32; 3],
    pub source: SourceLine,
    /// True if they wait at a barrier there.
    pub at_barrier: bool,
    /// The mbarrier for which they wait in a loop, after the name of its variable.
    pub awaits: Option<(Option<String>, PendingBarrier)>,
}

/// An mbarrier whose phase is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingBarrier {
    /// Offset in the block's shared memory.
    pub offset: u64,
    /// Number of pending arrivals, and of those that each phase expects.
    pub pending: u32,
    pub expected: u32,
    /// Number of pending bytes; negative if more have arrived than were expected.
    pub bytes: i32,
}

impl PendingBarrier {
    /// Returns the likely reason why the phase does not complete.
    fn likely_cause(self) -> &'static str {
        match (self.pending, self.bytes.signum()) {
            _ if self.expected == 0 => {
                "the barrier is not initialized: one thread must call `mbarrier.init` (in C++, `init(&barrier, n)`), \
                 and the others must wait for it at a barrier such as `__syncthreads`"
            }
            (0, 1) => {
                "`expect_tx` names more bytes than copies bring: a bulk copy that is not issued, that is shorter, or \
                 that reports to another barrier"
            }
            (_, -1) => {
                "bulk copies bring more bytes than `expect_tx` names: call it with the sum of their sizes in each phase"
            }
            (pending, _) if pending == self.expected => {
                "no thread arrives in this phase, or the wait names the wrong phase: the parity is 0 in the first \
                 phase and changes with each"
            }
            _ => "fewer threads arrive than the barrier is initialized with",
        }
    }
}

impl fmt::Display for PendingBarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PendingBarrier {
            offset,
            pending,
            expected,
            bytes,
        } = self;
        write!(
            f,
            "(offset {offset:#x} of shared memory): {pending} of {expected} arrivals are pending"
        )?;
        match bytes.signum() {
            0 => Ok(()),
            -1 => write!(
                f,
                ", and {} too many have arrived",
                Bytes(bytes.unsigned_abs().into())
            ),
            _ => write!(f, ", and {}", Bytes(bytes.unsigned_abs().into())),
        }
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stall {
            threads,
            blocks,
            first_block: [x, y, z],
            source,
            at_barrier,
            awaits,
        } = self;
        let plural = if *threads == 1 { "" } else { "s" };
        write!(f, "{threads} thread{plural} of block ({x}, {y}, {z})")?;
        match blocks {
            1 => {}
            2 => write!(f, " and 1 other")?,
            _ => write!(f, " and {} others", blocks - 1)?,
        }
        let place = if *at_barrier {
            "waiting at the barrier at"
        } else {
            "at"
        };
        write!(f, ": {place} {source}")?;
        match awaits {
            None => Ok(()),
            Some((None, barrier)) => write!(f, ", waiting for the mbarrier {barrier}"),
            Some((Some(name), barrier)) => {
                write!(f, ", waiting for the mbarrier `{name}` {barrier}")
            }
        }
    }
}

/// The maximum number of stalls that a message lists.
const MAX_STALLS: usize = 8;

impl Fault {
    pub fn new(kind: FaultKind, location: Option<Box<FaultLocation>>) -> Fault {
        Fault {
            kind,
            location,
            diagnosis: None,
            stalls: Vec::new(),
        }
    }
}

/// The location of a fault: a thread and an instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultLocation {
    pub kernel: String,
    pub block: [u32; 3],
    /// Index of the thread's warp in its block.
    pub warp: u32,
    pub thread: [u32; 3],
    pub source: SourceLine,
    /// The array in shared memory from which the instruction computes its address, if it is known.
    pub array: Option<SharedArray>,
    /// The end of the variables in the thread's local memory.
    pub local_end: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let FaultKind::Assert { .. } = self.kind {
            return Ok(());
        }
        if let Some(location) = &self.location {
            let ([bx, by, bz], [tx, ty, tz]) = (location.block, location.thread);
            write!(
                f,
                "\n  in kernel {}, block ({bx}, {by}, {bz}), ",
                location.kernel
            )?;
            // A launch that was ended is located by warp; the thread is only its first active lane.
            if let FaultKind::Timeout { .. } | FaultKind::Interrupted { .. } = self.kind {
                write!(f, "warp {}, ", location.warp)?;
            }
            write!(f, "thread ({tx}, {ty}, {tz})\n  at {}", location.source)?;
        }
        // A single thread group adds nothing to the location.
        let adds = |stall: &Stall| stall.blocks > 1 || stall.awaits.is_some();
        if self.stalls.len() > 1 || self.stalls.iter().any(adds) {
            for stall in self.stalls.iter().take(MAX_STALLS) {
                write!(f, "\n  {stall}")?;
            }
            if self.stalls.len() > MAX_STALLS {
                write!(
                    f,
                    "\n  and others at {} more lines",
                    self.stalls.len() - MAX_STALLS
                )?;
            }
        }
        if let Some((_, barrier)) = self.stalls.iter().find_map(|stall| stall.awaits.as_ref()) {
            write!(f, "\n  likely cause: {}", barrier.likely_cause())?;
        }
        if let Some(diagnosis) = &self.diagnosis {
            if let Some(address) = &diagnosis.address {
                write!(f, "\n  {address}")?;
            }
            if let Some(cause) = &diagnosis.likely_cause {
                write!(f, "\n  likely cause: {cause}")?;
            }
        }
        Ok(())
    }
}

impl Fault {
    /// Inserts the fault before the other findings of its launch, if one of the enabled `checks` covers it.
    pub(super) fn add_to(&self, findings: &mut Vec<Finding>, checks: Checks) {
        let fault = self
            .finding()
            .filter(|finding| checks.contains(finding.check));
        // A barrier that never opens adds nothing to the finding that only part of a warp arrived at it.
        let is_redundant = |fault: &Finding| {
            let same_barrier = |finding: &Finding| {
                finding.kind == FindingKind::DivergentBarrier && finding.source == fault.source
            };
            fault.kind == FindingKind::BarrierNeverOpens && findings.iter().any(same_barrier)
        };
        let fault = fault.filter(|fault| !is_redundant(fault));
        findings.splice(..0, fault);
    }

    /// Returns the freed allocation that the invalid address belonged to, if there is one.
    pub fn freed_allocation(&self) -> Option<&AllocationRecord> {
        match self.diagnosis.as_ref()?.address.as_ref()? {
            AddressDetails::Freed(_, allocation) => Some(allocation),
            _ => None,
        }
    }

    /// Returns the finding of `count` accesses that a GPU does not detect and that are this fault otherwise: an error
    /// for the memory check, a warning without it.
    pub(super) fn undetected_finding(&self, count: u64, checks: Checks) -> Option<Finding> {
        let finding = self.finding()?;
        Some(Finding {
            details: match finding.details {
                Details::AddressFault(kind, address) => {
                    let granule = match kind {
                        FaultKind::IllegalAddress {
                            address, memory, ..
                        } => match memory {
                            AddressedMemory::Shared => SHARED_GRANULE.into(),
                            AddressedMemory::Local => LOCAL_GRANULE.into(),
                            _ if in_window(address, SHARED_WINDOW) => SHARED_GRANULE.into(),
                            _ if in_window(address, LOCAL_WINDOW) => LOCAL_GRANULE.into(),
                            _ => ALIGNMENT,
                        },
                        _ => ALIGNMENT,
                    };
                    Details::UndetectedFault(kind, address, Bytes(granule))
                }
                Details::Fault(kind) => Details::UndetectedSize(kind),
                _ => return None,
            },
            severity: match checks.memory {
                true => Severity::Error,
                false => Severity::Warning,
            },
            count,
            ..finding
        })
    }

    /// Returns the fault as a finding, if a check covers it.
    pub fn finding(&self) -> Option<Finding> {
        let (diagnosis, location) = (self.diagnosis.as_ref()?, self.location.as_ref()?);
        Some(Finding {
            check: diagnosis.kind.check(),
            kind: diagnosis.kind,
            severity: Severity::Error,
            kernel: location.kernel.clone(),
            block: location.block,
            thread: location.thread,
            source: location.source.clone(),
            atomic: false,
            other: None,
            details: match (self.kind.clone(), diagnosis.address.clone()) {
                (kind, Some(address)) => Details::AddressFault(kind, address),
                (kind, None) => Details::Fault(kind),
            },
            likely_cause: diagnosis.likely_cause.clone(),
            count: 1,
            ptx_lines: [location.source.ptx_line; 2],
        })
    }
}

impl std::error::Error for Fault {}

/// An explanation of a fault in addition to its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The kind of finding that the fault corresponds to.
    pub kind: FindingKind,
    /// The memory around the address, if an address caused the fault.
    pub address: Option<AddressDetails>,
    pub likely_cause: Option<Cause>,
}

/// The launch in which a fault occurred: the sizes of a thread's memory other than device memory, and the thread.
#[derive(Debug, Clone)]
pub struct FaultContext {
    /// Bytes of shared memory that the kernel declares.
    pub shared: u32,
    pub dynamic: u32,
    pub local: u32,
    pub params: u32,
    pub constants: u64,
    pub dims: Dims,
    /// The number of blocks in a cluster.
    pub cluster_blocks: u64,
    /// The indices of the block and the thread, if they are known.
    pub thread: Option<[[u32; 3]; 2]>,
    /// The array in shared memory from which the address was computed, if it is known, and its first byte.
    pub array: Option<(u64, NamedArray)>,
    /// The size of the heap of in-kernel `malloc` in bytes, if an allocation there has failed.
    pub exhausted_heap: Option<u64>,
}

impl FaultContext {
    /// Returns the thread's coordinate in the grid along an axis.
    fn coordinate(&self, axis: usize) -> Option<u64> {
        let [block, thread] = self.thread?;
        let threads = u64::from(self.dims.block[axis]);
        Some(u64::from(block[axis]) * threads + u64::from(thread[axis]))
    }

    /// Returns true if a launch has as many blocks as a thread for each byte of an allocation of `size` bytes needs, and
    /// more than a thread for each `bytes` bytes needs.
    fn has_thread_per_byte(&self, size: u64, bytes: u64) -> bool {
        let count = |size: [u32; 3]| size.into_iter().map(u64::from).product::<u64>();
        let (grid, block) = (count(self.dims.grid), count(self.dims.block));
        let elements = (size / bytes.max(1)).max(1);
        grid == size.div_ceil(block) && grid > elements.div_ceil(block)
    }

    /// Returns the likely cause of an access of `bytes` bytes at `offset` of memory of `size` bytes, which ends shortly
    /// before.
    fn cause_past_end(&self, offset: u64, bytes: u64, size: u64) -> Cause {
        if self.has_thread_per_byte(size, bytes) {
            return Cause::BytesForElements(Bytes(size));
        }
        let dims = self.dims;
        if dims.grid[1..]
            .iter()
            .chain(&dims.block[1..])
            .any(|&n| n > 1)
        {
            return Cause::MatrixBounds;
        }
        let threads = u64::from(dims.grid[0]) * u64::from(dims.block[0]);
        // An element per thread, or every nth element with a grid of n threads; neighbours are near.
        let is_own_element = |thread: u64| {
            let difference = (offset / bytes.max(1)) % threads;
            let difference = difference.abs_diff(thread);
            difference.min(threads - difference) <= MAX_HALO
        };
        match self.coordinate(0) {
            Some(thread @ 1..) if threads > 2 * MAX_HALO && !is_own_element(thread) => {
                Cause::LoopBounds
            }
            _ => Cause::NoBoundsCheck,
        }
    }
}

/// The distance of a neighbour's element, in elements.
const MAX_HALO: u64 = 4;

/// Addresses below this are taken for a null pointer plus an offset.
const NEAR_NULL: u64 = 1 << 20;

/// Distance from managed or page-locked memory up to which addresses of the host are out of its bounds.
const PAGE_OF_HOST: u64 = 4096;

/// Highest user-space address on supported hosts.
const LAST_OF_HOST: u64 = 0x7fff_ffff_ffff;

/// Distance before an allocation from which a negative index is taken for an integer overflow.
const OVERFLOWED: u64 = 1 << 30;

/// Distance in bytes past an allocation that threads without an element may reach.
const SOME_THREADS: u64 = 4096;

impl Diagnosis {
    /// Diagnoses a fault. Returns `None` if there is nothing to add to its kind.
    pub fn of(fault: &FaultKind, global: &Global, context: &FaultContext) -> Option<Diagnosis> {
        let of_kind = |kind: FindingKind| diagnosis(kind, None, kind.likely_cause());
        Some(match *fault {
            FaultKind::IllegalAddress {
                address,
                bytes,
                memory,
                ..
            } => match memory {
                AddressedMemory::Shared => diagnose_shared(address, context),
                AddressedMemory::Local => diagnose_local(address, bytes.into(), context.local),
                AddressedMemory::Constant => {
                    let bytes = Bytes(context.constants);
                    out_of_bounds(AddressDetails::Constants(bytes), Cause::PastConstantArray)
                }
                AddressedMemory::Parameters => {
                    let bytes = Bytes(context.params.into());
                    let size = AddressDetails::Parameters(bytes);
                    out_of_bounds(size, Cause::PastParameterArray)
                }
                AddressedMemory::Generic if in_window(address, SHARED_WINDOW) => {
                    diagnose_shared(address - SHARED_WINDOW, context)
                }
                AddressedMemory::Generic if in_window(address, LOCAL_WINDOW) => {
                    diagnose_local(address - LOCAL_WINDOW, bytes.into(), context.local)
                }
                AddressedMemory::Generic | AddressedMemory::Device | AddressedMemory::Surface => {
                    diagnose_device(address, bytes.into(), global, context)
                }
            },
            FaultKind::IllegalClusterAddress { rank, .. }
                if u64::from(rank) >= context.cluster_blocks =>
            {
                let details = AddressDetails::NoSuchBlock(context.cluster_blocks);
                out_of_bounds(details, Cause::PastCluster)
            }
            FaultKind::IllegalClusterAddress { offset, .. } => diagnose_shared(offset, context),
            FaultKind::MisalignedAddress { address, bytes }
            | FaultKind::MisalignedClusterAddress {
                offset: address,
                bytes,
                ..
            } => {
                let excess = Bytes(address % u64::from(bytes.max(1)));
                let details = AddressDetails::Misaligned(excess);
                diagnosis(FindingKind::Misaligned, details, Cause::PointerToWiderType)
            }
            FaultKind::BulkCopy(BulkCopyMisuse::InvalidSize(_)) => {
                diagnosis(FindingKind::Misaligned, None, None)
            }
            FaultKind::MisalignedSurface { .. } => {
                diagnosis(FindingKind::Misaligned, None, Cause::SurfaceInElements)
            }
            FaultKind::StackOverflow { .. } | FaultKind::CallsTooDeep { .. } => {
                diagnosis(FindingKind::StackOverflow, None, Cause::DeepRecursion)
            }
            FaultKind::InvalidCall { .. } => diagnosis(
                FindingKind::InvalidCall,
                None,
                Cause::InvalidFunctionPointer,
            ),
            FaultKind::BarrierNeverOpens { .. } => of_kind(FindingKind::BarrierNeverOpens),
            FaultKind::WarpSyncNeverOpens { .. } => of_kind(FindingKind::AbsentLanes),
            FaultKind::GridBarrier => of_kind(FindingKind::GridBarrier),
            FaultKind::WarpIncomplete { .. } => of_kind(FindingKind::WarpIncomplete),
            FaultKind::InvalidBarrier { .. } => of_kind(FindingKind::InvalidBarrier),
            _ => return None,
        })
    }

    /// Replaces the cause by a condition in the kernel's source that should prevent the access, if there is one.
    pub fn with_source(self, source: &SourceLine) -> Diagnosis {
        use Cause::{LoopBounds, MatrixBounds, NoBoundsCheck, WrongUnits};
        let may_have_bound = matches!(
            self.likely_cause,
            Some(LoopBounds | MatrixBounds | NoBoundsCheck | WrongUnits)
        );
        let bound = may_have_bound.then(|| unsigned_bound_cause(source));
        Diagnosis {
            likely_cause: bound.flatten().or(self.likely_cause),
            ..self
        }
    }
}

fn diagnosis(
    kind: FindingKind,
    address: impl Into<Option<AddressDetails>>,
    likely_cause: impl Into<Option<Cause>>,
) -> Diagnosis {
    Diagnosis {
        kind,
        address: address.into(),
        likely_cause: likely_cause.into(),
    }
}

fn out_of_bounds(address: AddressDetails, likely_cause: impl Into<Option<Cause>>) -> Diagnosis {
    diagnosis(FindingKind::OutOfBounds, address, likely_cause)
}

fn wrong_space(actual: ActualMemory, likely_cause: Cause) -> Diagnosis {
    let details = AddressDetails::WrongSpace(actual);
    diagnosis(FindingKind::WrongSpace, details, likely_cause)
}

fn diagnose_shared(at: u64, context: &FaultContext) -> Diagnosis {
    let size = u64::from(context.shared) + u64::from(context.dynamic);
    let past = at.wrapping_sub(size);
    let negative = past > u64::MAX / 2;
    // 32-bit addresses of shared memory wrap below zero, too.
    let signed = i64::from(at as i32);
    if in_window(at, LOCAL_WINDOW) || in_window(at, PARAM_WINDOW) {
        wrong_space(ActualMemory::OwnThread, Cause::LocalUsedAsShared)
    } else if let Some((start, array)) = &context.array {
        let (start, array) = (*start as i64, array.clone());
        match signed - start {
            offset @ ..0 => {
                let distance = Bytes(offset.unsigned_abs());
                let details = AddressDetails::BeforeArray(distance, array);
                out_of_bounds(details, Cause::NegativeIndex)
            }
            offset => {
                let past = (offset as u64).saturating_sub(array.bytes.0);
                let details = AddressDetails::past_end(past, Extent::Array(array));
                out_of_bounds(details, Cause::PastSharedArray)
            }
        }
    } else if size == 0 {
        out_of_bounds(AddressDetails::NoSharedMemory, Cause::NoDynamicSharedMemory)
    } else if negative || at > u64::from(u32::MAX / 2) {
        let distance = Bytes((at as u32).wrapping_neg().into());
        let details = AddressDetails::BeforeShared(distance);
        out_of_bounds(details, Cause::NegativeIndex)
    } else {
        let bytes = Bytes(size);
        let likely_cause = match context.dynamic {
            0 => Cause::PastSharedArray,
            _ => Cause::PastSharedOrExternArray,
        };
        let details = AddressDetails::past_end(past, Extent::Shared(bytes));
        out_of_bounds(details, likely_cause)
    }
}

fn diagnose_local(at: u64, bytes: u64, local: u32) -> Diagnosis {
    let size = u64::from(local);
    let local = Extent::Local(Bytes(size));
    let details = match at {
        _ if at < size && at + bytes > size => AddressDetails::AcrossEnd(Bytes(size - at), local),
        _ if at < size => AddressDetails::BetweenLocals,
        ..=0x7fff_ffff => AddressDetails::past_end(at - size, local),
        _ => AddressDetails::BeforeLocal,
    };
    out_of_bounds(details, Cause::PastLocalArray)
}

fn diagnose_device(at: u64, bytes: u64, global: &Global, context: &FaultContext) -> Diagnosis {
    if in_window(at, SHARED_WINDOW) {
        return wrong_space(ActualMemory::Shared, Cause::SharedUsedAsDevice);
    }
    if in_window(at, LOCAL_WINDOW) {
        return wrong_space(ActualMemory::OwnThread, Cause::LocalUsedElsewhere);
    }
    if (FUNCTION_BASE..FUNCTION_BASE + NEAR_NULL).contains(&at) || in_window(at, PARAM_WINDOW) {
        return wrong_space(ActualMemory::CodeOrParameters, Cause::FunctionUsedAsData);
    }
    if let Some(device) = global.inaccessible_owner(at) {
        return wrong_space(ActualMemory::OtherDevice(device), Cause::NoPeerAccess);
    }
    if global.host(at, bytes).is_some() {
        return wrong_space(ActualMemory::Constant, Cause::ConstantWritten);
    }
    if let Some(allocation) = global.freed(at) {
        let byte = at - allocation.base;
        let details = AddressDetails::Freed(byte, allocation);
        return diagnosis(FindingKind::UseAfterFree, details, Cause::FreedPointer);
    }
    if !(NEAR_NULL..=u64::MAX - NEAR_NULL).contains(&at) {
        let details = match at {
            0 => AddressDetails::Null,
            1..NEAR_NULL => AddressDetails::NullPlus(Bytes(at)),
            _ => AddressDetails::NullMinus(Bytes(at.wrapping_neg())),
        };
        let likely_cause = match context.exhausted_heap {
            Some(bytes) => Cause::KernelHeapExhausted(Bytes(bytes)),
            None => Cause::UnsetPointer,
        };
        return diagnosis(FindingKind::NullPointer, details, likely_cause);
    }
    let (below, above) = global.neighbours(at);
    if let Some(allocation) = global.record(at) {
        let distance = Bytes(allocation.base + allocation.bytes - at);
        let likely_cause = context.cause_past_end(at - allocation.base, bytes, allocation.bytes);
        let details = AddressDetails::AcrossEnd(distance, Extent::Allocation(allocation));
        return out_of_bounds(details, likely_cause);
    }
    let past = below.map(|below| (at - (below.base + below.bytes).min(at), below));
    let before = above.map(|above| (above.base - at, above));
    if at <= LAST_OF_HOST {
        // Managed and page-locked memory has pages of its own, at addresses of the host.
        let is_near = |distance: u64| distance < PAGE_OF_HOST;
        return match (past, before) {
            (Some((past, below)), _) if is_near(past) => {
                let likely_cause = context.cause_past_end(at - below.base, bytes, below.bytes);
                let details = AddressDetails::past_end(past, Extent::Allocation(below));
                out_of_bounds(details, likely_cause)
            }
            (_, Some((before, above))) if is_near(before) => {
                let details = AddressDetails::Before(Bytes(before), above);
                out_of_bounds(details, Cause::NegativeIndex)
            }
            _ => wrong_space(ActualMemory::Host, Cause::HostPointer),
        };
    }
    // A 32-bit index that wrapped around is off by four billion elements.
    let is_wrapped = |record: &AllocationRecord| {
        let distance = at.wrapping_sub(record.base);
        [1, 2, 4, 8, 16].into_iter().any(|size| {
            let round = size << 32;
            size <= bytes && distance < round && round - distance <= NEAR_NULL
        })
    };
    if let Some(allocation) = global.records().find(is_wrapped) {
        let details = AddressDetails::WrappedPast(allocation);
        return out_of_bounds(details, Cause::WrappedIndex);
    }
    let is_nearer = |past: u64| before.as_ref().is_none_or(|(before, _)| past <= *before);
    if let Some((past, below)) = past.filter(|(past, _)| is_nearer(*past)) {
        let offset = at - below.base;
        let likely_cause = if let Some(rows) = below.rows {
            past_rows(rows, offset, bytes, context)
        } else if past < SOME_THREADS.max(below.bytes / 16) {
            context.cause_past_end(offset, bytes, below.bytes)
        } else {
            Cause::WrongUnits
        };
        let details = AddressDetails::past_end(past, Extent::Allocation(below));
        return out_of_bounds(details, likely_cause);
    }
    let Some((before, allocation)) = before else {
        return out_of_bounds(AddressDetails::NothingAllocated, None);
    };
    let likely_cause = match before {
        ..=SOME_THREADS => Cause::NegativeIndex,
        OVERFLOWED.. => Cause::OverflowedIndex,
        _ => Cause::WrongUnits,
    };
    let distance = Bytes(before);
    let details = AddressDetails::Before(distance, allocation);
    out_of_bounds(details, likely_cause)
}

/// Returns the likely cause of an access at `offset` past the end of pitched memory.
fn past_rows(rows: Rows, offset: u64, bytes: u64, context: &FaultContext) -> Cause {
    let pitch = Bytes(rows.pitch);
    // The row that the thread would access if the pitch were a number of elements.
    let is_scaled = |row: u64| {
        let start = row.saturating_mul(rows.pitch).saturating_mul(bytes);
        row > 0 && bytes > 1 && (start..start.saturating_add(rows.width)).contains(&offset)
    };
    let mut coordinates = (0..3).filter_map(|axis| context.coordinate(axis));
    match coordinates.any(is_scaled) {
        true => Cause::PitchInElements(pitch),
        false => Cause::PastRows(pitch),
    }
}
