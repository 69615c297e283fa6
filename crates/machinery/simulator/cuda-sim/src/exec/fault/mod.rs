//! Faults: device exceptions that end a launch, that is, actions of a kernel for which a GPU stops it.

mod diagnosis;

pub use diagnosis::{Diagnosis, Sizes};

use super::schedule::progress::TimeLimit;
use super::warp::window::MAX_CALL_BYTES;
use crate::check::{Checks, Finding, FindingKind, Severity};
use crate::isa::SourceLine;
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
