//! The reasons for which a call of the driver or runtime API failed, in terms of its arguments.
//!
//! The place that detects an error notes its reason in the calling thread ([`note`]); the function that returns
//! the error to the program takes it ([`take`]). An error without a reason is described by its code alone.

use std::cell::RefCell;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use super::details::Names;
use super::details::{Bytes, sentences};
use crate::memory::global::{AllocationRecord, CallSite};

sentences! {
    /// The reason for which a call failed, and what to do about it.
    pub enum Reason {
        /// A dimension of the grid or the block is 0.
        EmptyLaunch(of: Shape, size: Size) =>
            "the {of} is {size}: every dimension must be at least 1; if the number of elements can be 0 or less \
             than a block, round up: (n + threads - 1) / threads";
        DimensionTooLarge(of: Shape, size: Size, limit: Size) =>
            "the {of} is {size}, at most {limit} is allowed; use a smaller one and let each thread loop";
        TooManyThreads(threads: u64, limit: u64) =>
            "a block has {threads} threads, at most {limit} are allowed; use more, smaller blocks";
        LaunchBounds(threads: u64, limit: u64) =>
            "a block has {threads} threads, but the kernel was compiled for at most {limit} by __launch_bounds__";
        RequiredBlock(size: Size, required: Size) =>
            "the block is {size}, but the kernel requires {required}";
        ClusterGrid(size: Size, cluster: Size) =>
            "the grid is {size}, but it must be a multiple of the cluster size {cluster} in each dimension";
        ClusterSize(cluster: Size, limit: u64) =>
            "a cluster of {cluster} blocks, at most {limit} are allowed; more than 8, up to 16, require \
             cudaFuncAttributeNonPortableClusterSizeAllowed";
        RequiredCluster(cluster: Size, required: Size) =>
            "the cluster is {cluster}, but the kernel requires {required} (__cluster_dims__)";
        ClusterMissing => "the kernel requires clusters, but the launch does not specify their size";
        /// More shared memory than a launch gets without the attribute.
        SharedMemory(dynamic: Bytes, fixed: Bytes, limit: Bytes, attribute: u32) =>
            "{dynamic} of dynamic and {fixed} of static shared memory exceed the {limit} allowed by default; \
             before the launch, call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, \
             {attribute})";
        /// More shared memory than the attribute allows.
        SharedAttribute(dynamic: Bytes, allowed: Bytes) =>
            "{dynamic} of dynamic shared memory exceed the {allowed} set by \
             cudaFuncAttributeMaxDynamicSharedMemorySize";
        /// More shared memory than the GPU has.
        SharedCapacity(bytes: Bytes, limit: Bytes) =>
            "{bytes} of shared memory per block are requested, this GPU has at most {limit}; use smaller tiles";
        ArgumentBytes(passed: Bytes, expected: Bytes) =>
            "{passed} of arguments are passed, the kernel takes {expected}";
        /// The registers of a block exceed the register file.
        Registers(threads: u64, registers: u32, available: u32, allowed: u32) =>
            "a block of {threads} threads with about {registers} registers each exceeds the {available} registers \
             of an SM; use at most {allowed} threads per block, or compile the kernel with \
             __launch_bounds__({threads})";
        CooperativeBlocks(blocks: u64, limit: u64) =>
            "a cooperative launch of {blocks} blocks, at most {limit} are resident at once; compute the grid with \
             cudaOccupancyMaxActiveBlocksPerMultiprocessor";
        /// A host address that no kernel is registered with.
        NotAKernel => "the address is not that of a kernel (__global__ function) of this program";
        /// A host address that no variable is registered with.
        NotASymbol(variables: Names) =>
            "the address is not that of a __device__ or __constant__ variable; pass the variable itself, not its \
             name in quotes or its address; the program has {variables}";
        SymbolBounds(end: u64, size: Bytes) =>
            "the copy ends at byte {end} of the variable, which has {size}";
        KernelMissing(name: String, kernels: Names) =>
            "the module has no kernel `{name}`; it has {kernels}; C++ names are mangled unless the kernel is \
             declared extern \"C\"";
        VariableMissing(name: String, variables: Names) =>
            "the module has no variable `{name}`; it has {variables}; unused variables may be optimized away, and \
             names in namespaces are mangled";
        ReferenceMissing(directive: String, name: String, references: Names) =>
            "the module has no `.{directive}` named `{name}`; it has {references}; unused ones may be optimized away";
        /// The program's kernels could not be loaded, for the reason that the driver gave.
        NotLoaded(reason: String) => "the program's kernels do not load: {reason}";
        ArrayAsPointer(end: CopyEnd) =>
            "the {end} is a cudaArray, not a pointer; use cudaMemcpy2DToArray or cudaMemcpy2DFromArray";
        /// A host address where the direction requires a device address.
        HostAsDevice(end: CopyEnd, address: u64) =>
            "the {end} {address:#x} is not device memory, but the direction says so; check the direction, the order \
             of the arguments (destination first), and that the allocation succeeded";
        SymbolDirection => "the direction does not match a copy to or from a variable";
        UnknownDirection(number: i32) => "{number} is not a cudaMemcpyKind";
        NotAllocated(end: CopyEnd, address: u64) =>
            "the {end} {address:#x} is not in a live allocation: it was freed, or computed incorrectly";
        NullAddress(end: CopyEnd) => "the {end} is a null pointer; did its allocation fail?";
        /// A copy beyond its allocation.
        PastAllocation(end: CopyEnd, first: u64, past: u64, size: Bytes) =>
            "the {end} covers bytes {first} to {past} of an allocation of {size}; sizes and pitches are in bytes, but \
             adding to a typed pointer counts elements";
        /// A row wider than the distance between rows.
        WidthExceedsPitch(end: CopyEnd, width: u64, pitch: u64) =>
            "the width of {width} bytes exceeds the {end}'s pitch of {pitch} bytes; width and pitch are in bytes \
             (elements * sizeof)";
        ArrayBounds => "the copy exceeds the cudaArray; offsets and widths are in bytes, heights in rows";
        /// An allocation to free that has been freed before.
        FreedBefore(address: u64, allocation: Box<AllocationRecord>) =>
            "{address:#x} was {allocation}, which has been freed already: free each allocation once";
        /// The line that has freed it.
        FreedBeforeAt(address: u64, allocation: Box<AllocationRecord>, line: CallSite) =>
            "{address:#x} was {allocation}, which has been freed already at {line}: free each allocation once";
        /// An address to free that is inside an allocation.
        FreedInside(address: u64, byte: u64, allocation: Box<AllocationRecord>) =>
            "{address:#x} is byte {byte} of {allocation}: pass the pointer to its start";
        /// An allocation that another function frees.
        OtherFree(address: u64, allocation: Box<AllocationRecord>) =>
            "{address:#x} is {allocation}, which another function frees: cudaFree after cudaMalloc and cudaMallocManaged, \
             cudaFreeHost after cudaMallocHost and cudaHostAlloc";
        /// An address to free that no live allocation starts with.
        NotAnAllocation(address: u64) =>
            "{address:#x} is not the start of a live allocation: it was freed before, has an offset, or comes from \
             another allocation function";
        OutOfMemory(requested: u64, free: u64) =>
            "{requested} bytes are requested, {free} bytes of the GPU's memory are free; check the computation of the \
             size for overflow, and free what is no longer used";
        TextureAddress(address: u64, alignment: Bytes) =>
            "the texture's address {address:#x} is not a multiple of {alignment}; start it at an allocation, not inside \
             one";
        TexturePitch(pitch: Bytes, alignment: Bytes) =>
            "the texture's pitch of {pitch} is not a multiple of {alignment}; allocate its rows with cudaMallocPitch";
        EventNotRecorded => "an event was never recorded; call cudaEventRecord on both events first";
        EventNotCompleted =>
            "an event has not completed yet; call cudaEventSynchronize on the second event first";
        EventWithoutTiming => "an event was created with cudaEventDisableTiming";
    }

    /// One of the two sizes of a launch.
    #[derive(Copy)]
    pub enum Shape {
        Grid => "grid";
        Block => "block";
    }

    /// One of the two ends of a copy.
    #[derive(Copy)]
    pub enum CopyEnd {
        Destination => "destination";
        Source => "source";
    }
}

/// The size of a grid or block, formatted as `4 x 1 x 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size(pub [u32; 3]);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x} x {y} x {z}")
    }
}

thread_local! {
    static REASON: RefCell<Option<Reason>> = const { RefCell::new(None) };
}

/// Notes the reason of the error that the calling thread's API call is about to return. Does nothing in a thread that
/// is ending, whose variables are gone: destructors of global objects call the API too.
pub fn note(reason: Reason) {
    let _ = REASON.try_with(|noted| noted.replace(Some(reason)));
}

/// Returns the reason that the calling thread noted last, and forgets it.
pub fn take() -> Option<Reason> {
    REASON.try_with(RefCell::take).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noted_reason_is_taken_once() {
        note(Reason::NotAKernel);
        note(Reason::EventNotRecorded);
        assert_eq!(take(), Some(Reason::EventNotRecorded));
        assert_eq!(take(), None);
    }
}
