//! What can go wrong with allocations of device memory.

use thiserror::Error;

/// No room: the device's memory, the host's memory or the address space is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("out of memory: {requested} bytes asked for, {free} bytes free")]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes that could still have been had.
    pub free: u64,
}

/// The address is not the start of a live allocation of the kind to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0:#x} is not the start of a live allocation")]
pub struct NotAllocated(pub u64);

/// The host range overlaps memory that is mapped already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the host memory at {0:#x} is mapped already")]
pub struct AlreadyMapped(pub u64);
