//! Findings: the bugs that checks report, their kinds and messages.

use super::call_site;
use super::cause::Cause;
use super::details::{Bytes, Details, Origin, Unread, Unwritten, Writer};
use super::selection::Check;
use crate::isa::{Listing, SourceLine};
use crate::memory::coverage::{Coverage, InputOrigin};
use crate::memory::global::{AllocationKind, AllocationRecord, CallSite};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A finding: one bug, with the number of its occurrences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The check that reported the finding.
    pub check: Check,
    /// The kind of bug.
    pub kind: FindingKind,
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
    /// True if the thread's instruction is an atomic.
    #[serde(default)]
    pub atomic: bool,
    /// The other access of a data race; `None` for other kinds.
    pub other: Option<OtherAccess>,
    /// The accessed memory and other evidence.
    pub details: Details,
    /// The usual cause of such a bug; `None` if there is no usual one.
    pub likely_cause: Option<Cause>,
    /// The number of occurrences; each execution by each thread counts.
    pub count: u64,
    /// The first and the last PTX line of the instructions at `source`, of which the compiler may make copies.
    pub ptx_lines: [u32; 2],
}

/// The other access of a data race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherAccess {
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub source: SourceLine,
    /// True if the other access was a write, false if it was a read.
    pub write: bool,
    /// True if the other access was an atomic.
    #[serde(default)]
    pub atomic: bool,
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
    /// Creates the finding for an allocation that was never freed.
    pub(crate) fn leak(allocation: AllocationRecord, kind: AllocationKind) -> Finding {
        let details = Details::Leak(allocation, kind);
        Finding::of_program(FindingKind::Leaked, Severity::Error, details)
    }

    /// Creates the finding for a copy of uninitialized elements of an allocation to the host.
    pub(crate) fn unwritten_result(coverage: Coverage, allocation: AllocationRecord) -> Finding {
        let Coverage {
            width,
            elements,
            unwritten,
            first,
            kernel,
        } = coverage;
        let unwritten = match width {
            _ if unwritten == elements => Unwritten::All(Bytes(elements * width)),
            1 => Unwritten::Bytes(unwritten, elements, first),
            _ => Unwritten::Elements(unwritten, elements, Bytes(width), first),
        };
        let likely_cause = match unwritten {
            Unwritten::All(_) => Cause::ResultNotWritten,
            _ => Cause::ResultIncomplete,
        };
        let details = Details::Unwritten(
            unwritten,
            allocation,
            kernel.map_or(Writer::None, Writer::Kernel),
        );
        Finding {
            likely_cause: Some(likely_cause),
            ..Finding::of_program(FindingKind::UnwrittenResult, Severity::Error, details)
        }
        .at(call_site::locate(None))
    }

    /// Creates the finding for input elements of an allocation that nothing has read.
    pub(crate) fn unused_input(
        coverage: Coverage,
        origin: InputOrigin,
        allocation: AllocationRecord,
    ) -> Finding {
        let Coverage {
            width,
            elements,
            unwritten: unread,
            first,
            ..
        } = coverage;
        let origin = match origin {
            InputOrigin::Copied => Origin::Copied,
            InputOrigin::Set => Origin::Set,
        };
        let (unread, likely_cause) = match width {
            _ if unread == elements => (
                Unread::All(Bytes(elements * width), origin, allocation),
                Cause::InputNotRead,
            ),
            1 => (
                Unread::Bytes(unread, elements, origin, allocation, first),
                Cause::InputPartlyRead,
            ),
            _ => (
                Unread::Elements(unread, elements, Bytes(width), origin, allocation, first),
                Cause::InputPartlyRead,
            ),
        };
        let details = Details::Unread(unread);
        Finding {
            likely_cause: Some(likely_cause),
            ..Finding::of_program(FindingKind::UnusedInput, Severity::Warning, details)
        }
    }

    /// Sets the line of the program, if it is known.
    pub fn at(mut self, call_site: Option<CallSite>) -> Finding {
        if let Some(CallSite { file, line }) = call_site {
            (self.source.file, self.source.line) = (Some(file), line);
        }
        self
    }

    /// Creates the finding for a kernel with several `extern` arrays in shared memory; `None` for other kernels.
    pub(crate) fn extern_arrays(listing: &Listing, kernel: usize) -> Option<Finding> {
        let kernel = &listing.kernels[kernel];
        let arrays = kernel.extern_arrays.as_ref()?;
        let details = Details::ExternArrays(arrays.names.iter().cloned().collect());
        let (ptx_line, location) = arrays.used_at;
        let source = listing.source_at(ptx_line, location);
        Some(Finding {
            kernel: kernel.name.clone(),
            ptx_lines: [source.ptx_line; 2],
            source,
            ..Finding::of_program(FindingKind::ExternArrays, Severity::Warning, details)
        })
    }

    /// Creates a finding that does not concern a kernel.
    pub fn of_program(kind: FindingKind, severity: Severity, details: Details) -> Finding {
        Finding {
            check: kind.check(),
            kind,
            severity,
            kernel: String::new(),
            block: [0; 3],
            thread: [0; 3],
            source: SourceLine::default(),
            atomic: false,
            other: None,
            details,
            likely_cause: kind.likely_cause(),
            count: 1,
            ptx_lines: [0; 2],
        }
    }

    /// Creates a finding about two operations of streams. Its position is the call of the later one, if it is known.
    pub fn of_streams(kind: FindingKind, details: Details, cause: Cause) -> Finding {
        let line = match &details {
            Details::Streams(later, ..) => later.line().cloned(),
            _ => None,
        };
        Finding {
            likely_cause: Some(cause),
            ..Finding::of_program(kind, Severity::Error, details)
        }
        .at(line)
    }

    /// Returns true if a GPU does not detect what was found, so that the kernel continued.
    pub fn is_undetected(&self) -> bool {
        matches!(
            self.details,
            Details::UndetectedFault(..) | Details::UndetectedSize(..)
        )
    }

    /// Returns true if the finding is a fault, which ended the kernel.
    pub fn stops(&self) -> bool {
        self.kind.stops() && !self.is_undetected()
    }

    /// Returns true if both findings are the same bug at the same source lines. For races one known line is
    /// enough: the compiler drops the line of an access that it moves, and may make copies of it.
    pub fn is_same_bug(&self, other: &Finding) -> bool {
        let is_known = self.source.line > 0;
        let same_other = match (&self.other, &other.other) {
            (None, None) => true,
            (Some(first), Some(other)) => {
                let (first, other) = (&first.source, &other.source);
                first.is_same_line(other) || is_known && first.line == 0 && other.line == 0
            }
            _ => false,
        };
        (self.kind, self.severity, &self.kernel) == (other.kind, other.severity, &other.kernel)
            && self.source.is_same_line(&other.source)
            && same_other
            && self.stops() == other.stops()
            && self.details.has_same_calls(&other.details)
    }

    /// Adds the occurrences of the same bug at other instructions or in another launch.
    pub fn merge(&mut self, other: &Finding) {
        self.count += other.count;
        for ptx_line in other.ptx_lines {
            self.ptx_lines[0] = self.ptx_lines[0].min(ptx_line);
            self.ptx_lines[1] = self.ptx_lines[1].max(ptx_line);
        }
    }

    /// Returns `reads `, `writes ` or `updates atomically ` if the kind of finding determines the access, otherwise an
    /// empty string.
    fn verb(&self) -> &'static str {
        match self.kind {
            FindingKind::ReadAfterWrite => "reads ",
            FindingKind::WriteAfterRead
            | FindingKind::WriteAfterWrite
            | FindingKind::InterBlockRace => match self.atomic {
                true => "updates atomically ",
                false => "writes ",
            },
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
        let [first, last] = self.ptx_lines;
        match self.count {
            ..=1 => {}
            count if first < last => write!(f, " ({count} times, PTX lines {first} to {last})")?,
            count => write!(f, " ({count} times)")?,
        }
        if !self.kernel.is_empty() {
            write!(f, "\n  in kernel {}", self.kernel)?;
            if self.kind != FindingKind::ExternArrays {
                f.write_str(", ")?;
                self.write_thread(f, self.block, self.thread)?;
            }
            write!(f, "\n  {}at {}", self.verb(), self.source)?;
        }
        let is_in_details = matches!(self.details, Details::Streams(..));
        if self.kernel.is_empty() && self.source.line > 0 && !is_in_details {
            write!(f, "\n  at {}", self.source)?;
        }
        if let Some(other) = &self.other {
            let verb = match (other.atomic, other.write) {
                (true, _) => "updates atomically",
                (false, true) => "writes",
                (false, false) => "reads",
            };
            write!(f, "\n  ")?;
            self.write_thread(f, other.block, other.thread)?;
            write!(f, " {verb} at {}", other.source)?;
        }
        if self.details != Details::None {
            write!(f, "\n  {}", self.details)?;
        }
        if let Some(cause) = &self.likely_cause {
            write!(f, "\n  likely cause: {cause}")?;
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

/// Defines [`FindingKind`]. The columns: the check that reports the kind, its name in records, the problem as in
/// the first line of a message, and the usual cause.
macro_rules! finding_kinds {
    ($($(#[$meta:meta])* $kind:ident => $check:ident, $name:literal, $title:literal, $cause:expr;)*) => {
        /// The kind of a finding.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum FindingKind {
            $($(#[$meta])* $kind),*
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &[FindingKind] = &[$(FindingKind::$kind),*];

            /// Returns the kind's name in records, for example `out-of-bounds`.
            pub fn name(self) -> &'static str {
                match self {
                    $(FindingKind::$kind => $name),*
                }
            }

            /// Returns the check that reports this kind.
            pub fn check(self) -> Check {
                match self {
                    $(FindingKind::$kind => Check::$check),*
                }
            }

            /// Returns the problem, as in the first line of a message: "misaligned address".
            pub fn title(self) -> &'static str {
                match self {
                    $(FindingKind::$kind => $title),*
                }
            }

            /// Returns the usual cause; `None` if it depends on the finding's [`Details`].
            pub fn likely_cause(self) -> Option<Cause> {
                match self {
                    $(FindingKind::$kind => $cause),*
                }
            }
        }
    };
}

finding_kinds! {
    /// An access outside all allocations.
    OutOfBounds => Memory, "out-of-bounds", "out-of-bounds access", None;
    /// An access to freed memory.
    UseAfterFree => Memory, "use-after-free", "use after free", None;
    /// An access at or near address zero.
    NullPointer => Memory, "null-pointer", "null-pointer access", None;
    /// An address of one state space used in another, or a host address used on the device.
    WrongSpace => Memory, "wrong-space", "address of the wrong memory space", None;
    /// An index into one shared-memory array that reaches another.
    OtherArray => Memory, "other-array",
        "out-of-bounds index into a shared-memory array", Some(Cause::OtherArraysSize);
    /// An address that is not a multiple of the access size.
    Misaligned => Memory, "misaligned", "misaligned address", None;
    /// A texture coordinate outside the texture, whose address mode does not apply.
    IgnoredAddressMode => Memory, "ignored-address-mode",
        "texture coordinate outside the texture, whose address mode needs normalized coordinates",
        Some(Cause::NormalizedCoordinates);
    /// Several `extern` arrays in shared memory, which overlap.
    ExternArrays => Memory, "extern-arrays",
        "several `extern __shared__` arrays in one kernel", Some(Cause::ExternArraysOverlap);
    /// A call that exceeds the stack.
    StackOverflow => Memory, "stack-overflow", "stack overflow", None;
    /// A call through a pointer that is not a function.
    InvalidCall => Memory, "invalid-call", "call through an invalid function pointer", None;
    /// A read of uninitialized device memory.
    UninitializedDevice => Init, "unwritten-device-memory",
        "read of uninitialized device memory", Some(Cause::BufferNotInitialized);
    /// A read of elements of several bytes that a fill has set by bytes.
    ByteFill => Init, "byte-fill",
        "read of memory that was set byte by byte", Some(Cause::FillByBytes);
    /// A copy of uninitialized device memory to the host.
    UnwrittenResult => Init, "unwritten-result",
        "copy of uninitialized device memory to the host", Some(Cause::ResultIncomplete);
    /// A read of shared memory that no thread of the block has written.
    UninitializedShared => Init, "unwritten-shared-memory",
        "read of uninitialized shared memory", Some(Cause::TileNotLoaded);
    /// A read of local memory that its thread has not written.
    UninitializedLocal => Init, "unwritten-local-memory",
        "read of uninitialized local memory", Some(Cause::LocalNotInitialized);
    /// A read that is not ordered after another thread's write.
    ReadAfterWrite => Race, "read-after-write", "read-after-write data race", Some(Cause::MissingBarrier);
    /// A write that is not ordered after another thread's read.
    WriteAfterRead => Race, "write-after-read", "write-after-read data race", Some(Cause::MissingBarrierInLoop);
    /// Unordered writes of different values by two threads.
    WriteAfterWrite => Race, "write-after-write", "write-after-write data race", Some(Cause::SumWithoutAtomic);
    /// One store whose lanes write different values to the same address.
    ConflictingStore => Race, "one-store-two-values",
        "data race within one store: different values for one address", Some(Cause::SameIndex);
    /// An access to the destination of an asynchronous copy before the copy was waited for.
    CopyNotAwaited => Race, "copy-not-awaited",
        "data race with an asynchronous copy that is still pending", Some(Cause::CopyNotAwaited);
    /// Unordered accesses by different blocks to the same device memory, at least one of which writes.
    InterBlockRace => Race, "between-blocks",
        "data race between blocks on device memory", Some(Cause::BlockOrder);
    /// A barrier that only part of a warp reaches.
    DivergentBarrier => Sync, "divergent-barrier",
        "divergent barrier: only part of a warp reaches it", Some(Cause::BarrierInBranch);
    /// A barrier of the whole block that completes although some of its threads have exited.
    EndedBeforeBarrier => Sync, "ended-before-barrier",
        "barrier that not all threads of the block reach: some have exited", Some(Cause::BarrierSkipped);
    /// A barrier that completes for threads at different barrier instructions.
    MixedBarriers => Sync, "mixed-barriers",
        "one barrier reached from different places in the code", Some(Cause::BarrierInEachBranch);
    /// A barrier that never completes.
    BarrierNeverOpens => Sync, "barrier-never-opens", "deadlock at a barrier", Some(Cause::BarrierNotReached);
    /// A barrier of the grid in a launch that is not cooperative.
    GridBarrier => Sync, "grid-barrier",
        "grid barrier in a launch that is not cooperative", Some(Cause::NotCooperative);
    /// A barrier number that does not exist, or a thread count that is not a multiple of the warp size.
    InvalidBarrier => Sync, "invalid-barrier", "invalid barrier", Some(Cause::BarrierThreadCount);
    /// A warp-wide instruction whose mask does not include the executing lane.
    MaskLacksCaller => Sync, "mask-lacks-caller",
        "mask that does not include the calling lane", Some(Cause::MaskOfOtherLanes);
    /// A warp-wide instruction whose mask includes lanes that do not participate.
    AbsentLanes => Sync, "absent-lanes",
        "mask that includes lanes that do not participate", Some(Cause::FullMaskInBranch);
    /// A shuffle that reads from a lane that does not participate.
    ShuffleFromAbsentLane => Sync, "asked-absent-lane",
        "shuffle from lanes that do not participate", Some(Cause::ShuffleBeyondMask);
    /// A warp-wide instruction in a warp with fewer than 32 threads.
    WarpIncomplete => Sync, "warp-incomplete",
        "warp-wide instruction in an incomplete warp", Some(Cause::PartialWarp);
    /// Memory that is still allocated when its context is destroyed.
    Leaked => Leak, "leaked", "memory leak", Some(Cause::ForgottenBuffer);
    /// An access by the host to host memory that work in a stream still uses.
    HostAccessed => Host, "host-memory-touched",
        "host memory accessed while work in a stream still uses it", Some(Cause::StreamNotAwaited);
    /// A change to host memory that a graph had not copied yet.
    HostChanged => Host, "host-memory-changed",
        "host memory changed before a graph copied it", Some(Cause::StreamNotAwaited);
    /// Operations of two streams that use the same memory, one of which writes, in no defined order.
    StreamRace => Stream, "stream-race", "data race between streams", None;
    /// Nodes of a graph that use the same memory, one of which writes, without a dependency between them.
    GraphRace => Stream, "graph-race", "data race between nodes of a graph", Some(Cause::NodesWithoutEdge);
    /// A free of memory that work in another stream may still use.
    FreedInUse => Stream, "freed-in-use", "memory freed while work in a stream may still use it", None;
    /// A use of memory in a stream that does not wait for its allocation in another.
    UsedBeforeAllocation => Stream, "used-before-allocation",
        "memory used in a stream that does not wait for its allocation", None;
    /// Elements copied from the host, or set, that nothing has read.
    UnusedInput => Unused, "unused-input",
        "input that no kernel and no copy has read", Some(Cause::InputPartlyRead);
}

impl FindingKind {
    /// Returns true if this kind raises a fault that ends the kernel, even without checks, if a GPU detects it.
    fn stops(self) -> bool {
        self.check() == Check::Memory
            && !matches!(
                self,
                FindingKind::OtherArray
                    | FindingKind::ExternArrays
                    | FindingKind::IgnoredAddressMode
            )
            || matches!(
                self,
                FindingKind::BarrierNeverOpens
                    | FindingKind::GridBarrier
                    | FindingKind::InvalidBarrier
                    | FindingKind::WarpIncomplete
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::details::BlockBytes;

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
                is_nearest: false,
            },
            atomic: false,
            other: None,
            details: Details::Block(BlockBytes::Shared(Bytes(4), 8)),
            likely_cause: Some(Cause::SameIndex),
            count: 1,
            ptx_lines: [70; 2],
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
                atomic: false,
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
  likely cause: an index that is the same for several threads";
        assert_eq!(text, expected);
        let update = finding(FindingKind::WriteAfterWrite);
        let atomic = Finding {
            atomic: true,
            ..update
        };
        let text = atomic.to_string();
        assert!(
            text.contains("updates atomically at kernels/sum.cu:7"),
            "{text}"
        );
    }

    #[test]
    fn merged_findings_list_their_ptx_lines() {
        let mut merged = finding(FindingKind::UninitializedShared);
        for ptx_line in [93, 60] {
            let mut copy = merged.clone();
            (copy.count, copy.ptx_lines) = (5, [ptx_line; 2]);
            merged.merge(&copy);
        }
        let text = merged.to_string();
        assert!(text.contains("(11 times, PTX lines 60 to 93)"), "{text}");
        merged.source.is_nearest = true;
        let text = merged.to_string();
        let line = "at kernels/sum.cu:7 (PTX line 70, nearest known line)";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn unknown_parts_are_omitted() {
        let text = Finding {
            details: Details::None,
            likely_cause: None,
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
        let mut other = unknown.clone();
        other.source.ptx_line = 1;
        assert!(!unknown.is_same_bug(&other));
        assert!(!first.is_same_bug(&finding(FindingKind::ReadAfterWrite)));
        // For a race one of the two lines is enough.
        let race = |ptx_line| Finding {
            other: Some(OtherAccess {
                block: [0; 3],
                thread: [0; 3],
                source: SourceLine {
                    ptx_line,
                    ..SourceLine::default()
                },
                write: true,
                atomic: false,
            }),
            ..finding(FindingKind::ReadAfterWrite)
        };
        assert!(race(60).is_same_bug(&race(61)));
    }
}
