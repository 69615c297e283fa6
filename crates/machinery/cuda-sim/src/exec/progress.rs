//! How far a launch is, for whoever looks on from another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A launch under way, at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Tells launches apart: no two of a process have the same.
    pub launch: u64,
    /// The kernel's name.
    pub kernel: String,
    /// Blocks that have run to their end.
    pub blocks_done: u64,
    /// Blocks of the grid.
    pub blocks: u64,
}

/// What a launch in progress shows of itself.
#[derive(Debug)]
pub struct LaunchProgress {
    pub launch: u64,
    pub kernel: String,
    pub blocks: u64,
    pub done: CachePadded<AtomicU64>,
}

impl LaunchProgress {
    /// Blocks that have run to their end so far.
    pub fn blocks_done(&self) -> u64 {
        self.done.value.load(Ordering::Relaxed)
    }
}

/// Something that many threads write to, in a line of the CPU's caches that has nothing else in it:
/// who reads what lies next to it need not wait for them. It is kept apart by what lies around it, for memory
/// of a large alignment takes the host's allocator long.
#[derive(Debug)]
#[repr(C)]
pub struct CachePadded<T> {
    before: [u64; 15],
    pub value: T,
    after: [u64; 15],
}

impl<T> CachePadded<T> {
    pub const fn new(value: T) -> Self {
        CachePadded {
            before: [0; 15],
            value,
            after: [0; 15],
        }
    }
}

/// Where launches, one at a time, can be watched from any thread.
#[derive(Debug)]
pub struct Watch(Mutex<Option<Arc<LaunchProgress>>>);

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

impl Watch {
    /// A place where nothing is under way yet.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The launch under way now, if there is one. Waits for no launch.
    pub fn progress(&self) -> Option<Progress> {
        let running = self.lock().clone()?;
        Some(Progress {
            launch: running.launch,
            kernel: running.kernel.clone(),
            blocks_done: running.blocks_done(),
            blocks: running.blocks,
        })
    }

    /// Shows `running` until the guard is dropped.
    pub(super) fn show(&self, running: Arc<LaunchProgress>) -> ShowGuard<'_> {
        *self.lock() = Some(running);
        ShowGuard(self)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<LaunchProgress>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A launch is under way while this lives.
pub(super) struct ShowGuard<'a>(&'a Watch);

impl Drop for ShowGuard<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}
