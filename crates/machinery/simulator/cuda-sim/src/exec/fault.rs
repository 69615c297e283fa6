//! Faults: device exceptions that end a launch, that is, actions of a kernel for which a GPU stops it, and their
//! diagnosis: the allocation that an invalid address missed, and the likely cause.

use super::schedule::progress::TimeLimit;
use super::warp::window::MAX_CALL_BYTES;
use crate::check::finding::{allocation, count};
use crate::check::{Checks, Finding, FindingKind, Severity};
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
            if !diagnosis.details.is_empty() {
                write!(f, "\n  {}", diagnosis.details)?;
            }
            if !diagnosis.likely_cause.is_empty() {
                write!(f, "\n  likely cause: {}", diagnosis.likely_cause)?;
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
        let message = self.to_string();
        let first = message.lines().next().unwrap_or_default().to_owned();
        let details = if diagnosis.details.is_empty() {
            first
        } else {
            format!("{first}\n  {}", diagnosis.details)
        };
        Some(Finding {
            check: diagnosis.kind.check(),
            kind: diagnosis.kind,
            severity: Severity::Error,
            kernel: location.kernel.clone(),
            block: location.block,
            thread: location.thread,
            source: location.source.clone(),
            other: None,
            details,
            likely_cause: diagnosis.likely_cause.to_owned(),
            count: 1,
        })
    }
}

impl std::error::Error for Fault {}

/// The kind of a fault.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultKind {
    /// An access outside every allocation of its state space.
    IllegalAddress {
        address: u64,
        bytes: u32,
        write: bool,
        space: &'static str,
    },
    /// An address that is not a multiple of the access's size.
    MisalignedAddress { address: u64, bytes: u32 },
    /// `trap`, or a device function that is only declared.
    Trap,
    /// `brkpt`, which a GPU without a debugger treats as a trap.
    Breakpoint,
    /// A call that exceeds the stack.
    StackOverflow { needed: u32, limit: u32 },
    /// A call for which the active calls leave no room for registers.
    CallsTooDeep,
    /// An indirect call to an address that is not a function.
    InvalidCall { address: u64 },
    /// A failed `assert`; the message is CUDA's own.
    Assert { message: String },
    /// A barrier at which some threads of the block wait and that others never reach.
    BarrierNeverOpens {
        barrier: u32,
        arrived: u32,
        expected: u32,
    },
    /// A `.sync` instruction whose mask names lanes that never arrive.
    WarpSyncNeverOpens { members: u32 },
    /// A warp-wide instruction (`mma`, `ldmatrix`) in a warp with fewer than 32 live threads; `alive` is
    /// their mask.
    WarpIncomplete { alive: u32 },
    /// A warpgroup-wide instruction (`wgmma`) without all of its 128 threads.
    WarpgroupIncomplete,
    /// An invalid use of `wgmma`, with the reason.
    Warpgroup(&'static str),
    /// A barrier number of 16 or more, or a thread count that is not a multiple of 32.
    InvalidBarrier { barrier: u32, count: u32 },
    /// An in-kernel `free` of an address that `malloc` did not return or that was freed before.
    InvalidFree { address: u64 },
    /// A texture or surface handle that names no object, or whose memory was freed.
    NoImage { handle: u64 },
    /// An invalid use of an mbarrier, with the reason.
    Mbarrier(&'static str),
    /// An interrupt requested by the host.
    Interrupted,
    /// Expiry of the launch's time limit, after `ended` of its `blocks` blocks had ended.
    Timeout {
        limit: TimeLimit,
        ended: u64,
        blocks: u64,
    },
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::IllegalAddress {
                address,
                bytes,
                write,
                space,
            } => write!(
                f,
                "illegal address: {} of {bytes} bytes at {address:#x}, outside every {space} allocation",
                if *write { "write" } else { "read" }
            ),
            FaultKind::MisalignedAddress { address, bytes } => {
                write!(
                    f,
                    "misaligned address: {address:#x} is not a multiple of {bytes}"
                )
            }
            FaultKind::Trap => write!(f, "trap: the kernel stopped itself"),
            FaultKind::Breakpoint => write!(f, "breakpoint: brkpt without a debugger"),
            FaultKind::StackOverflow { needed, limit } => write!(
                f,
                "stack overflow: the call requires {needed} bytes of local memory per thread, the limit is {limit}"
            ),
            FaultKind::CallsTooDeep => write!(
                f,
                "stack overflow: the registers of all active calls in the block exceed {} MB",
                MAX_CALL_BYTES >> 20
            ),
            FaultKind::InvalidCall { address } => {
                write!(
                    f,
                    "call through a pointer that is not a function: {address:#x}"
                )
            }
            FaultKind::BarrierNeverOpens {
                barrier,
                arrived,
                expected,
            } => write!(
                f,
                "barrier {barrier} never opens: {arrived} threads wait, {expected} are required, and the others cannot reach it"
            ),
            FaultKind::WarpSyncNeverOpens { members } => write!(
                f,
                "warp synchronization never completes: its mask {members:#010x} names lanes that cannot reach it"
            ),
            FaultKind::WarpIncomplete { alive } => write!(
                f,
                "incomplete warp: the instruction requires all 32 threads of a warp, but only {} are present: launch blocks of a multiple of 32 threads, and let no thread exit before it",
                alive.count_ones()
            ),
            FaultKind::WarpgroupIncomplete => f.write_str(
                "incomplete warpgroup: the instruction requires the 128 threads of four warps whose first number is a multiple of four, \
                 but not all are present: launch blocks of a multiple of 128 threads, and let no thread exit before it",
            ),
            FaultKind::Warpgroup(reason) => write!(f, "wgmma: {reason}"),
            FaultKind::InvalidBarrier { barrier, count } => write!(
                f,
                "invalid barrier: number {barrier} (0 to 15 exist) for {count} threads (a multiple of 32)"
            ),
            FaultKind::Interrupted => f.write_str("the kernel was interrupted"),
            FaultKind::Timeout {
                limit,
                ended,
                blocks,
            } => {
                match limit {
                    TimeLimit::Launch(limit) => write!(
                        f,
                        "the kernel ran past its time limit of {} s (CUDA_SIM_TIME_LIMIT)",
                        limit.as_secs_f64()
                    ),
                    TimeLimit::Standstill(limit) => write!(
                        f,
                        "no block of the kernel has ended for {} s: is there an endless loop? \
                         CUDA_SIM_TIME_LIMIT sets another limit, in seconds; `none` removes it",
                        limit.as_secs_f64()
                    ),
                }?;
                write!(f, "\n  blocks ended: {ended} of {blocks}")
            }
            FaultKind::InvalidFree { address } => write!(
                f,
                "invalid free of {address:#x}: in-kernel malloc did not return this address, or it was freed before"
            ),
            FaultKind::NoImage { handle } => write!(
                f,
                "no texture or surface object has the handle {handle:#x}, or its memory was freed"
            ),
            FaultKind::Mbarrier(reason) => write!(f, "mbarrier: {reason}"),
            FaultKind::Assert { message } => f.write_str(message),
        }
    }
}

