//! What a check found, for a reader.

use super::Check;
use super::describe::allocation;
use crate::isa::SourceLine;
use crate::memory::global::Known;
use std::fmt;

/// One mistake, as often as it was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Which check found it.
    pub check: Check,
    /// What it is.
    pub kind: Kind,
    /// How bad.
    pub severity: Severity,
    /// The kernel's name; empty for what no kernel did.
    pub kernel: String,
    /// The block that was seen to do it, the lowest where there are several.
    pub block: [u32; 3],
    /// Its thread; zero for [`Kind::BetweenBlocks`], of which only blocks are known.
    pub thread: [u32; 3],
    /// The line at which it did it.
    pub source: SourceLine,
    /// Of a race, the other access.
    pub other: Option<Other>,
    /// What was touched, and what else there is to say. A sentence or two; may be empty.
    pub what: String,
    /// What usually causes it. A sentence; may be empty.
    pub usually: String,
    /// How often, a thread at a time.
    pub count: u64,
}

/// The other access of a race.
#[derive(Debug, Clone, PartialEq)]
pub struct Other {
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub source: SourceLine,
    /// It wrote; else it read.
    pub write: bool,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The kernel is wrong.
    Error,
    /// It is wrong, unless it is meant just so.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An access outside every allocation.
    OutOfBounds,
    /// An access of memory that was freed.
    UseAfterFree,
    /// An access at or near address zero.
    NullPointer,
    /// An address of one state space used in another, or one of the host's.
    WrongSpace,
    /// An address that is no multiple of the access's size.
    Misaligned,
    /// A call deeper than the stack.
    StackOverflow,
    /// A call through what is no function.
    InvalidCall,
    /// A read of device memory that nobody wrote.
    UnwrittenDevice,
    /// A read of shared memory that no thread of the block wrote.
    UnwrittenShared,
    /// A thread reads what another wrote, with nothing that orders the two.
    ReadAfterWrite,
    /// A thread writes what another read, with nothing that orders the two.
    WriteAfterRead,
    /// Two threads write different values, with nothing that orders the two.
    WriteAfterWrite,
    /// The lanes of one store write different values to one place.
    OneStore,
    /// What an asynchronous copy brings is used before anybody waited for it.
    CopyNotAwaited,
    /// Blocks access the same device memory, and one of them writes.
    BetweenBlocks,
    /// A barrier that only part of a warp reaches.
    DivergentBarrier,
    /// A barrier that opens for threads that stand at different ones in the source.
    MixedBarriers,
    /// A barrier that never opens.
    BarrierNeverOpens,
    /// A barrier that does not exist, or for a number of threads that is none of whole warps.
    InvalidBarrier,
    /// A warp-wide instruction whose mask does not name the lane that runs it.
    MaskLacksCaller,
    /// A warp-wide instruction whose mask names lanes that do not come.
    AbsentLanes,
    /// An instruction of whole warps in a warp that is not whole.
    WarpIncomplete,
    /// Memory still allocated when its context went.
    Leaked,
}

