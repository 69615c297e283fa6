//! Findings: the bugs that checks report, their kinds and messages.

use super::selection::Check;
use crate::isa::SourceLine;
use crate::memory::global::AllocationRecord;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A finding: one bug, with the number of its occurrences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that reported the finding.
    pub check: Check,
    /// The kind of bug.
    pub kind: FindingKind,
    /// The severity.
    pub severity: Severity,
    /// The kernel's name. Empty if the finding does not concern a kernel.
    pub kernel: String,
    /// The block in which the bug occurred. If there are several, the one with the lowest index.
    pub block: [u32; 3],
    /// The thread in which the bug occurred. Zero for [`FindingKind::InterBlockRace`], for which only blocks
    /// are tracked.
    pub thread: [u32; 3],
    /// The source line of the thread's instruction.
    pub source: SourceLine,
    /// The other access of a data race; `None` for other kinds.
    pub other: Option<OtherAccess>,
    /// The accessed memory and other evidence, in one or two sentences. May be empty.
    #[serde(rename = "what")]
    pub details: String,
    /// The usual cause of such a bug, in one sentence. May be empty.
    #[serde(rename = "usually")]
    pub likely_cause: String,
    /// The number of occurrences; each execution by each thread counts.
    pub count: u64,
}

/// The other access of a data race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherAccess {
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub source: SourceLine,
    /// True if the other access was a write, false if it was a read.
    pub write: bool,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// The kernel has a bug.
    Error,
    /// The kernel probably has a bug, but correct kernels may do the same on purpose.
    Warning,
}

impl Severity {
    /// Returns `error` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl Finding {
    /// Creates the finding for an allocation that was never freed. `call` is the function that allocated it:
    /// `cuMemAlloc`.
    pub(crate) fn leak(record: &AllocationRecord, call: &str) -> Finding {
        let kind = FindingKind::Leaked;
        Finding {
            check: kind.check(),
            kind,
            severity: Severity::Error,
            kernel: String::new(),
            block: [0; 3],
            thread: [0; 3],
            source: SourceLine::default(),
            other: None,
            details: format!("{} by {call}", allocation(record)),
            likely_cause: kind.likely_cause().to_owned(),
            count: 1,
        }
    }

    /// Creates the finding for host memory that is accessed too early. `details` names the memory and the
    /// work that uses it.
    pub(crate) fn host(kind: FindingKind, severity: Severity, details: String) -> Finding {
        Finding {
            check: kind.check(),
            kind,
            severity,
            kernel: String::new(),
            block: [0; 3],
            thread: [0; 3],
            source: SourceLine::default(),
            other: None,
            details,
            likely_cause: kind.likely_cause().to_owned(),
            count: 1,
        }
    }

    /// Returns true if both findings are the same bug at the same source lines. Findings without known source
    /// lines are never the same.
    pub(super) fn is_same_bug(&self, other: &Finding) -> bool {
        let same_line = |first: &SourceLine, other: &SourceLine| {
            first.line > 0 && (first.line, &first.file) == (other.line, &other.file)
        };
        let same_other = match (&self.other, &other.other) {
            (None, None) => true,
            (Some(first), Some(other)) => same_line(&first.source, &other.source),
            _ => false,
        };
        (self.kind, self.severity) == (other.kind, other.severity)
            && same_line(&self.source, &other.source)
            && same_other
    }