/// An explanation of a fault in addition to its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// The kind of finding that the fault corresponds to.
    pub kind: FindingKind,
    /// The object that was missed and the distance; may be empty.
    pub details: String,
    /// The likely cause; may be empty.
    pub likely_cause: &'static str,
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

const NO_GUARD: &str =
    "`<=` instead of `<`, or a missing `if (i < n)` for the threads past the end";
const BELOW_ZERO: &str = "a negative index: the neighbour of the first element, or a halo to \
                          the left";
const WRAPPED: &str = "an unsigned index that wrapped below zero, such as `i - 1` for `i == 0`";
const OVERFLOW: &str = "an `int` that overflowed and became negative: `blockIdx.x * blockDim.x`, or \
                        row times width, in a large array";
const FAR: &str = "an index in other units than the array's: bytes for elements, a pitch for a \
                   width, rows for columns, or one that overflowed";

impl Diagnosis {
    /// Diagnoses a fault. Returns `None` if there is nothing to add to its kind.
    pub fn of(fault: &FaultKind, global: &Global, sizes: Sizes) -> Option<Diagnosis> {
        let diagnosis = |kind, details: String, likely_cause| {
            Some(Diagnosis {
                kind,
                details,
                likely_cause,
            })
        };
        match *fault {
            FaultKind::IllegalAddress {
                address,
                bytes,
                space,
                ..
            } => match space {
                "shared memory" => Some(diagnose_shared(address, sizes)),
                "local memory" => Some(diagnose_local(address, sizes.local)),
                "constant memory" => {
                    let bank = sizes.constants;
                    diagnosis(
                        FindingKind::OutOfBounds,
                        format!("the module's constants take {}", count(bank)),
                        "an index past the end of a `__constant__` array",
                    )
                }
                "kernel parameters" => diagnosis(
                    FindingKind::OutOfBounds,
                    format!("the parameters take {}", count(sizes.params.into())),
                    "an index past the end of an array in a parameter",
                ),
                _ => Some(diagnose_device(address, bytes.into(), space, global, sizes)),
            },
            FaultKind::MisalignedAddress { address, bytes } => diagnosis(
                FindingKind::Misaligned,
                format!(
                    "it is {} past an aligned address",
                    count(address % u64::from(bytes.max(1)))
                ),
                "a pointer cast to a wider type, such as `float4` from a `float` that is not the first \
                 of four, or rows whose pitch is not a multiple of the type's size",
            ),
            FaultKind::StackOverflow { .. } | FaultKind::CallsTooDeep => diagnosis(
                FindingKind::StackOverflow,
                String::new(),
                "unbounded or too deep recursion; `cuCtxSetLimit` sets a \
                 larger stack",
            ),
            FaultKind::InvalidCall { .. } => diagnosis(
                FindingKind::InvalidCall,
                String::new(),
                "a function pointer taken on the host, or one never set",
            ),
            FaultKind::BarrierNeverOpens { .. } => diagnose_sync(FindingKind::BarrierNeverOpens),
            FaultKind::WarpSyncNeverOpens { .. } => diagnose_sync(FindingKind::AbsentLanes),
            FaultKind::WarpIncomplete { .. } => diagnose_sync(FindingKind::WarpIncomplete),
            FaultKind::InvalidBarrier { .. } => diagnose_sync(FindingKind::InvalidBarrier),
            _ => None,
        }
    }
}

