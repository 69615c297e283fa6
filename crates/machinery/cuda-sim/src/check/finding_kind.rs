//! Which mistakes there are: the check that finds each, and how it is told.

use super::choice::Check;

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
    pub(super) fn title(self) -> &'static str {
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