    /// Returns `reads ` or `writes ` if the kind of finding determines the access, otherwise an empty string.
    fn verb(&self) -> &'static str {
        match self.kind {
            FindingKind::ReadAfterWrite => "reads ",
            FindingKind::WriteAfterRead
            | FindingKind::WriteAfterWrite
            | FindingKind::InterBlockRace => "writes ",
            _ => "",
        }
    }

    /// Writes the block, and the thread if the kind of finding identifies it.
    fn write_thread(
        &self,
        f: &mut fmt::Formatter<'_>,
        block: [u32; 3],
        thread: [u32; 3],
    ) -> fmt::Result {
        write!(f, "block {}", Triple(block))?;
        match self.kind {
            FindingKind::InterBlockRace => Ok(()),
            _ => write!(f, ", thread {}", Triple(thread)),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { check, kind, .. } = self;
        write!(f, "{}: {check}: {}", self.severity.name(), kind.title())?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        if !self.kernel.is_empty() {
            write!(f, "\n  in kernel {}, ", self.kernel)?;
            self.write_thread(f, self.block, self.thread)?;
            write!(f, "\n  {}at {}", self.verb(), self.source)?;
        }
        if let Some(other) = &self.other {
            let verb = if other.write { "writes" } else { "reads" };
            write!(f, "\n  ")?;
            self.write_thread(f, other.block, other.thread)?;
            write!(f, " {verb} at {}", other.source)?;
        }
        if !self.details.is_empty() {
            write!(f, "\n  {}", self.details)?;
        }
        if !self.likely_cause.is_empty() {
            write!(f, "\n  likely cause: {}", self.likely_cause)?;
        }
        Ok(())
    }
}