fn diagnose_sync(kind: FindingKind) -> Option<Diagnosis> {
    Some(Diagnosis {
        kind,
        details: String::new(),
        likely_cause: kind.likely_cause(),
    })
}

fn diagnose_shared(at: u64, sizes: Sizes) -> Diagnosis {
    let total = u64::from(sizes.shared) + u64::from(sizes.dynamic);
    let past = at.wrapping_sub(total);
    let negative = past > u64::MAX / 2;
    let (kind, details, likely_cause) =
        if in_window(at, LOCAL_WINDOW) || in_window(at, PARAM_WINDOW) {
            let details = "it is an address of the thread's own memory";
            return wrong_space(
                details.to_owned(),
                "a pointer to a local variable, used as shared",
            );
        } else if total == 0 {
            (
                FindingKind::OutOfBounds,
                "the block has no shared memory".to_owned(),
                "an `extern __shared__` array, but a launch without dynamic shared memory",
            )
        } else if negative || at > u64::from(u32::MAX / 2) {
            let before = (at as u32).wrapping_neg();
            (
                FindingKind::OutOfBounds,
                format!("{} before the block's shared memory", count(before.into())),
                BELOW_ZERO,
            )
        } else {
            let likely_cause = match sizes.dynamic {
                0 => "an index past the end of a `__shared__` array",
                _ => {
                    "an index past the end of a `__shared__` array, or a launch with too little \
                  dynamic shared memory for an `extern` array"
                }
            };
            (
                FindingKind::OutOfBounds,
                format!(
                    "{} the block's {} of shared memory",
                    past_end(past),
                    count(total)
                ),
                likely_cause,
            )
        };
    Diagnosis {
        kind,
        details,
        likely_cause,
    }
}

fn diagnose_local(at: u64, local: u32) -> Diagnosis {
    let past = at.saturating_sub(local.into());
    let details = if at < 1 << 31 {
        format!(
            "{} the thread's {} of local memory",
            past_end(past),
            count(local.into())
        )
    } else {
        "before the thread's local memory".to_owned()
    };
    Diagnosis {
        kind: FindingKind::OutOfBounds,
        details,
        likely_cause: "an index past the end of an array declared in the kernel",
    }
}

