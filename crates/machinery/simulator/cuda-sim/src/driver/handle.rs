//! Handles: numbers that identify the driver's objects.
//!
//! One counter numbers objects of all kinds and never repeats, so a handle that is stale, of another kind, or
//! forged is simply not found.

/// Defines a handle type for each kind of object.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);
    )*};
}

handles! {
    /// A context (`CUcontext`).
    ContextId
    /// A loaded module (`CUmodule`).
    ModuleId
    /// A kernel of a loaded module (`CUfunction`).
    FunctionId
    /// A library (`CUlibrary`).
    LibraryId
    /// A kernel of a library (`CUkernel`).
    KernelId
    /// A stream (`CUstream`).
    StreamId
    /// An event (`CUevent`).
    EventId
}

impl StreamId {
    /// The legacy default stream: a null `CUstream`.
    pub const LEGACY: Self = Self(0);
}

/// A counter that yields each handle number once.
pub(super) struct HandleCounter {
    last: u64,
}

impl HandleCounter {
    /// Creates a counter. Numbers start above the stream handles that CUDA reserves (0, 1 and 2) and are
    /// multiples of 16, like the pointers of a real driver.
    pub(super) fn new() -> Self {
        Self { last: 0x1000 }
    }

    /// Returns the next unused number.
    pub(super) fn next(&mut self) -> u64 {
        self.last += 0x10;
        self.last
    }
}
