//! The kinds of faults: device exceptions that end a launch, that is, actions of a kernel for which a GPU stops it.

use super::sentences::{Bytes, sentences};
use std::time::Duration;

sentences! {
    /// The kind of a fault.
    pub enum FaultKind {
        /// An access outside every allocation of its state space.
        IllegalAddress { address: u64, bytes: u32, write: bool, memory: AddressedMemory } =>
            "illegal address: {} of {} at {address:#x}, outside every {memory} allocation",
            if *write { "write" } else { "read" }, Bytes((*bytes).into());
        /// An access of a library's function outside every allocation of device memory.
        IllegalOperand { function: String, address: u64, bytes: u64, write: bool } =>
            "illegal address: {function} {} {bytes} bytes at {address:#x}, outside every device memory allocation",
            if *write { "writes" } else { "reads" };
        /// An address that is not a multiple of the access's size.
        MisalignedAddress { address: u64, bytes: u32 } =>
            "misaligned address: {address:#x} is not a multiple of {bytes}";
        /// An access outside the shared memory of a block that the address names by its rank in the cluster.
        IllegalClusterAddress { rank: u32, offset: u64, bytes: u32, write: bool } =>
            "illegal address: {} of {} at offset {offset:#x} in the shared memory of block {rank} of the cluster",
            if *write { "write" } else { "read" }, Bytes((*bytes).into());
        /// An offset in the shared memory of a block of the cluster that is not a multiple of the access's size.
        MisalignedClusterAddress { rank: u32, offset: u64, bytes: u32 } =>
            "misaligned address: offset {offset:#x} in the shared memory of block {rank} of the cluster is not a multiple \
             of {bytes}";
        /// A surface instruction whose x coordinate, in bytes, is not a multiple of the access's size.
        MisalignedSurface { x: u64, bytes: u32 } =>
            "misaligned surface coordinate: x is byte {x}, which is not a multiple of {bytes}";
        /// `trap`, or a device function that is only declared.
        Trap => "trap: the kernel stopped itself";
        /// `trap` in a grid barrier, which works only in a cooperative launch.
        GridBarrier => "grid barrier (`grid.sync()`) in a launch that is not cooperative: it traps";
        /// `brkpt`, which a GPU without a debugger treats as a trap.
        Breakpoint => "breakpoint: brkpt without a debugger";
        /// A call that exceeds the stack.
        StackOverflow { needed: u32, limit: u32 } =>
            "stack overflow: the call requires {needed} bytes of local memory per thread, the limit is {limit}";
        /// A call for which the active calls leave no room for registers.
        CallsTooDeep { limit: usize } =>
            "stack overflow: the registers of all active calls in the block exceed {} MB", limit >> 20;
        /// An indirect call to an address that is not a function.
        InvalidCall { address: u64 } => "call through a pointer that is not a function: {address:#x}";
        /// A failed `assert`; the message is CUDA's own.
        Assert { message: String } => "{message}";
        /// A barrier at which some threads of the block wait and that others never reach.
        BarrierNeverOpens { barrier: u32, arrived: u32, expected: u32 } =>
            "barrier {barrier} never opens: {arrived} threads wait, {expected} are required, and the others cannot \
             reach it";
        /// A `.sync` instruction whose mask names lanes that never arrive.
        WarpSyncNeverOpens { members: u32 } =>
            "warp synchronization never completes: its mask {members:#010x} names lanes that cannot reach it";
        /// A warp-wide instruction (`mma`, `ldmatrix`) in a warp with fewer than 32 live threads; `alive` is their
        /// mask.
        WarpIncomplete { alive: u32 } =>
            "incomplete warp: the instruction requires all 32 threads of a warp, but only {} are present: launch \
             blocks of a multiple of 32 threads, and let no thread exit before it", alive.count_ones();
        /// A warpgroup-wide instruction (`wgmma`) without all of its 128 threads.
        WarpgroupIncomplete =>
            "incomplete warpgroup: the instruction requires the 128 threads of four warps whose first number is a \
             multiple of four, but not all are present: launch blocks of a multiple of 128 threads, and let no \
             thread exit before it";
        /// An invalid use of `wgmma`.
        Warpgroup(misuse: WarpgroupMisuse) => "wgmma: {misuse}";
        /// A barrier number of 16 or more, or a thread count that is not a multiple of 32.
        InvalidBarrier { barrier: u32, count: u32 } =>
            "invalid barrier: number {barrier} (0 to 15 exist) for {count} threads (a multiple of 32)";
        /// An in-kernel `free` of an address that `malloc` did not return or that was freed before.
        InvalidFree { address: u64 } =>
            "invalid free of {address:#x}: in-kernel malloc did not return this address, or it was freed before";
        /// A handle that `cudaGraphConditionalHandleCreate` did not return.
        NoGraphCondition { handle: u64 } =>
            "cudaGraphSetConditional: {handle:#x} is not a handle of cudaGraphConditionalHandleCreate";
        /// A texture or surface handle that names no object, or whose memory was freed.
        NoImage { handle: u64 } =>
            "no texture or surface object has the handle {handle:#x}, or its memory was freed";
        /// A fetch from a texture or surface reference without a texture or surface in live memory.
        UnboundReference { name: String } =>
            "the texture or surface reference `{name}` is not bound, or its memory was freed; before the launch, \
             call cuTexRefSetArray, cuTexRefSetAddress or cuSurfRefSetArray with memory that is alive";
        /// An invalid use of an mbarrier.
        Mbarrier(misuse: MbarrierMisuse) => "mbarrier: {misuse}";
        /// An invalid use of a bulk asynchronous copy.
        BulkCopy(misuse: BulkCopyMisuse) => "bulk copy: {misuse}";
        /// An interrupt requested by the host, after `ended` of the launch's `blocks` blocks had ended.
        Interrupted { ended: u64, blocks: u64 } =>
            "the kernel was interrupted\n  blocks ended: {ended} of {blocks}";
        /// Expiry of the launch's time limit, after `ended` of its `blocks` blocks had ended.
        Timeout { limit: TimeLimit, ended: u64, blocks: u64 } => "{limit}\n  blocks ended: {ended} of {blocks}";
    }

    /// The memory that an illegal address should have been in.
    #[derive(Copy)]
    pub enum AddressedMemory {
        Device => "device memory";
        Constant => "constant memory";
        Shared => "shared memory";
        Local => "local memory";
        Parameters => "kernel parameters";
        /// Memory of any kind, addressed through the generic address space.
        Generic => "memory";
        Surface => "the surface";
    }

    /// An invalid use of `wgmma`.
    pub enum WarpgroupMisuse {
        Unfenced => "no `wgmma.fence` comes before the first `wgmma.mma_async`";
        NotAwaited =>
            "a thread exits without waiting for its matrix multiplications: `wgmma.commit_group` and then \
             `wgmma.wait_group` must come before their results are used";
        DifferentDescriptors => "the threads of a warp pass different descriptors of one matrix";
        MisplacedSwizzle =>
            "a swizzled matrix must start at a multiple of 8 of its rows (1024, 512 or 256 bytes), or inside the \
             first of them";
        BaseOffset => "a descriptor with a base offset is not simulated: align the matrix to 1024 bytes";
    }

    /// An invalid use of an mbarrier.
    pub enum MbarrierMisuse {
        TooManyArrivals => "more threads arrive than its phase expects: is it initialized with their number?";
        CompletesPhase => "an arrival that may not complete the phase (noComplete) completes it";
        TooManyBytes => "more bytes are expected than it can count";
        InvalidCount => "its thread count is 0 or more than 1048575";
    }

    /// An invalid use of a bulk asynchronous copy.
    pub enum BulkCopyMisuse {
        InvalidSize(bytes: u32) => "its size of {bytes} bytes is not a multiple of 16";
        NotTensorMap(address: u64) =>
            "no tensor map is at {address:#x}: pass the CUtensorMap as a `const __grid_constant__` parameter, or copy \
             it to device memory";
        InvalidTensorMap =>
            "the tensor map is invalid: `tensormap.replace` has changed it against the requirements of \
             cuTensorMapEncodeTiled";
        OtherRank(expected: u32, actual: u32) =>
            "the instruction copies from an array of {expected} dimensions, but the tensor map has {actual}";
        OtherMode => "the mode of the instruction (tile or im2col) is not that of the tensor map";
        NoReduction => "the elements of the tensor map have a type for which the reduction does not exist";
        MisalignedStart(bytes: i64) =>
            "the first coordinate starts at {bytes} bytes of a row, which is not a multiple of 16";
        NegativeCoordinate(coordinate: i64) =>
            "the coordinate {coordinate} is negative, which only copies to shared memory may have";
        OutsideBox(coordinate: i64) =>
            "the coordinate {coordinate} of the first pixel is outside of the bounding box of the im2col tensor map";
    }

    /// A wall-clock time limit of a launch.
    #[derive(Copy)]
    pub enum TimeLimit {
        /// Limit for the whole launch.
        Launch(limit: Duration) =>
            "the kernel ran past its time limit of {} s (CUDA_SIM_TIME_LIMIT)", limit.as_secs_f64();
        /// Limit for the time in which no block ends. A launch that makes progress may take any time.
        Standstill(limit: Duration) =>
            "no block of the kernel has ended for {} s: is there an endless loop? CUDA_SIM_TIME_LIMIT sets another \
             limit, in seconds; `none` removes it", limit.as_secs_f64();
    }
}
