//! What a kernel can do for which a GPU stops it.

use crate::exec::time_limit::TimeLimit;
use crate::exec::window::CALLED_BYTES;
use std::fmt;

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
    /// An instruction of whole warpgroups (`wgmma`) where some of the 128 threads are not there.
    WarpgroupIncomplete,
    /// `wgmma` was used in a way that it cannot be: why.
    Warpgroup(&'static str),
    /// A barrier number of 16 or more, or a thread count that is no multiple of 32.
    InvalidBarrier { barrier: u32, count: u32 },
    /// A kernel freed what `malloc` in a kernel has not given, or what was freed before.
    InvalidFree { address: u64 },
    /// A texture or surface was named by what is no object's handle, or its memory is gone.
    NoImage { handle: u64 },
    /// A barrier in shared memory was used in a way that it cannot be: why.
    Mbarrier(&'static str),
    /// Somebody asked for the launch to end.
    Interrupted,
    /// The launch ran past its time limit, when so many of its blocks had ended.
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
            FaultKind::WarpgroupIncomplete => f.write_str(
                "incomplete warpgroup: the instruction takes 128 threads, of four warps from a multiple of four on, \
                 and not all are there: launch blocks of a multiple of 128 threads, and let none end before",
            ),
            FaultKind::Warpgroup(why) => write!(f, "wgmma: {why}"),
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
                        "no block of the kernel has ended for {} s: does a loop never end? \
                         CUDA_SIM_TIME_LIMIT sets another limit, in seconds; `none` takes it away",
                        limit.as_secs_f64()
                    ),
                }?;
                write!(f, "\n  blocks ended: {ended} of {blocks}")
            }
            FaultKind::InvalidFree { address } => write!(
                f,
                "free of {address:#x}, which is not what malloc in a kernel gave, or was freed before"
            ),
            FaultKind::NoImage { handle } => write!(
                f,
                "no texture or surface object has the handle {handle:#x}, or its memory was freed"
            ),
            FaultKind::Mbarrier(why) => write!(f, "mbarrier: {why}"),
            FaultKind::Assert { message } => f.write_str(message),
        }
    }
}