impl Kind {
    /// In records: `out-of-bounds`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::OutOfBounds => "out-of-bounds",
            Kind::UseAfterFree => "use-after-free",
            Kind::NullPointer => "null-pointer",
            Kind::WrongSpace => "wrong-space",
            Kind::Misaligned => "misaligned",
            Kind::StackOverflow => "stack-overflow",
            Kind::InvalidCall => "invalid-call",
            Kind::UnwrittenDevice => "unwritten-device-memory",
            Kind::UnwrittenShared => "unwritten-shared-memory",
            Kind::ReadAfterWrite => "read-after-write",
            Kind::WriteAfterRead => "write-after-read",
            Kind::WriteAfterWrite => "write-after-write",
            Kind::OneStore => "one-store-two-values",
            Kind::CopyNotAwaited => "copy-not-awaited",
            Kind::BetweenBlocks => "between-blocks",
            Kind::DivergentBarrier => "divergent-barrier",
            Kind::MixedBarriers => "mixed-barriers",
            Kind::BarrierNeverOpens => "barrier-never-opens",
            Kind::InvalidBarrier => "invalid-barrier",
            Kind::MaskLacksCaller => "mask-lacks-caller",
            Kind::AbsentLanes => "absent-lanes",
            Kind::WarpIncomplete => "warp-incomplete",
            Kind::Leaked => "leaked",
        }
    }

    /// The check that finds it.
    pub fn check(self) -> Check {
        match self {
            Kind::OutOfBounds
            | Kind::UseAfterFree
            | Kind::NullPointer
            | Kind::WrongSpace
            | Kind::Misaligned
            | Kind::StackOverflow
            | Kind::InvalidCall => Check::Memory,
            Kind::UnwrittenDevice | Kind::UnwrittenShared => Check::Init,
            Kind::ReadAfterWrite
            | Kind::WriteAfterRead
            | Kind::WriteAfterWrite
            | Kind::OneStore
            | Kind::CopyNotAwaited
            | Kind::BetweenBlocks => Check::Race,
            Kind::DivergentBarrier
            | Kind::MixedBarriers
            | Kind::BarrierNeverOpens
            | Kind::InvalidBarrier
            | Kind::MaskLacksCaller
            | Kind::AbsentLanes
            | Kind::WarpIncomplete => Check::Sync,
            Kind::Leaked => Check::Leak,
        }
    }

    /// Whether it stops the kernel, checked or not.
    pub fn stops(self) -> bool {
        self.check() == Check::Memory
            || matches!(
                self,
                Kind::BarrierNeverOpens | Kind::InvalidBarrier | Kind::WarpIncomplete
            )
    }

    /// What it is, in words that go on after "the thread …".
    fn title(self) -> &'static str {
        match self {
            Kind::OutOfBounds => "an access outside every allocation",
            Kind::UseAfterFree => "an access of memory that was freed",
            Kind::NullPointer => "an access through a null pointer",
            Kind::WrongSpace => "an address of another memory",
            Kind::Misaligned => "a misaligned address",
            Kind::StackOverflow => "a stack overflow",
            Kind::InvalidCall => "a call through what is no function",
            Kind::UnwrittenDevice => "a read of device memory that nobody wrote",
            Kind::UnwrittenShared => "a read of shared memory that no thread of the block wrote",
            Kind::ReadAfterWrite => "a read of what another thread may not have written yet",
            Kind::WriteAfterRead => "a write of what another thread may not have read yet",
            Kind::WriteAfterWrite => "two threads write, and either may be last",
            Kind::OneStore => "one store with different values for one place",
            Kind::CopyNotAwaited => "a use of what an asynchronous copy has not brought yet",
            Kind::BetweenBlocks => "blocks use the same device memory, and one writes",
            Kind::DivergentBarrier => "a barrier that only part of a warp reaches",
            Kind::MixedBarriers => "one barrier, reached at different places",
            Kind::BarrierNeverOpens => "a barrier that never opens",
            Kind::InvalidBarrier => "a barrier that does not exist",
            Kind::MaskLacksCaller => "a mask that does not name the calling lane",
            Kind::AbsentLanes => "a mask that names lanes that do not come",
            Kind::WarpIncomplete => "an instruction for whole warps in part of one",
            Kind::Leaked => "memory that nobody freed",
        }
    }

    /// What usually causes it, a sentence; empty where `what` has said it.
    pub(crate) fn usually(self) -> &'static str {
        match self {
            Kind::UnwrittenDevice => "nobody copied to it or set it to zero, or only to part of it",
            Kind::UnwrittenShared => {
                "the edge or the halo of a tile that no thread loads, or a thread that skips its \
                 store"
            }
            Kind::ReadAfterWrite => "a missing `__syncthreads()` between the two lines",
            Kind::WriteAfterRead => {
                "a missing `__syncthreads()` at the end of a loop, before the next round writes"
            }
            Kind::WriteAfterWrite => "two threads with one index, or a sum without `atomicAdd`",
            Kind::OneStore => "an index that is the same for several threads",
            Kind::CopyNotAwaited => {
                "a missing `cp.async.wait_group`, or one that leaves too many groups on their way"
            }
            Kind::BetweenBlocks => {
                "blocks run in any order, some at the same time: a result in place of the input, \
                 or a sum over blocks without `atomicAdd`"
            }
            Kind::DivergentBarrier => {
                "`__syncthreads()` in an `if`, or in a loop that threads leave at different times"
            }
            Kind::MixedBarriers => {
                "`__syncthreads()` in both branches of an `if`, or in a loop with another number \
                 of rounds for some warps"
            }
            Kind::BarrierNeverOpens => {
                "`__syncthreads()` in an `if`, or a thread count that nobody makes full"
            }
            Kind::InvalidBarrier => "a number of threads that is no multiple of 32",
            Kind::MaskLacksCaller => "a mask made for other lanes than those that come here",
            Kind::AbsentLanes => {
                "a full mask inside an `if`: take the mask from `__ballot_sync` before it, or move \
                 the call out"
            }
            Kind::Leaked => {
                "a buffer that was forgotten (`mem::forget`, `into_raw`), or dropped after its \
                 context"
            }
            Kind::WarpIncomplete => "a block that is no multiple of 32 threads",
            _ => "",
        }
    }
}

