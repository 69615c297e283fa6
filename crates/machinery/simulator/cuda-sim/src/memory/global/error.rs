//! Errors of memory allocation.

use thiserror::Error;

/// The device's memory, the host's memory or the address space is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("out of memory: {requested} bytes requested, {free} bytes free")]
pub struct OutOfMemory {
    /// The requested bytes.
    pub requested: u64,
    /// The bytes that were still available.
    pub free: u64,
}

/// The address is not the start of a live allocation of the expected kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0:#x} is not the start of a live allocation")]
pub struct NotAllocated(pub u64);

/// The host range overlaps memory that is already mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the host memory at {0:#x} is already mapped")]
pub struct AlreadyMapped(pub u64);
