//! What ends a launch before its time.

use super::miss::Miss;
use super::window::CALLED_BYTES;
use crate::check::{Checks, Finding, FindingKind, Severity};
use crate::isa::SourceLine;
use std::fmt;
use std::time::Duration;

/// A kernel did what a GPU stops it for.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    pub kind: FaultKind,
    /// Where; none for what no thread did, such as a time limit.
    pub place: Option<Box<Place>>,
    /// What the address nearly was, where there is anything to say.
    pub miss: Option<Box<Miss>>,
    /// What the kernel had printed by then.
    pub printed: Vec<u8>,
    /// What checks had found by then.
    pub findings: Vec<Finding>,
}

impl Fault {
    pub fn new(kind: FaultKind, place: Option<Box<Place>>) -> Fault {
        Fault {
            kind,
            place,
            miss: None,
            printed: Vec::new(),
            findings: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum FaultKind {
    /// An access outside every allocation of its space.
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
    /// A call deeper than the stack.
    StackOverflow { needed: u32, limit: u32 },
    /// A call where those under way hold more registers than there is room for.
    CallsTooDeep,
    /// An indirect call to what is not a function.
    InvalidCall { address: u64 },
    /// `assert` failed; the message is CUDA's own.
    Assert { message: String },
    /// A barrier some threads of the block wait at and others never reach.
    BarrierNeverOpens {
        barrier: u32,
        arrived: u32,
        expected: u32,
    },
    /// A `.sync` instruction whose mask names lanes that never come.
    WarpSyncNeverOpens { members: u32 },
    /// An instruction of whole warps (`mma`, `ldmatrix`) in a warp with fewer than 32 threads, or of
    /// which some have ended: which are there.
    WarpIncomplete { alive: u32 },
    /// A barrier number of 16 or more, or a thread count that is no multiple of 32.
    InvalidBarrier { barrier: u32, count: u32 },
    /// The launch ran past its time limit.
    Timeout(Duration),
}

/// Which thread, and where in the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub kernel: String,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub source: SourceLine,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let FaultKind::Assert { message } = &self.kind {
            return write!(f, "{message}");
        }
        match &self.kind {
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
                "stack overflow: the call needs {needed} bytes of local memory a thread, the limit is {limit}"
            ),
            FaultKind::CallsTooDeep => write!(
                f,
                "stack overflow: the registers of all calls under way in the block take more than {} MB",
                CALLED_BYTES >> 20
            ),
            FaultKind::InvalidCall { address } => {
                write!(
                    f,
                    "call through a pointer that is no function: {address:#x}"
                )
            }
            FaultKind::BarrierNeverOpens {
                barrier,
                arrived,
                expected,
            } => write!(
                f,
                "barrier {barrier} never opens: {arrived} threads wait, {expected} are needed, and the others can not reach it"
            ),
            FaultKind::WarpSyncNeverOpens { members } => write!(
                f,
                "warp synchronisation never opens: its mask {members:#010x} names lanes that can not reach it"
            ),
            FaultKind::WarpIncomplete { alive } => write!(
                f,
                "incomplete warp: the instruction takes all 32 threads of a warp, and {} are there: launch blocks of a multiple of 32 threads, and let none end before",
                alive.count_ones()
            ),
            FaultKind::InvalidBarrier { barrier, count } => write!(
                f,
                "invalid barrier: number {barrier} (0 to 15 exist) for {count} threads (a multiple of 32)"
            ),
            FaultKind::Timeout(limit) => write!(
                f,
                "the kernel ran past its time limit of {} s (CUDA_SIM_TIME_LIMIT)",
                limit.as_secs_f64()
            ),
            FaultKind::Assert { .. } => Ok(()),
        }?;
        if let Some(place) = &self.place {
            let ([bx, by, bz], [tx, ty, tz]) = (place.block, place.thread);
            write!(
                f,
                "\n  in kernel {}, block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})\n  at {}",
                place.kernel, place.source
            )?;
        }
        if let Some(miss) = &self.miss {
            if !miss.what.is_empty() {
                write!(f, "\n  {}", miss.what)?;
            }
            if !miss.usually.is_empty() {
                write!(f, "\n  usually: {}", miss.usually)?;
            }
        }
        Ok(())
    }
}

impl Fault {
    /// All that was found, the fault itself first, of what `checks` look for.
    pub fn take_findings(&mut self, checks: Checks) -> Vec<Finding> {
        let mut findings = std::mem::take(&mut self.findings);
        let stopped = self.finding().filter(|found| checks.has(found.check));
        // That a barrier does not open is no news where only part of a warp has come to it.
        let news = |stopped: &Finding| {
            let known = |one: &Finding| {
                one.kind == FindingKind::DivergentBarrier && one.source == stopped.source
            };
            stopped.kind != FindingKind::BarrierNeverOpens || !findings.iter().any(known)
        };
        let stopped = stopped.filter(news);
        findings.splice(..0, stopped);
        findings
    }

    /// As a finding, where it is a mistake that a check looks for.
    pub fn finding(&self) -> Option<Finding> {
        let (miss, place) = (self.miss.as_ref()?, self.place.as_ref()?);
        let whole = self.to_string();
        let first = whole.lines().next().unwrap_or_default().to_owned();
        let what = match miss.what.is_empty() {
            true => first,
            false => format!("{first}\n  {}", miss.what),
        };
        Some(Finding {
            check: miss.kind.check(),
            kind: miss.kind,
            severity: Severity::Error,
            kernel: place.kernel.clone(),
            block: place.block,
            thread: place.thread,
            source: place.source.clone(),
            other: None,
            what,
            usually: miss.usually.to_owned(),
            count: 1,
        })
    }
}

impl std::error::Error for Fault {}