impl Finding {
    /// An allocation that was still there, made by such a call.
    pub(crate) fn leak(known: &Known, call: &str) -> Finding {
        let kind = Kind::Leaked;
        Finding {
            check: kind.check(),
            kind,
            severity: Severity::Error,
            kernel: String::new(),
            block: [0; 3],
            thread: [0; 3],
            source: SourceLine::default(),
            other: None,
            what: format!("{} by {call}", allocation(known)),
            usually: kind.usually().to_owned(),
            count: 1,
        }
    }

    /// Whether it is the same mistake in the same lines of the source, which have to be known.
    pub(super) fn is_alike(&self, other: &Finding) -> bool {
        let alike = |one: &SourceLine, other: &SourceLine| {
            one.line > 0 && (one.line, &one.file) == (other.line, &other.file)
        };
        let others_alike = match (&self.other, &other.other) {
            (None, None) => true,
            (Some(one), Some(other)) => alike(&one.source, &other.source),
            _ => false,
        };
        (self.kind, self.severity) == (other.kind, other.severity)
            && alike(&self.source, &other.source)
            && others_alike
    }

    /// Which access this thread did, where the kind says it.
    fn does(&self) -> &'static str {
        match self.kind {
            Kind::ReadAfterWrite => "reads ",
            Kind::WriteAfterRead | Kind::WriteAfterWrite | Kind::BetweenBlocks => "writes ",
            _ => "",
        }
    }

    /// A block, and its thread where that is known: of races between blocks it is not.
    fn who(&self, f: &mut fmt::Formatter<'_>, block: [u32; 3], thread: [u32; 3]) -> fmt::Result {
        write!(f, "block {}", Triple(block))?;
        match self.kind {
            Kind::BetweenBlocks => Ok(()),
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
            self.who(f, self.block, self.thread)?;
            write!(f, "\n  {}at {}", self.does(), self.source)?;
        }
        if let Some(other) = &self.other {
            let does = if other.write { "writes" } else { "reads" };
            write!(f, "\n  ")?;
            self.who(f, other.block, other.thread)?;
            write!(f, " {does} at {}", other.source)?;
        }
        if !self.what.is_empty() {
            write!(f, "\n  {}", self.what)?;
        }
        if !self.usually.is_empty() {
            write!(f, "\n  usually: {}", self.usually)?;
        }
        Ok(())
    }
}

/// x, y and z.
struct Triple([u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: Kind) -> Finding {
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
            what: "4 bytes at offset 0x8 of shared memory".to_owned(),
            usually: "a slip".to_owned(),
            count: 1,
        }
    }

    #[test]
    fn a_finding_says_what_and_where() {
        let text = Finding {
            other: Some(Other {
                block: [1, 2, 3],
                thread: [0; 3],
                source: SourceLine {
                    ptx_line: 60,
                    ..SourceLine::default()
                },
                write: true,
            }),
            count: 12,
            ..finding(Kind::ReadAfterWrite)
        }
        .to_string();
        let wanted =
            "error: race: a read of what another thread may not have written yet (12 times)
  in kernel sum, block (1, 2, 3), thread (4, 5, 0)
  reads at kernels/sum.cu:7 (PTX line 70)
  block (1, 2, 3), thread (0, 0, 0) writes at PTX line 60
  4 bytes at offset 0x8 of shared memory
  usually: a slip";
        assert_eq!(text, wanted);
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let text = Finding {
            what: String::new(),
            usually: String::new(),
            ..finding(Kind::BetweenBlocks)
        }
        .to_string();
        assert!(!text.contains("thread"), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
        let leak = Finding {
            kernel: String::new(),
            ..finding(Kind::Leaked)
        };
        assert!(!leak.to_string().contains("in kernel"), "{leak}");
    }

    #[test]
    fn copies_of_a_line_are_alike_and_other_lines_are_not() {
        let one = finding(Kind::UnwrittenShared);
        let mut copy = one.clone();
        copy.source.ptx_line = 71;
        assert!(one.is_alike(&copy));
        copy.source.line = 8;
        assert!(!one.is_alike(&copy));
        // Without a source each line of the PTX is one of its own.
        let mut unknown = one.clone();
        unknown.source = SourceLine::default();
        assert!(!unknown.is_alike(&unknown.clone()));
        assert!(!one.is_alike(&finding(Kind::ReadAfterWrite)));
    }
}
