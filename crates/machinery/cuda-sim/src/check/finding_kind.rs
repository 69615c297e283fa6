//! Which mistakes there are: the check that finds each, and how it is told.

use serde::{Deserialize, Serialize};

use super::choice::Check;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FindingKind {
    /// An access outside every allocation.
    OutOfBounds,
    /// An access of memory that was freed.
    UseAfterFree,
    /// An access at or near address zero.
    NullPointer,
    /// An address of one state space used in another, or one of the host's.
    WrongSpace,
    /// An index of one array in shared memory that leads into another.
    OtherArray,
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
    /// A read of local memory that its thread has not written.
    UnwrittenLocal,
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
    /// A barrier of the whole block that opens though some of its threads have ended.
    EndedBeforeBarrier,
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
    /// A shuffle that asks a lane which takes no part in it.
    AskedAbsentLane,
    /// An instruction of whole warps in a warp that is not whole.
    WarpIncomplete,
    /// Memory still allocated when its context went.
    Leaked,
    /// The program touches memory of the host's that work in a stream still uses.
    HostTouched,
    /// The program frees such memory.
    HostFreed,
    /// The program has changed what a graph was still to copy.
    HostChanged,
}

impl FindingKind {
    /// The kind's name in records, as `out-of-bounds`.
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
            FindingKind::UnwrittenDevice => "unwritten-device-memory",
            FindingKind::UnwrittenShared => "unwritten-shared-memory",
            FindingKind::UnwrittenLocal => "unwritten-local-memory",
            FindingKind::ReadAfterWrite => "read-after-write",
            FindingKind::WriteAfterRead => "write-after-read",
            FindingKind::WriteAfterWrite => "write-after-write",
            FindingKind::OneStore => "one-store-two-values",
            FindingKind::CopyNotAwaited => "copy-not-awaited",
            FindingKind::BetweenBlocks => "between-blocks",
            FindingKind::DivergentBarrier => "divergent-barrier",
            FindingKind::EndedBeforeBarrier => "ended-before-barrier",
            FindingKind::MixedBarriers => "mixed-barriers",
            FindingKind::BarrierNeverOpens => "barrier-never-opens",
            FindingKind::InvalidBarrier => "invalid-barrier",
            FindingKind::MaskLacksCaller => "mask-lacks-caller",
            FindingKind::AbsentLanes => "absent-lanes",
            FindingKind::AskedAbsentLane => "asked-absent-lane",
            FindingKind::WarpIncomplete => "warp-incomplete",
            FindingKind::Leaked => "leaked",
            FindingKind::HostTouched => "host-memory-touched",
            FindingKind::HostFreed => "host-memory-freed",
            FindingKind::HostChanged => "host-memory-changed",
        }
    }

    /// The check that finds such a mistake.
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
            FindingKind::UnwrittenDevice
            | FindingKind::UnwrittenShared
            | FindingKind::UnwrittenLocal => Check::Init,
            FindingKind::ReadAfterWrite
            | FindingKind::WriteAfterRead
            | FindingKind::WriteAfterWrite
            | FindingKind::OneStore
            | FindingKind::CopyNotAwaited
            | FindingKind::BetweenBlocks => Check::Race,
            FindingKind::DivergentBarrier
            | FindingKind::EndedBeforeBarrier
            | FindingKind::MixedBarriers
            | FindingKind::BarrierNeverOpens
            | FindingKind::InvalidBarrier
            | FindingKind::MaskLacksCaller
            | FindingKind::AbsentLanes
            | FindingKind::AskedAbsentLane
            | FindingKind::WarpIncomplete => Check::Sync,
            FindingKind::Leaked => Check::Leak,
            FindingKind::HostTouched | FindingKind::HostFreed | FindingKind::HostChanged => {
                Check::Host
            }
        }
    }

    /// Whether such a mistake stops the kernel, also one that runs without checks.
    pub fn stops(self) -> bool {
        self.check() == Check::Memory && self != FindingKind::OtherArray
            || matches!(
                self,
                FindingKind::BarrierNeverOpens
                    | FindingKind::InvalidBarrier
                    | FindingKind::WarpIncomplete
            )
    }

    /// What the mistake is, as the first line of a message has it: "a misaligned address".
    pub(super) fn title(self) -> &'static str {
        match self {
            FindingKind::OutOfBounds => "an access outside every allocation",
            FindingKind::UseAfterFree => "an access of memory that was freed",
            FindingKind::NullPointer => "an access through a null pointer",
            FindingKind::WrongSpace => "an address of another memory",
            FindingKind::OtherArray => "an index beyond an array in shared memory",
            FindingKind::Misaligned => "a misaligned address",
            FindingKind::StackOverflow => "a stack overflow",
            FindingKind::InvalidCall => "a call through what is no function",
            FindingKind::UnwrittenDevice => "a read of device memory that nobody wrote",
            FindingKind::UnwrittenShared => {
                "a read of shared memory that no thread of the block wrote"
            }
            FindingKind::UnwrittenLocal => "a read of local memory that its thread has not written",
            FindingKind::ReadAfterWrite => "a read of what another thread may not have written yet",
            FindingKind::WriteAfterRead => "a write of what another thread may not have read yet",
            FindingKind::WriteAfterWrite => "two threads write, and either may be last",
            FindingKind::OneStore => "one store with different values for one place",
            FindingKind::CopyNotAwaited => "a use of what an asynchronous copy has not brought yet",
            FindingKind::BetweenBlocks => "blocks use the same device memory, and one writes",
            FindingKind::DivergentBarrier => "a barrier that only part of a warp reaches",
            FindingKind::EndedBeforeBarrier => {
                "a barrier that not all threads of the block reach: some have ended"
            }
            FindingKind::MixedBarriers => "one barrier, reached at different places",
            FindingKind::BarrierNeverOpens => "a barrier that never opens",
            FindingKind::InvalidBarrier => "a barrier that does not exist",
            FindingKind::MaskLacksCaller => "a mask that does not name the calling lane",
            FindingKind::AbsentLanes => "a mask that names lanes that do not come",
            FindingKind::AskedAbsentLane => "a shuffle from lanes that take no part in it",
            FindingKind::WarpIncomplete => "an instruction for whole warps in part of one",
            FindingKind::Leaked => "memory that nobody freed",
            FindingKind::HostTouched => "host memory touched while work in a stream uses it",
            FindingKind::HostFreed => "host memory freed while work in a stream uses it",
            FindingKind::HostChanged => "host memory changed before a graph has copied it",
        }
    }

    /// What usually causes such a mistake; empty where [`Finding::what`](super::Finding::what) says
    /// all.
    pub(crate) fn usually(self) -> &'static str {
        match self {
            FindingKind::UnwrittenDevice => {
                "nobody copied to it or set it to zero, or only to part of it"
            }
            FindingKind::UnwrittenShared => {
                "the edge or the halo of a tile that no thread loads, or a thread that skips its \
                 store"
            }
            FindingKind::UnwrittenLocal => {
                "an array of a thread's own that is not filled, or only up to some element"
            }
            FindingKind::OtherArray => {
                "an index that is one too large, or a size that belongs to another array"
            }
            FindingKind::ReadAfterWrite => "a missing `__syncthreads()` between the two lines",
            FindingKind::WriteAfterRead => {
                "a missing `__syncthreads()` at the end of a loop, before the next round writes"
            }
            FindingKind::WriteAfterWrite => {
                "two threads with one index, or a sum without `atomicAdd`"
            }
            FindingKind::OneStore => "an index that is the same for several threads",
            FindingKind::CopyNotAwaited => {
                "a missing `cp.async.wait_group`, or one that leaves too many groups on their way"
            }
            FindingKind::BetweenBlocks => {
                "blocks run in any order, some at the same time: a result in place of the input, \
                 or a sum over blocks without `atomicAdd`"
            }
            FindingKind::DivergentBarrier => {
                "`__syncthreads()` in an `if`, or in a loop that threads leave at different times"
            }
            FindingKind::EndedBeforeBarrier => {
                "`return` before a `__syncthreads()`: a thread with nothing to do skips its work, \
                 and not the barrier"
            }
            FindingKind::MixedBarriers => {
                "`__syncthreads()` in both branches of an `if`, or in a loop with another number \
                 of rounds for some warps"
            }
            FindingKind::BarrierNeverOpens => {
                "`__syncthreads()` in an `if`, or a thread count that nobody makes full"
            }
            FindingKind::InvalidBarrier => "a number of threads that is no multiple of 32",
            FindingKind::MaskLacksCaller => "a mask made for other lanes than those that come here",
            FindingKind::AbsentLanes => {
                "a full mask inside an `if`: take the mask from `__ballot_sync` before it, or move \
                 the call out"
            }
            FindingKind::AskedAbsentLane => {
                "an offset that leads beyond the lanes of the mask: give the shuffle a `width`, or use \
                 what it gives only where the lane that was asked is in the mask"
            }
            FindingKind::Leaked => {
                "a buffer that was forgotten (`mem::forget`, `into_raw`), or dropped after its \
                 context"
            }
            FindingKind::WarpIncomplete => "a block that is no multiple of 32 threads",
            FindingKind::HostTouched | FindingKind::HostFreed | FindingKind::HostChanged => {
                "nobody waited for the stream (`cudaStreamSynchronize`, or an event) before"
            }
            _ => "",
        }
    }
}
