//! Time limits of launches, and the state with which each host thread polls the clock.

use std::time::{Duration, Instant};

/// Maximum number of warp instructions of a launch that is too short to share among threads.
pub const SHORT_LAUNCH: u64 = 1 << 14;

/// Cost of starting a block in warp instructions: its set-up takes time, however little the block does.
pub const BLOCK_START_COST: u64 = 64;

/// A wall-clock time limit of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// Limit for the whole launch.
    Launch(Duration),
    /// Limit for the time in which no block ends. A launch that makes progress may take any time.
    Standstill(Duration),
}

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
