//! How long a launch may take.

use std::time::{Duration, Instant};

/// Warp instructions of a launch that is too short to be shared among threads, at most.
pub const SHORT_LAUNCH: u64 = 1 << 14;

/// A block that begins counts as so many warp instructions: setting it up takes time, however little it does.
pub const BLOCK_START_COST: u64 = 64;

/// How long a launch may take, on the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// All of it.
    Launch(Duration),
    /// While none of its blocks ends. A launch that gets on may take as long as it likes.
    Standstill(Duration),
}

/// A launch's time, from its beginning.
pub struct Timing {
    pub start: Instant,
    pub limit: TimeLimit,
}

impl Timing {
    /// Of a launch that begins now; none where it may take for ever: then no clock is asked, which some
    /// hosts lack.
    pub fn start(limit: Option<TimeLimit>) -> Option<Timing> {
        limit.map(|limit| Timing {
            start: Instant::now(),
            limit,
        })
    }
}

/// One host thread's looks at the clock.
#[derive(Default)]
pub struct Watchdog {
    /// When the clock of its instructions reaches this, it is time for one.
    pub next_poll: u64,
    /// How many blocks of the launch had ended at the last look, and when they first had.
    pub last_change: Option<(u64, Instant)>,
    pub wake: WakeTime,
}

/// Whether other threads are called to help where a launch takes long.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum WakeTime {
    #[default]
    Never,
    /// At the look after the next, which is the first one.
    AfterNextPoll,
    /// At the next look.
    AtNextPoll,
}
