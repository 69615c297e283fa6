//! The likely causes of findings.

use super::details::{Bytes, StreamName, sentences};
use crate::memory::global::CallSite;

sentences! {
    /// The usual cause of a bug.
    pub enum Cause {
        // Invalid addresses.
        NoBoundsCheck => "`<=` instead of `<`, or a missing `if (i < n)` for the threads past the end";
        MatrixBounds =>
            "a size that is not a multiple of the tile or block, without an `if` for both row and column, or the \
             wrong bounds: those of another matrix, or width and height swapped";
        /// The launch has as many threads as the allocation has bytes, but an element has several bytes.
        BytesForElements(bytes: Bytes) =>
            "{bytes} for as many elements: sizes of allocations and copies are in bytes, `n * sizeof(T)`";
        LoopBounds =>
            "a loop or a tile that continues past the end: a size that is not a multiple of the tile or block, \
             `<=` instead of `<`, or the size of another array";
        /// The offset is that of the thread's row if the pitch counts elements.
        PitchInElements(pitch: Bytes) =>
            "the pitch of {pitch} used as a number of elements: row `r` starts at `(char *)base + r * pitch`";
        PastRows(pitch: Bytes) =>
            "a row or column without a bounds check, or the pitch of {pitch} used as a number of elements: row \
             `r` starts at `(char *)base + r * pitch`";
        NegativeIndex => "a negative index: the neighbour of the first element, or a halo to the left";
        WrappedIndex => "an unsigned index that wrapped below zero, such as `i - 1` for `i == 0`";
        OverflowedIndex =>
            "an `int` that overflowed and became negative: `blockIdx.x * blockDim.x`, or row times width, in a \
             large array";
        WrongUnits =>
            "an index in other units than the array's: bytes for elements, a pitch for a width, rows for \
             columns, or one that overflowed";
        /// The condition before the access.
        UnsignedBound(condition: String) =>
            "`{condition}` is always true if an operand is unsigned, because a negative difference wraps around to a large number: \
             compare without subtracting, such as `i < n`, or convert the operands to a signed type first";
        PastConstantArray => "an index past the end of a `__constant__` array";
        PastParameterArray => "an index past the end of an array in a parameter";
        PastSharedArray => "an index past the end of a `__shared__` array";
        PastSharedOrExternArray =>
            "an index past the end of a `__shared__` array, or a launch with too little dynamic shared memory \
             for an `extern` array";
        NoDynamicSharedMemory => "an `extern __shared__` array, but a launch without dynamic shared memory";
        PastCluster =>
            "a rank that is not below the number of blocks in the cluster: take it modulo \
             `cluster.num_blocks()`, or launch larger clusters";
        PastLocalArray => "an index past the end of an array declared in the kernel";
        OtherArraysSize => "an index that is one too large, or a size that belongs to another array";
        PointerToWiderType =>
            "a pointer cast to a wider type, such as `float4` from a `float` that is not the first of four, or \
             rows whose pitch is not a multiple of the type's size";
        LocalUsedAsShared => "a pointer to a local variable, used as shared";
        LocalUsedElsewhere => "a pointer to a local variable, used by another thread or kernel";
        SharedUsedAsDevice => "a pointer to a `__shared__` array, used as one to device memory";
        FunctionUsedAsData => "a function pointer, used as one to data";
        ConstantWritten => "a store or an atomic through a pointer to a `__constant__` variable";
        NoPeerAccess =>
            "a kernel that follows a pointer to another GPU's memory without `cuCtxEnablePeerAccess`, or, for \
             memory of a pool or that is mapped, without its `SetAccess`";
        HostPointer => "a host pointer passed to the kernel instead of a device pointer";
        FreedPointer =>
            "a pointer used after its buffer was dropped or freed, for example one in a `__device__` variable";
        /// The position of the call of `cudaFreeAsync`.
        FreedInStream(line: CallSite) =>
            "the memory was freed by `cudaFreeAsync` at {line}: free it after its last use";
        UnsetPointer =>
            "a pointer that was never set: a buffer that was not allocated, or a symbol that the host did not \
             initialize";
        KernelHeapExhausted(heap: Bytes) =>
            "a `malloc` or `new` in a kernel that returned null, because the heap of {heap} is used up: free the memory, \
             or call `cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes)` before the first launch";
        // Calls.
        DeepRecursion =>
            "unbounded or too deep recursion; `cudaDeviceSetLimit(cudaLimitStackSize, bytes)` sets a larger stack \
             (driver API: `cuCtxSetLimit`)";
        InvalidFunctionPointer => "a function pointer taken on the host, or one never set";
        /// A surface instruction.
        SurfaceInElements =>
            "the x coordinate of a surface in elements: `surf2Dread` and `surf2Dwrite` take bytes, `x * sizeof(T)`";
        LibraryArguments =>
            "a size, leading dimension, increment or stride that does not fit the buffer; they count elements, not bytes";
        // Uninitialized memory.
        BufferNotInitialized => "the buffer was never copied to or set to zero, or only part of it was";
        ExternArraysOverlap =>
            "all `extern __shared__` arrays are the same memory: declare one, and compute the other pointers from it, \
             such as `int *second = first + n`";
        FillByBytes =>
            "`cudaMemset` sets bytes to an integer, to which a float is truncated: set elements with a kernel, \
             `cudaMemcpy` or `cuMemsetD32`";
        TextureNotInitialized =>
            "an array that was never copied to, or only in part: copy to it with `cudaMemcpy2DToArray`, whose width is \
             in bytes, and check the result";
        SurfaceNotInitialized =>
            "a surface whose array was never copied to, or a kernel that writes fewer elements than this one reads: x is in \
             bytes, `x * sizeof(T)`";
        NormalizedCoordinates =>
            "`cudaAddressModeWrap` (the default) and `cudaAddressModeMirror` act as clamp without \
             `normalizedCoords = 1` and coordinates from 0 to 1, such as `(x + 0.5f) / width`";
        /// Part of a buffer was written.
        ResultIncomplete =>
            "too few threads: round the grid up, `(n + threads - 1) / threads`; an index that skips elements, such as \
             `+` instead of `*`; or a copy of more than the result";
        ResultNotWritten =>
            "a kernel that was not launched or failed, the wrong buffer, or a copy in the wrong direction";
        /// Part of an input was read.
        InputPartlyRead =>
            "too few threads or iterations for the input, an index that skips elements, a wrong buffer, or a copy of more \
             than the kernel needs";
        InputNotRead =>
            "a kernel that was not launched or failed, one that uses another buffer instead, or data that is no longer \
             needed";
        PartNotInitialized(initialized: Bytes, of: Bytes) =>
            "only the first {initialized} of {of} have been written: a copy, a fill or an earlier launch covers fewer \
             elements than this kernel reads";
        /// Bytes before and after these are initialized.
        GapsNotInitialized =>
            "bytes before and after these have been written: a member of a structure that nothing sets, or an index that \
             skips elements";
        /// The number of initialized bytes is the number of elements.
        ElementsNotBytes(initialized: Bytes, of: Bytes) =>
            "only the first {initialized} of {of} have been written: a copy or a fill whose size is the number of \
             elements; sizes are in bytes, `n * sizeof(T)`";
        RowsNotInitialized(pitch: Bytes) =>
            "rows that were never copied to or set to zero, or a copy to another row: the pitch of {pitch} is not \
             a number of elements, so row `r` starts at `(char *)base + r * pitch`";
        PaddingOfRow(width: Bytes) =>
            "a column past the end of a row, whose {width} are followed by padding up to the pitch";
        TileNotLoaded => "the edge or the halo of a tile that no thread loads, or a thread that skips its store";
        /// An atomic or an update of uninitialized memory of the block.
        SumNotInitialized =>
            "a counter or a sum in shared memory that no thread sets to its initial value; set it, then call \
             `__syncthreads()`";
        LocalNotInitialized => "a local array that is not initialized, or only in part";
        // Data races.
        MissingBarrier => "a missing `__syncthreads()` between the two lines";
        MissingBarrierInLoop =>
            "a missing `__syncthreads()` at the end of a loop, before the next iteration writes, or between two calls \
             of a function that use the same array";
        /// Both accesses are in one warp.
        MissingWarpSync =>
            "a missing `__syncwarp()` between the two accesses: the threads of a warp do not run in lockstep";
        /// Both accesses are in one line.
        StatementNeedsBarrier =>
            "one statement reads and writes elements that other threads use: read into a variable, call \
             `__syncthreads()`, then write";
        /// Both accesses are in one line and in one warp.
        StatementNeedsWarpSync =>
            "one statement reads and writes elements that other threads of the warp use: read into a variable, \
             call `__syncwarp()`, then write";
        SumWithoutAtomic => "two threads with the same index, or a sum without `atomicAdd`";
        SameIndex => "an index that is the same for several threads";
        /// A weak load, after which the same thread updates the location by an atomic.
        LoadBeforeAtomic =>
            "a plain read of a value that other threads update by atomics may be out of date: use the value that the \
             atomic returns, or read through a `volatile` pointer or with `load` of a `cuda::atomic_ref`";
        /// A weak load that only decides branches, and stores of one value.
        DecidesByFlag =>
            "a flag or a level that threads set to one value while others test it: intended if either value will do; \
             otherwise separate the two by a barrier, or by two kernels";
        /// The types of the elements that the two accesses use.
        TypesDiffer(own: String, other: String) =>
            "arrays that overlap: one line uses the bytes as `{own}` and the other as `{other}`; for example an offset of an array in \
             a common buffer that counts elements instead of bytes, or elements of the wrong type, such as `buffer + n` \
             instead of `buffer + n * sizeof(T)`";
        CopyNotAwaited => "a missing `cp.async.wait_group`, or one that leaves too many groups pending";
        BulkCopyNotAwaited =>
            "the bulk copy that writes the bytes has not been waited for: before using them, each thread must wait at \
             the mbarrier to which the copy reports (`mbarrier.try_wait` in a loop, or `barrier.wait`)";
        BlockOrder =>
            "blocks run in any order and concurrently: an in-place result, or a sum over blocks without \
             `atomicAdd`";
        /// Several blocks write an element that none of them reads.
        SameElementInBlocks =>
            "several blocks write the same element: an index without `blockIdx.x * blockDim.x`, or with `+` instead of \
             `*`";
        /// A weak load in one block, and atomics in others.
        ResultOfAtomics =>
            "blocks run in any order and concurrently, so the other blocks may not have added their parts: read the \
             result in a later kernel, or in the block that finishes last";
        /// An atomic or an ordered access of block scope.
        BlockScope =>
            "an atomic or an ordered access of block scope (`atomicAdd_block`, `cuda::thread_scope_block`), which works only among \
             the threads of one block: use one of device scope (`atomicAdd`, `cuda::thread_scope_device`)";
        MissingFence =>
            "a missing `__threadfence()` after the write, before the atomic or the flag that announces it to other \
             blocks";
        // Barriers and warp-wide instructions.
        BarrierInBranch =>
            "`__syncthreads()` in an `if`, or in a loop that threads leave after different numbers of iterations";
        ReturnBeforeBarrier =>
            "`return` before a `__syncthreads()`: a thread with nothing to do must skip its work, not the \
             barrier";
        /// The source of the kernel is unknown.
        BarrierSkipped =>
            "threads that leave before a `__syncthreads()` or skip it: a thread with nothing to do must skip its \
             work, not the barrier";
        BarrierInEachBranch =>
            "`__syncthreads()` in both branches of an `if`, or in a loop whose number of iterations differs \
             between warps";
        BarrierNotReached => "`__syncthreads()` in an `if`, or a thread count that is never reached";
        NotCooperative =>
            "a launch with `<<<...>>>`, which does not make all blocks resident at once: launch the kernel with \
             `cudaLaunchCooperativeKernel` (driver API: `cuLaunchCooperativeKernel`)";
        BarrierThreadCount => "a thread count that is not a multiple of 32";
        MaskOfOtherLanes => "a mask computed for lanes other than those that reach this instruction";
        /// The mask is 31 or 32.
        NumberAsMask(mask: u32) =>
            "{mask}, a number of lanes or of a lane, used as a mask, which has one bit per lane: 0xffffffff for a whole \
             warp";
        FullMaskInBranch =>
            "a full mask inside an `if`: compute the mask with `__ballot_sync` before the `if`, or move the call \
             out";
        ShuffleBeyondMask =>
            "an offset that leads beyond the lanes of the mask: pass a `width` to the shuffle, or use its result \
             only if the source lane is in the mask";
        PartialWarp => "a block size that is not a multiple of 32 threads";
        // Host memory and leaks.
        ForgottenBuffer => "a buffer that was forgotten (`mem::forget`, `into_raw`), or dropped after its context";
        StreamNotAwaited => "the program did not wait for the stream first (`cudaStreamSynchronize`, or an event)";
        /// The stream of the operation, and the one that the program has waited for.
        OtherStreamAwaited(using: StreamName, awaited: StreamName) =>
            "the program waited for {awaited}, not for {using}: call `cudaStreamSynchronize` for {using}";
        /// The stream of the operation and of an event that the program has waited for.
        HostEventEarly(stream: StreamName) =>
            "the event that the program waited for was recorded in {stream} before the operation, so it does not cover \
             it: call `cudaEventRecord` after the operation";
        HostEventEarlyAt(stream: StreamName, record: CallSite) =>
            "the event that the program waited for was recorded in {stream} before the operation, at {record}, so it \
             does not cover it: call `cudaEventRecord` after the operation";
        // Streams.
        /// The streams of the later and of the earlier operation.
        NoEventBetween(later: StreamName, earlier: StreamName) =>
            "nothing makes {later} wait for {earlier}: call `cudaEventRecord` in {earlier} after its operation and \
             `cudaStreamWaitEvent` in {later} before the other";
        /// The streams of the later and of the earlier operation, and the record of the event.
        EventEarly(later: StreamName, earlier: StreamName) =>
            "{later} waits for an event that was recorded in {earlier} before its operation, so the event does not cover \
             it: call `cudaEventRecord` after the operation";
        EventEarlyAt(later: StreamName, earlier: StreamName, record: CallSite) =>
            "{later} waits for an event that was recorded in {earlier} before its operation, at {record}, so the event \
             does not cover it: call `cudaEventRecord` after the operation";
        NonBlockingStream(stream: StreamName) =>
            "{stream} was created with `cudaStreamNonBlocking`, so it and the default stream do not wait for each \
             other: create it without this flag, or order the two operations with `cudaEventRecord` and \
             `cudaStreamWaitEvent`";
        NodesWithoutEdge =>
            "the two nodes of the graph do not depend on each other: add a dependency, or an event between the \
             streams that the graph was captured from";
        FreedInOtherStream(freeing: StreamName, using: StreamName) =>
            "nothing makes {freeing}, in which the memory is freed, wait for {using}: free it in the stream that uses \
             it last, or call `cudaStreamWaitEvent` before `cudaFreeAsync`";
        /// `cudaFree` of memory that was allocated in a stream.
        FreedWithoutWait =>
            "`cudaFree` does not wait for work that uses memory from `cudaMallocAsync`: call \
             `cudaStreamSynchronize` first, or `cudaFreeAsync` in the stream that uses it last";
        AllocatedInOtherStream(using: StreamName, allocating: StreamName) =>
            "memory from `cudaMallocAsync` may be used only after the allocation: make {using} wait for {allocating} \
             with `cudaEventRecord` and `cudaStreamWaitEvent`";
        /// The program does not call this function.
        MissingCall(function: String) => "a missing call of {function}";
    }
}
