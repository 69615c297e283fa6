//! Handles: numbers that name the driver's objects.
//!
//! One counter numbers the objects of every kind and never repeats, so a handle that is stale, of
//! another kind or made up is simply not found.

/// Names one kind of object by number.
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
    /// A stream (`CUstream`).
    StreamId
    /// An event (`CUevent`).
    EventId
}

impl StreamId {
    /// The legacy default stream: a null `CUstream`.
    pub const LEGACY: Self = Self(0);
}

/// Deals out handle numbers.
pub(super) struct Handles {
    next: u64,
}

impl Handles {
    /// Numbers start above the stream handles CUDA reserves (0, 1 and 2) and, like pointers, are
    /// aligned.
    pub(super) fn new() -> Self {
        Self { next: 0x1000 }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.next += 0x10;
        self.next
    }
}
