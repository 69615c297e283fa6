//! How long a launch may take.

use std::time::{Duration, Instant};

/// Warp instructions of a launch that is too short to be shared among threads, at most.
pub const SHORT: u64 = 1 << 14;

/// A block that begins counts as so many warp instructions: setting it up takes time, however little it does.
pub const BEGINNING: u64 = 64;

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
    pub began: Instant,
    pub limit: TimeLimit,
}

impl Timing {
    /// Of a launch that begins now; none where it may take for ever: then no clock is asked, which some
    /// hosts lack.
    pub fn begin(limit: Option<TimeLimit>) -> Option<Timing> {
        limit.map(|limit| Timing {
            began: Instant::now(),
            limit,
        })
    }
}

/// One host thread's looks at the clock.
#[derive(Default)]
pub struct Looks {
    /// When the clock of its instructions reaches this, it is time for one.
    pub next: u64,
    /// How many blocks of the launch had ended at the last look, and when they first had.
    pub ended: Option<(u64, Instant)>,
    pub call: Call,
}

/// Whether other threads are called to help where a launch takes long.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Call {
    #[default]
    Never,
    /// At the look after the next, which is the first one.
    Later,
    /// At the next look.
    Next,
}