/// Three numbers, formatted as `(x, y, z)`.
struct Triple([u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FindingKind {
    /// An access outside all allocations.
    OutOfBounds,
    /// An access to freed memory.
    UseAfterFree,
    /// An access at or near address zero.
    NullPointer,
    /// An address of one state space used in another, or a host address used on the device.
    WrongSpace,
    /// An index into one shared-memory array that reaches another.
    OtherArray,
    /// An address that is not a multiple of the access size.
    Misaligned,
    /// A call that exceeds the stack.
    StackOverflow,
    /// A call through a pointer that is not a function.
    InvalidCall,
    /// A read of uninitialized device memory.
    #[serde(rename = "UnwrittenDevice")]
    UninitializedDevice,
    /// A read of shared memory that no thread of the block has written.
    #[serde(rename = "UnwrittenShared")]
    UninitializedShared,
    /// A read of local memory that its thread has not written.
    #[serde(rename = "UnwrittenLocal")]
    UninitializedLocal,
    /// A read that is not ordered after another thread's write.
    ReadAfterWrite,
    /// A write that is not ordered after another thread's read.
    WriteAfterRead,
    /// Unordered writes of different values by two threads.
    WriteAfterWrite,
    /// One store whose lanes write different values to the same address.
    #[serde(rename = "OneStore")]
    ConflictingStore,
    /// An access to the destination of an asynchronous copy before the copy was waited for.
    CopyNotAwaited,
    /// Unordered accesses by different blocks to the same device memory, at least one of which writes.
    #[serde(rename = "BetweenBlocks")]
    InterBlockRace,
    /// A barrier that only part of a warp reaches.
    DivergentBarrier,
    /// A barrier of the whole block that completes although some of its threads have exited.
    EndedBeforeBarrier,
    /// A barrier that completes for threads at different barrier instructions.
    MixedBarriers,
    /// A barrier that never completes.
    BarrierNeverOpens,
    /// A barrier number that does not exist, or a thread count that is not a multiple of the warp size.
    InvalidBarrier,
    /// A warp-wide instruction whose mask does not include the executing lane.
    MaskLacksCaller,
    /// A warp-wide instruction whose mask includes lanes that do not participate.
    AbsentLanes,
    /// A shuffle that reads from a lane that does not participate.
    #[serde(rename = "AskedAbsentLane")]
    ShuffleFromAbsentLane,
    /// A warp-wide instruction in a warp with fewer than 32 threads.
    WarpIncomplete,
    /// Memory that is still allocated when its context is destroyed.
    Leaked,
    /// An access by the host to host memory that work in a stream still uses.
    #[serde(rename = "HostTouched")]
    HostAccessed,
    /// A free of host memory that work in a stream still uses.
    HostFreed,
    /// A change to host memory that a graph had not copied yet.
    HostChanged,
}

impl FindingKind {
    /// Returns the kind's name in records, for example `out-of-bounds`.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::OutOfBounds => "out-of-bounds",
            FindingKind::UseAfterFree => "use-after-free",
            FindingKind::NullPointer => "null-pointer",
            FindingKind::WrongSpace => "wrong-space",
            FindingKind::OtherArray => "other-array",
            FindingKind::Misaligned => "misaligned",
            FindingKind::StackOverflow => "stack-overflow",
            FindingKind::InvalidCall => "invalid-call",
            FindingKind::UninitializedDevice => "unwritten-device-memory",
            FindingKind::UninitializedShared => "unwritten-shared-memory",
            FindingKind::UninitializedLocal => "unwritten-local-memory",
            FindingKind::ReadAfterWrite => "read-after-write",
            FindingKind::WriteAfterRead => "write-after-read",
            FindingKind::WriteAfterWrite => "write-after-write",
            FindingKind::ConflictingStore => "one-store-two-values",
            FindingKind::CopyNotAwaited => "copy-not-awaited",
            FindingKind::InterBlockRace => "between-blocks",
            FindingKind::DivergentBarrier => "divergent-barrier",
            FindingKind::EndedBeforeBarrier => "ended-before-barrier",
            FindingKind::MixedBarriers => "mixed-barriers",
            FindingKind::BarrierNeverOpens => "barrier-never-opens",
            FindingKind::InvalidBarrier => "invalid-barrier",
            FindingKind::MaskLacksCaller => "mask-lacks-caller",
            FindingKind::AbsentLanes => "absent-lanes",
            FindingKind::ShuffleFromAbsentLane => "asked-absent-lane",
            FindingKind::WarpIncomplete => "warp-incomplete",
            FindingKind::Leaked => "leaked",
            FindingKind::HostAccessed => "host-memory-touched",
            FindingKind::HostFreed => "host-memory-freed",
            FindingKind::HostChanged => "host-memory-changed",
        }
    }

    /// Returns the check that reports this kind.
    pub fn check(self) -> Check {
        match self {
            FindingKind::OutOfBounds
            | FindingKind::UseAfterFree
            | FindingKind::NullPointer
            | FindingKind::WrongSpace
            | FindingKind::OtherArray
            | FindingKind::Misaligned
            | FindingKind::StackOverflow
            | FindingKind::InvalidCall => Check::Memory,
            FindingKind::UninitializedDevice
            | FindingKind::UninitializedShared
            | FindingKind::UninitializedLocal => Check::Init,
            FindingKind::ReadAfterWrite
            | FindingKind::WriteAfterRead
            | FindingKind::WriteAfterWrite
            | FindingKind::ConflictingStore
            | FindingKind::CopyNotAwaited
            | FindingKind::InterBlockRace => Check::Race,
            FindingKind::DivergentBarrier
            | FindingKind::EndedBeforeBarrier
            | FindingKind::MixedBarriers
            | FindingKind::BarrierNeverOpens
            | FindingKind::InvalidBarrier
            | FindingKind::MaskLacksCaller
            | FindingKind::AbsentLanes
            | FindingKind::ShuffleFromAbsentLane
            | FindingKind::WarpIncomplete => Check::Sync,
            FindingKind::Leaked => Check::Leak,
            FindingKind::HostAccessed | FindingKind::HostFreed | FindingKind::HostChanged => {
                Check::Host
            }
        }
    }

    /// Returns true if this kind raises a fault that ends the kernel, even without checks.
    pub fn stops(self) -> bool {
        self.check() == Check::Memory && self != FindingKind::OtherArray
            || matches!(
                self,
                FindingKind::BarrierNeverOpens
                    | FindingKind::InvalidBarrier
                    | FindingKind::WarpIncomplete
            )
    }

    /// Returns the problem, as in the first line of a message: "misaligned address".
    pub(super) fn title(self) -> &'static str {
        match self {
            FindingKind::OutOfBounds => "out-of-bounds access",
            FindingKind::UseAfterFree => "use after free",
            FindingKind::NullPointer => "null-pointer access",
            FindingKind::WrongSpace => "address of the wrong memory space",
            FindingKind::OtherArray => "out-of-bounds index into a shared-memory array",
            FindingKind::Misaligned => "misaligned address",
            FindingKind::StackOverflow => "stack overflow",
            FindingKind::InvalidCall => "call through an invalid function pointer",
            FindingKind::UninitializedDevice => "read of uninitialized device memory",
            FindingKind::UninitializedShared => "read of uninitialized shared memory",
            FindingKind::UninitializedLocal => "read of uninitialized local memory",
            FindingKind::ReadAfterWrite => "read-after-write data race",
            FindingKind::WriteAfterRead => "write-after-read data race",
            FindingKind::WriteAfterWrite => "write-after-write data race",
            FindingKind::ConflictingStore => {
                "data race within one store: different values for one address"
            }
            FindingKind::CopyNotAwaited => {
                "data race with an asynchronous copy that is still pending"
            }
            FindingKind::InterBlockRace => "data race between blocks on device memory",
            FindingKind::DivergentBarrier => "divergent barrier: only part of a warp reaches it",
            FindingKind::EndedBeforeBarrier => {
                "barrier that not all threads of the block reach: some have exited"
            }
            FindingKind::MixedBarriers => "one barrier reached from different places in the code",
            FindingKind::BarrierNeverOpens => "deadlock at a barrier",
            FindingKind::InvalidBarrier => "invalid barrier",
            FindingKind::MaskLacksCaller => "mask that does not include the calling lane",
            FindingKind::AbsentLanes => "mask that includes lanes that do not participate",
            FindingKind::ShuffleFromAbsentLane => "shuffle from lanes that do not participate",
            FindingKind::WarpIncomplete => "warp-wide instruction in an incomplete warp",
            FindingKind::Leaked => "memory leak",
            FindingKind::HostAccessed => {
                "host memory accessed while work in a stream still uses it"
            }
            FindingKind::HostFreed => "host memory freed while work in a stream still uses it",
            FindingKind::HostChanged => "host memory changed before a graph copied it",
        }
    }

    /// Returns the usual cause; empty if [`Finding::details`](super::Finding::details) already names it.
    pub(crate) fn likely_cause(self) -> &'static str {
        match self {
            FindingKind::UninitializedDevice => {
                "the buffer was never copied to or set to zero, or only part of it was"
            }
            FindingKind::UninitializedShared => {
                "the edge or the halo of a tile that no thread loads, or a thread that skips its \
                 store"
            }
            FindingKind::UninitializedLocal => {
                "a local array that is not initialized, or only in part"
            }
            FindingKind::OtherArray => {
                "an index that is one too large, or a size that belongs to another array"
            }
            FindingKind::ReadAfterWrite => "a missing `__syncthreads()` between the two lines",
            FindingKind::WriteAfterRead => {
                "a missing `__syncthreads()` at the end of a loop, before the next iteration writes"
            }
            FindingKind::WriteAfterWrite => {
                "two threads with the same index, or a sum without `atomicAdd`"
            }
            FindingKind::ConflictingStore => "an index that is the same for several threads",
            FindingKind::CopyNotAwaited => {
                "a missing `cp.async.wait_group`, or one that leaves too many groups pending"
            }
            FindingKind::InterBlockRace => {
                "blocks run in any order and concurrently: an in-place result, or a sum over \
                 blocks without `atomicAdd`"
            }
            FindingKind::DivergentBarrier => {
                "`__syncthreads()` in an `if`, or in a loop that threads leave after different \
                 numbers of iterations"
            }
            FindingKind::EndedBeforeBarrier => {
                "`return` before a `__syncthreads()`: a thread with nothing to do must skip its \
                 work, not the barrier"
            }
            FindingKind::MixedBarriers => {
                "`__syncthreads()` in both branches of an `if`, or in a loop whose number of \
                 iterations differs between warps"
            }
            FindingKind::BarrierNeverOpens => {
                "`__syncthreads()` in an `if`, or a thread count that is never reached"
            }
            FindingKind::InvalidBarrier => "a thread count that is not a multiple of 32",
            FindingKind::MaskLacksCaller => {
                "a mask computed for lanes other than those that reach this instruction"
            }
            FindingKind::AbsentLanes => {
                "a full mask inside an `if`: compute the mask with `__ballot_sync` before the \
                 `if`, or move the call out"
            }
            FindingKind::ShuffleFromAbsentLane => {
                "an offset that leads beyond the lanes of the mask: pass a `width` to the \
                 shuffle, or use its result only if the source lane is in the mask"
            }
            FindingKind::Leaked => {
                "a buffer that was forgotten (`mem::forget`, `into_raw`), or dropped after its \
                 context"
            }
            FindingKind::WarpIncomplete => "a block size that is not a multiple of 32 threads",
            FindingKind::HostAccessed | FindingKind::HostFreed | FindingKind::HostChanged => {
                "the program did not wait for the stream first (`cudaStreamSynchronize`, or an \
                 event)"
            }
            _ => "",
        }
    }
}

