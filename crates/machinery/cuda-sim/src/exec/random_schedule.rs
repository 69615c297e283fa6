//! An order of warps and blocks that nobody can foretell: who falls asleep before what, and who is woken.
//! What asks is in [`super::instrument::random_schedule`].

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Where a warp may fall asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YieldPoint {
    /// The instruction's address; that of its guard where it has one.
    pub address: u32,
    /// It writes.
    pub writes: bool,
    /// Other blocks may see the memory, and not only this one.
    pub device: bool,
}

/// A warp that sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sleep {
    pub depth: Depth,
    /// It sleeps before an access of device memory.
    pub device: bool,
}

/// How deep a warp sleeps: who sleeps less deep is mostly woken first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Before an access that only reads.
    Read,
    /// Before one that writes: others may read what it will change.
    Write,
    /// It has asked memory something, and seems to wait for another answer.
    Spinning,
}

/// How often, of 256 times, a careful warp falls asleep before an access that writes.
const SLEEP_BEFORE_WRITE: u32 = 192;
/// The same before an access that only reads.
const SLEEP_BEFORE_READ: u32 = 64;
/// How often a warp that begins or is woken runs ahead.
const RUN_AHEAD: u32 = 48;
/// The most accesses that a warp which runs ahead passes, as a power of two.
const MAX_AHEAD_LOG2: usize = 8;
/// How often a block sleeps at once when one of its warps does before an access of device memory.
const BLOCK_SLEEPS_AT_ONCE: u32 = 64;
/// How often it does when all of its warps sleep, one of them before such an access.
const BLOCK_SLEEPS_LAST: u32 = 240;
/// How often whoever sleeps is woken, however deep.
const WAKE_ANY: u32 = 24;
/// How often whoever does not wait is.
const WAKE_WRITERS: u32 = 72;

/// The order of a launch, as far as it has come.
pub struct RandomSchedule {
    random: Pcg32,
    /// Accesses that the running warp passes before it may fall asleep.
    ahead: u32,
    /// The running block is to sleep.
    block_sleep_due: bool,
}

impl RandomSchedule {
    /// The order that a seed gives, at its beginning.
    pub fn new(seed: u64) -> RandomSchedule {
        RandomSchedule {
            random: Pcg32::seed_from_u64(seed),
            ahead: 0,
            block_sleep_due: false,
        }
    }

    /// True so often of 256 times.
    fn chance(&mut self, of_256: u32) -> bool {
        self.random.next_u32() >> 24 < of_256
    }

    /// One of two ways.
    pub fn coin_flip(&mut self) -> bool {
        self.chance(128)
    }

    /// A number below `count`, which is not 0.
    pub fn index_below(&mut self, count: usize) -> usize {
        ((u64::from(self.random.next_u32()) * count as u64) >> 32) as usize
    }

    /// Who sleeps no deeper is to be woken.
    pub fn wake_depth(&mut self) -> Depth {
        match self.random.next_u32() >> 24 {
            any if any < WAKE_ANY => Depth::Spinning,
            writers if writers < WAKE_ANY + WAKE_WRITERS => Depth::Write,
            _ => Depth::Read,
        }
    }

    /// A warp goes on, which slept before an access or did not.
    pub fn resume(&mut self, slept: bool) {
        self.ahead = match self.chance(RUN_AHEAD) {
            true => 1 << self.index_below(MAX_AHEAD_LOG2 + 1),
            false => u32::from(slept),
        };
    }

    /// Whether the running warp falls asleep before an access.
    pub fn should_sleep(&mut self, writes: bool, device: bool) -> bool {
        if self.ahead > 0 {
            self.ahead -= 1;
            return false;
        }
        let sleeps = self.chance(if writes {
            SLEEP_BEFORE_WRITE
        } else {
            SLEEP_BEFORE_READ
        });
        self.block_sleep_due |= sleeps && device && self.chance(BLOCK_SLEEPS_AT_ONCE);
        sleeps
    }

    /// Whether the running block is to sleep at once: this is asked once.
    pub fn take_block_sleep(&mut self) -> bool {
        std::mem::take(&mut self.block_sleep_due)
    }

    /// Whether a block sleeps all of whose warps do, one of them before an access of device memory.
    pub fn should_block_sleep(&mut self) -> bool {
        self.chance(BLOCK_SLEEPS_LAST)
    }
}
