//! Handles: numbers that name the driver's objects.
//!
//! One counter numbers the objects of every kind and never repeats, so a handle that is stale, of
//! another kind or made up is simply not found.

/// Makes a type for the handles of each kind of object.
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

/// Deals out the numbers of handles, each once.
pub(super) struct HandleCounter {
    last: u64,
}

impl HandleCounter {
    /// A counter that has dealt out none. Numbers start above the stream handles that CUDA reserves
    /// (0, 1 and 2) and are multiples of 16, as the pointers of a real driver would be.
    pub(super) fn new() -> Self {
        Self { last: 0x1000 }
    }

    /// A number that no handle has had.
    pub(super) fn next(&mut self) -> u64 {
        self.last += 0x10;
        self.last
    }
}