/// Formats a number of bytes: `1 byte`, `4 bytes`.
pub fn count(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        _ => format!("{bytes} bytes"),
    }
}

/// Formats an allocation by its name or, if it has none, by its size, address, and position among all
/// allocations.
pub fn allocation(record: &AllocationRecord) -> String {
    let (bytes, base) = (record.bytes, record.base);
    match &record.name {
        Some(name) => format!("`{name}` ({})", count(bytes)),
        None => format!(
            "the {bytes}-byte allocation at {base:#x}, allocated {}",
            ordinal(record.order)
        ),
    }
}

/// Formats an ordinal number: `1st`, `2nd`, `11th`.
pub fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Formats the lanes of a mask: `3`, `0 to 15`, `0, 2 to 5, 9`.
pub fn lanes(mask: u32) -> String {
    let mut parts = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        if mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let run = (!(mask >> lane)).trailing_zeros().min(32 - lane);
        parts.push(match run {
            1 => lane.to_string(),
            _ => format!("{lane} to {}", lane + run - 1),
        });
        lane += run;
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: FindingKind) -> Finding {
        Finding {
            check: kind.check(),
            kind,
            severity: Severity::Error,
            kernel: "sum".to_owned(),
            block: [1, 2, 3],
            thread: [4, 5, 0],
            source: SourceLine {
                file: Some("kernels/sum.cu".to_owned()),
                line: 7,
                ptx_line: 70,
            },
            other: None,
            details: "4 bytes at offset 0x8 of shared memory".to_owned(),
            likely_cause: "a slip".to_owned(),
            count: 1,
        }
    }

    #[test]
    fn display_shows_the_problem_both_accesses_and_the_cause() {
        let text = Finding {
            other: Some(OtherAccess {
                block: [1, 2, 3],
                thread: [0; 3],
                source: SourceLine {
                    ptx_line: 60,
                    ..SourceLine::default()
                },
                write: true,
            }),
            count: 12,
            ..finding(FindingKind::ReadAfterWrite)
        }
        .to_string();
        let expected = "error: race: read-after-write data race (12 times)
  in kernel sum, block (1, 2, 3), thread (4, 5, 0)
  reads at kernels/sum.cu:7 (PTX line 70)
  block (1, 2, 3), thread (0, 0, 0) writes at PTX line 60
  4 bytes at offset 0x8 of shared memory
  likely cause: a slip";
        assert_eq!(text, expected);
    }

    #[test]
    fn unknown_parts_are_omitted() {
        let text = Finding {
            details: String::new(),
            likely_cause: String::new(),
            ..finding(FindingKind::InterBlockRace)
        }
        .to_string();
        assert!(!text.contains("thread"), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
        let leak = Finding {
            kernel: String::new(),
            ..finding(FindingKind::Leaked)
        };
        assert!(!leak.to_string().contains("in kernel"), "{leak}");
    }

    #[test]
    fn findings_are_merged_by_source_line() {
        let first = finding(FindingKind::UninitializedShared);
        let mut copy = first.clone();
        copy.source.ptx_line = 71;
        assert!(first.is_same_bug(&copy));
        copy.source.line = 8;
        assert!(!first.is_same_bug(&copy));
        // Without source lines, each PTX line is a separate finding.
        let mut unknown = first.clone();
        unknown.source = SourceLine::default();
        assert!(!unknown.is_same_bug(&unknown.clone()));
        assert!(!first.is_same_bug(&finding(FindingKind::ReadAfterWrite)));
    }

    #[test]
    fn numbers_are_formatted() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].map(ordinal);
        let expected = [
            "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th",
        ];
        assert_eq!(ordinals, expected);
        assert_eq!(lanes(u32::MAX), "0 to 31");
        assert_eq!(lanes(1 << 31), "31");
        assert_eq!(lanes(0b10_0011_1101), "0, 2 to 5, 9");
        assert_eq!(count(1), "1 byte");
    }
}
