//! Faults: device exceptions that end a launch, that is, actions of a kernel for which a GPU stops it, and their
//! diagnosis: the allocation that an invalid address missed, and the likely cause.

use crate::check::{
    ActualMemory, AddressDetails, AddressedMemory, Bytes, Cause, Checks, Details, Extent,
    FaultKind, Finding, FindingKind, Severity,
};
use crate::isa::SourceLine;
use crate::memory::global::{AllocationRecord, Global};
use crate::memory::{FUNCTION_BASE, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, in_window};
use std::fmt;

/// A device exception that ended a launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    /// The thread and instruction that faulted, if known.
    pub location: Option<Box<FaultLocation>>,
    /// An explanation of the fault, if there is one.
    pub diagnosis: Option<Box<Diagnosis>>,
}

impl Fault {
    pub fn new(kind: FaultKind, location: Option<Box<FaultLocation>>) -> Fault {
        Fault {
            kind,
            location,
            diagnosis: None,
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
            // A timeout is located by warp; the thread is only its first active lane.
            if let FaultKind::Timeout { .. } = self.kind {
                write!(f, "warp {}, ", location.warp)?;
            }
            write!(f, "thread ({tx}, {ty}, {tz})\n  at {}", location.source)?;
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

/// Sizes of a thread's memory other than device memory.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Bytes of shared memory that the kernel declares.
    pub shared: u32,
    pub dynamic: u32,
    pub local: u32,
    pub params: u32,
    pub constants: u64,
}

/// Addresses below this are taken for a null pointer plus an offset.
const NEAR_NULL: u64 = 1 << 20;

/// Highest user-space address on supported hosts.
const LAST_OF_HOST: u64 = 0x7fff_ffff_ffff;

/// Distance before an allocation from which a negative index is taken for an integer overflow.
const OVERFLOWED: u64 = 1 << 30;

/// Distance in bytes past an allocation that threads without an element may reach.
const SOME_THREADS: u64 = 4096;

impl Diagnosis {
    /// Diagnoses a fault. Returns `None` if there is nothing to add to its kind.
    pub fn of(fault: &FaultKind, global: &Global, sizes: Sizes) -> Option<Diagnosis> {
        let of_kind = |kind: FindingKind| diagnosis(kind, None, kind.likely_cause());
        Some(match *fault {
            FaultKind::IllegalAddress {
                address,
                bytes,
                memory,
                ..
            } => match memory {
                AddressedMemory::Shared => diagnose_shared(address, sizes),
                AddressedMemory::Local => diagnose_local(address, sizes.local),
                AddressedMemory::Constant => {
                    let bytes = Bytes(sizes.constants);
                    out_of_bounds(AddressDetails::Constants(bytes), Cause::PastConstantArray)
                }
                AddressedMemory::Parameters => {
                    let bytes = Bytes(sizes.params.into());
                    let size = AddressDetails::Parameters(bytes);
                    out_of_bounds(size, Cause::PastParameterArray)
                }
                AddressedMemory::Generic if in_window(address, SHARED_WINDOW) => {
                    diagnose_shared(address - SHARED_WINDOW, sizes)
                }
                AddressedMemory::Generic if in_window(address, LOCAL_WINDOW) => {
                    diagnose_local(address - LOCAL_WINDOW, sizes.local)
                }
                AddressedMemory::Generic | AddressedMemory::Device | AddressedMemory::Surface => {
                    diagnose_device(address, bytes.into(), global)
                }
            },
            FaultKind::MisalignedAddress { address, bytes } => {
                let excess = Bytes(address % u64::from(bytes.max(1)));
                let details = AddressDetails::Misaligned(excess);
                diagnosis(FindingKind::Misaligned, details, Cause::PointerToWiderType)
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
            FaultKind::WarpIncomplete { .. } => of_kind(FindingKind::WarpIncomplete),
            FaultKind::InvalidBarrier { .. } => of_kind(FindingKind::InvalidBarrier),
            _ => return None,
        })
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

fn diagnose_shared(at: u64, sizes: Sizes) -> Diagnosis {
    let size = u64::from(sizes.shared) + u64::from(sizes.dynamic);
    let past = at.wrapping_sub(size);
    let negative = past > u64::MAX / 2;
    if in_window(at, LOCAL_WINDOW) || in_window(at, PARAM_WINDOW) {
        wrong_space(ActualMemory::OwnThread, Cause::LocalUsedAsShared)
    } else if size == 0 {
        out_of_bounds(AddressDetails::NoSharedMemory, Cause::NoDynamicSharedMemory)
    } else if negative || at > u64::from(u32::MAX / 2) {
        let distance = Bytes((at as u32).wrapping_neg().into());
        let details = AddressDetails::BeforeShared(distance);
        out_of_bounds(details, Cause::NegativeIndex)
    } else {
        let bytes = Bytes(size);
        let likely_cause = match sizes.dynamic {
            0 => Cause::PastSharedArray,
            _ => Cause::PastSharedOrExternArray,
        };
        let details = AddressDetails::past_end(past, Extent::Shared(bytes));
        out_of_bounds(details, likely_cause)
    }
}

fn diagnose_local(at: u64, local: u32) -> Diagnosis {
    let size = u64::from(local);
    let bytes = Bytes(size);
    let details = if at < 1 << 31 {
        AddressDetails::past_end(at.saturating_sub(size), Extent::Local(bytes))
    } else {
        AddressDetails::BeforeLocal
    };
    out_of_bounds(details, Cause::PastLocalArray)
}

fn diagnose_device(at: u64, bytes: u64, global: &Global) -> Diagnosis {
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
        return diagnosis(FindingKind::NullPointer, details, Cause::UnsetPointer);
    }
    if at <= LAST_OF_HOST {
        return wrong_space(ActualMemory::Host, Cause::HostPointer);
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
    let (below, above) = global.neighbours(at);
    let past = below.map(|below| (at - (below.base + below.bytes).min(at), below));
    let before = above.map(|above| (above.base - at, above));
    let is_nearer = |past: u64| before.as_ref().is_none_or(|(before, _)| past <= *before);
    if let Some((past, below)) = past.filter(|(past, _)| is_nearer(*past)) {
        let likely_cause = if past < SOME_THREADS.max(below.bytes / 16) {
            Cause::NoBoundsCheck
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
