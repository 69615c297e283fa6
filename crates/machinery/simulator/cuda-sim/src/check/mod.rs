//! A dynamic sanitizer for kernels: detects bugs that may go unnoticed, because the result is correct by
//! chance, or on this GPU and not on the next.
//!
//! A program has a second, instrumented copy of its code, in which every access, barrier and warp-wide
//! instruction is checked before it executes (see [`crate::isa::check_event`]). A launch without checks runs
//! the plain copy and pays nothing. A launch with checks runs its warps one at a time instead of in gangs;
//! its results and counters are the same.
//!
//! | check | finds |
//! |---|---|
//! | `mem` | out-of-bounds, misaligned and otherwise invalid accesses. These raise a fault even without checks, unless a GPU does not detect them ([`FaultModel`](crate::exec::FaultModel)); the check reports them like other findings, and also indices of one shared-memory array that reach another, several `extern` arrays in one kernel, and texture coordinates to which the address mode does not apply |
//! | `init` | reads of device and shared memory that was never written, and of local memory that its own thread has not written; copies of such device memory to the host; reads of elements that a fill has set byte by byte |
//! | `race` | data races on shared and device memory between threads of a block, and on device memory between blocks |
//! | `sync` | barriers and warp-wide instructions that not all threads reach |
//! | `leak` | memory that is still allocated when its context is destroyed |
//! | `host` | host memory that the program touches while work in a stream still uses it (checked by the driver) |
//! | `stream` | device memory that operations of several streams use in no defined order (checked by the driver, from the bytes that each launch has accessed) |
//! | `unused` | elements that a copy from the host or a fill wrote and that no kernel and no copy read; not part of `all` |
//!
//! # Data races
//!
//! Two accesses to one location are a data race if at least one is a write, not both are synchronization
//! operations (atomics, and volatile or otherwise ordered accesses; see `semantics`), and neither *happens
//! before* the other (Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM
//! 1978). The detector is a happens-before detector with vector clocks and epochs, in the line of DJIT+
//! (Pozniansky and Schuster, PPoPP 2003) and FastTrack (Flanagan and Freund, PLDI 2009). What creates an edge
//! follows the PTX memory consistency model: barriers, `__syncwarp`, waits for asynchronous copies,
//! and a fence followed by an atomic or volatile store (*release*) whose location
//! another thread then reads by an atomic or volatile load (*acquire*).
//!
//! **Within a block** (`happens_before`, `shared`), each warp has a vector clock over the warps of the block,
//! and each lane one over the lanes of its warp once only some of them have synchronized. A barrier of the
//! whole block, the common case, raises a single *floor* instead of joining all clocks. The shadow memory
//! holds for each granule the epoch of the last plain write, as FastTrack does, and the epochs of the last ordered
//! writes and the last reads by two different warps where FastTrack switches to a full vector. A granule is a word of 4 bytes, or a byte
//! in programs with narrower accesses. Keeping only the last accessors, and comparing barrier counts first,
//! is also what the GPU detectors ScoRD (Kamath, George and Basu, ISCA 2020) and iGUARD (Kamath and Basu,
//! SOSP 2021) do; BARRACUDA (Eizenberg et al., PLDI 2017) compresses vector clocks along the hierarchy of
//! lanes, warps and blocks.
//!
//! **Between blocks**, the granularity is a word. If no block can observe another, because the kernel has
//! neither volatile accesses nor atomics whose old value is used, all pairs of blocks are unordered, and it
//! is enough to record which blocks read and write each word (`blocks`). That result does not depend on the
//! schedule. Otherwise the blocks run one after the other, with one vector clock per block (`serial_blocks`).
//!
//! Some kinds of unordered accesses are treated specially. Plain writes of the value that is already there
//! are not reported. Ordered stores that store the same value throughout the launch, as for a flag, do not
//! race with each other; nor do such plain stores by several blocks. Races between the lanes of one warp are
//! warnings, because many kernels rely on lockstep execution. A weak load races with stores and atomics by other
//! threads, but the use of its value (see [`crate::isa::LoadedValue`]) may show that this is intended: an atomic
//! of the same thread verifies it, or it only decides branches.
//!
//! # What is not detected
//!
//! * Races that the synchronization of this run hides: happens-before is that of the observed execution, so a
//!   critical section that happened to order two accesses hides a race between them.
//! * With counted barriers or fences, a race of a write with a read that is neither the last one nor the last
//!   one by another warp.
//! * Races between blocks of an atomic whose old value is unused with a plain access to the same word, in
//!   kernels whose blocks cannot observe each other.
//! * Races beyond the limits of the shadow state: 2,048 block clocks, 4,096 synchronization locations, 16
//!   accesses per line of 128 bytes between blocks, and between 256 and 8,192 lines of device memory per
//!   block.
//! * Scopes of atomics: each is taken to have a scope that includes all its observers.
//! * Uninitialized registers, and uninitialized parts of local memory that are read together with initialized
//!   ones (the padding of structures).
//! * Uses of a structure's padding after a copy through local memory, a selection or arithmetic: the copy counts as
//!   initialized. A plain copy carries the state of each byte along, and only uses of its value are reported.

mod accessed_bytes;
mod blocks;
pub mod call_site;
mod cause;
pub(crate) mod checker;
mod details;
pub(crate) mod device_access;
mod device_shadow;
mod finding;
mod finding_set;
mod happens_before;
pub(crate) mod lane_runs;
mod launch_checks;
pub mod reason;
mod refined_causes;
mod selection;
pub(crate) mod semantics;
mod serial_blocks;
pub(crate) mod shadow;
mod shared;
mod shared_access;

pub use accessed_bytes::{AccessedAs, AllocationAccesses};
pub use cause::Cause;
pub use details::{
    ActualMemory, AddressDetails, AddressedMemory, BlockBytes, BulkCopyMisuse, Bytes, Details,
    Extent, FaultKind, Fill, FillRead, HostAction, HostMemory, Lanes, MbarrierMisuse, NamedArray,
    Origin, OutsideTexture, PendingWork, StreamAction, StreamName, StreamOperation, StreamUse,
    TimeLimit, Unread, Unwritten, WarpgroupMisuse, Writer,
};
pub use finding::{Finding, FindingKind, OtherAccess, Severity};
pub use reason::Reason;
pub use selection::{Check, Checks};

pub(crate) use checker::Checker;
pub(crate) use finding_set::{FindingSet, KernelContext};
pub(crate) use launch_checks::{LaunchChecks, LaunchedBlocks};
pub(crate) use refined_causes::unsigned_bound_cause;
pub(crate) use shadow::Shadow;