fn diagnose_device(at: u64, bytes: u64, space: &str, global: &Global, sizes: Sizes) -> Diagnosis {
    let generic = space == "memory";
    if in_window(at, SHARED_WINDOW) {
        return if generic {
            diagnose_shared(at - SHARED_WINDOW, sizes)
        } else {
            wrong_space(
                "it is an address of shared memory".to_owned(),
                "a pointer to a `__shared__` array, used as one to device memory",
            )
        };
    }
    if in_window(at, LOCAL_WINDOW) {
        return if generic {
            diagnose_local(at - LOCAL_WINDOW, sizes.local)
        } else {
            wrong_space(
                "it is an address of the thread's own memory".to_owned(),
                "a pointer to a local variable, used by another thread or kernel",
            )
        };
    }
    if (FUNCTION_BASE..FUNCTION_BASE + NEAR_NULL).contains(&at) || in_window(at, PARAM_WINDOW) {
        let details = "it is an address of code or of parameters";
        return wrong_space(
            details.to_owned(),
            "a function pointer, used as one to data",
        );
    }
    if let Some(home) = global.inaccessible_owner(at) {
        return wrong_space(
            format!("it is memory of device {home}, to which this device has no access"),
            "a kernel that follows a pointer to another GPU's memory without `cuCtxEnablePeerAccess`, or, for memory \
             of a pool or that is mapped, without its `SetAccess`",
        );
    }
    if global.host(at, bytes).is_some() {
        let details = "it is an address of constant memory, which a kernel may only read";
        return wrong_space(
            details.to_owned(),
            "a store or an atomic through a pointer to a `__constant__` variable",
        );
    }
    if let Some(freed) = global.freed(at) {
        return Diagnosis {
            kind: FindingKind::UseAfterFree,
            details: format!(
                "byte {} of {}, which has been freed",
                at - freed.base,
                allocation(&freed)
            ),
            likely_cause: "a pointer used after its buffer was dropped or freed, for example one in a `__device__` \
                      variable",
        };
    }
    let (below, above) = global.neighbours(at);
    let past = below
        .as_ref()
        .map(|below| at - (below.base + below.bytes).min(at));
    let before = above.as_ref().map(|above| above.base - at);
    // A 32-bit index that wrapped around is off by four billion elements.
    let wrapped_size = |record: &AllocationRecord| {
        let distance = at.wrapping_sub(record.base);
        [1, 2, 4, 8, 16].into_iter().find(|size| {
            let round = size << 32;
            *size <= bytes && distance < round && round - distance <= NEAR_NULL
        })
    };
    if !(NEAR_NULL..=u64::MAX - NEAR_NULL).contains(&at) {
        return Diagnosis {
            kind: FindingKind::NullPointer,
            details: match at {
                0 => "the address is null".to_owned(),
                _ if at < NEAR_NULL => format!("the address is null plus {}", count(at)),
                _ => format!("the address is null minus {}", count(at.wrapping_neg())),
            },
            likely_cause: "a pointer that was never set: a buffer that was not allocated, or a symbol \
                      that the host did not initialize",
        };
    }
    if at <= LAST_OF_HOST {
        return wrong_space(
            "it is an address of the host's memory".to_owned(),
            "a host pointer passed to the kernel instead of a device pointer",
        );
    }
    if let Some((record, _)) = global.records().find_map(|record| {
        Some((wrapped_size(&record)?, record)).map(|(size, record)| (record, size))
    }) {
        return Diagnosis {
            kind: FindingKind::OutOfBounds,
            details: format!("almost 2^32 elements past {}", allocation(&record)),
            likely_cause: WRAPPED,
        };
    }
    let (details, likely_cause) = match (past, before, &below, &above) {
        (Some(past), before, Some(below), _) if before.is_none_or(|before| past <= before) => (
            format!("{} {}", past_end(past), allocation(below)),
            if past < SOME_THREADS.max(below.bytes / 16) {
                NO_GUARD
            } else {
                FAR
            },
        ),
        (_, Some(before), _, Some(above)) => (
            format!("{} before {}", count(before), allocation(above)),
            match before {
                ..=SOME_THREADS => BELOW_ZERO,
                OVERFLOWED.. => OVERFLOW,
                _ => FAR,
            },
        ),
        _ => ("nothing is allocated".to_owned(), ""),
    };
    Diagnosis {
        kind: FindingKind::OutOfBounds,
        details,
        likely_cause,
    }
}

fn wrong_space(details: String, likely_cause: &'static str) -> Diagnosis {
    Diagnosis {
        kind: FindingKind::WrongSpace,
        details: format!("wrong space: {details}"),
        likely_cause,
    }
}

/// Describes a distance past the end; the object's name follows.
fn past_end(past: u64) -> String {
    match past {
        0 => "right past the end of".to_owned(),
        past => format!("{} past the end of", count(past)),
    }
}
