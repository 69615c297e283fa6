//! The progress of a running launch, as visible to other threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A snapshot of a running launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Process-wide unique number of the launch.
    pub launch: u64,
    pub kernel: String,
    /// Number of completed blocks.
    pub blocks_done: u64,
    /// Number of blocks in the grid.
    pub blocks: u64,
}

/// The shared progress state of a running launch.
#[derive(Debug)]
pub struct LaunchProgress {
    pub launch: u64,
    pub kernel: String,
    pub blocks: u64,
    pub done: CachePadded<AtomicU64>,
}

impl LaunchProgress {
    /// Returns the number of blocks completed so far.
    pub fn blocks_done(&self) -> u64 {
        self.done.value.load(Ordering::Relaxed)
    }
}

/// A value on cache lines of its own, so that writes by many threads do not slow down readers of its neighbours
/// (false sharing). Padding is used instead of `repr(align)` because the host's allocator is slow for large
/// alignments.
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

/// A cell in which other threads can watch launches, one at a time.
#[derive(Debug)]
pub struct Watch(Mutex<Option<Arc<LaunchProgress>>>);

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

impl Watch {
    /// Creates a cell without a running launch.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the progress of the running launch, if there is one, without waiting for it.
    pub fn progress(&self) -> Option<Progress> {
        let running = self.lock().clone()?;
        Some(Progress {
            launch: running.launch,
            kernel: running.kernel.clone(),
            blocks_done: running.blocks_done(),
            blocks: running.blocks,
        })
    }

    /// Publishes `running` until the guard is dropped.
    pub fn show(&self, running: Arc<LaunchProgress>) -> ShowGuard<'_> {
        *self.lock() = Some(running);
        ShowGuard(self)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<LaunchProgress>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard that withdraws a launch when dropped.
pub struct ShowGuard<'a>(&'a Watch);

impl Drop for ShowGuard<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}
