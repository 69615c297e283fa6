//! The kinds of findings, with the check that reports each and its message.

use serde::{Deserialize, Serialize};

use super::selection::Check;

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
