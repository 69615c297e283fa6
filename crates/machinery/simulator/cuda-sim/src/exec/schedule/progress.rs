//! The progress of a running launch, as visible to other threads, and what may end it early: its time limit, which
//! each host thread polls, and interruption.

use crate::check::TimeLimit;
use crate::memory::lock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

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
        let running = lock(&self.0).clone()?;
        Some(Progress {
            launch: running.launch,
            kernel: running.kernel.clone(),
            blocks_done: running.blocks_done(),
            blocks: running.blocks,
        })
    }

    /// Publishes `running` until the guard is dropped. Returns `None` for a launch that a thread of the running launch
    /// waits for.
    pub fn show(&self, running: Arc<LaunchProgress>) -> Option<ShowGuard<'_>> {
        let mut shown = lock(&self.0);
        let is_nested = shown.is_some();
        shown.get_or_insert(running);
        (!is_nested).then(|| ShowGuard(self))
    }
}

/// Guard that withdraws a launch when dropped.
pub struct ShowGuard<'a>(&'a Watch);

impl Drop for ShowGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.0.0) = None;
    }
}

/// Maximum number of warp instructions of a launch that is too short to share among threads.
pub const SHORT_LAUNCH: u64 = 1 << 14;

/// Cost of starting a block in warp instructions: its set-up takes time, however little the block does.
pub const BLOCK_START_COST: u64 = 64;

/// Start time and time limit of a launch.
pub struct Timing {
    pub start: Instant,
    pub limit: TimeLimit,
}

impl Timing {
    /// Starts the clock. Returns `None` for an unlimited launch: then no clock is read, which some hosts lack.
    pub fn start(limit: Option<TimeLimit>) -> Option<Timing> {
        limit.map(|limit| Timing {
            start: Instant::now(),
            limit,
        })
    }
}

/// One host thread's watchdog state.
#[derive(Default)]
pub struct Watchdog {
    /// Value of the SM's instruction clock at which the next poll is due.
    pub next_poll: u64,
    /// Number of blocks that had ended at the last poll, and when that number was first seen.
    pub last_change: Option<(u64, Instant)>,
    pub wake: WakeTime,
}

/// The poll at which other workers are woken to help with a long launch.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum WakeTime {
    #[default]
    Never,
    /// At the second poll of the clock.
    AfterNextPoll,
    /// At the next poll.
    AtNextPoll,
}

/// True if the running launch should end. Launches of a process run one at a time, so one flag suffices.
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Ends the running launch. Async-signal-safe.
pub fn interrupt() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Discards earlier requests, which must not affect a launch that starts now.
pub fn forget_interrupts() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// Returns true if the running launch should end.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
