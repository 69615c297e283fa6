//! An order of warps and blocks that nobody can foretell: who falls asleep before what, and who is woken.
//! What asks is in [`super::instrument::random_schedule`].

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Where a warp may fall asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
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
    Waits,
}

/// How often, of 256 times, a careful warp falls asleep before an access that writes.
const BEFORE_WRITE: u32 = 192;
/// The same before an access that only reads.
const BEFORE_READ: u32 = 64;
/// How often a warp that begins or is woken runs ahead.
const RUNS_AHEAD: u32 = 48;
/// The most accesses that a warp which runs ahead passes, as a power of two.
const AHEAD: usize = 8;
/// How often a block sleeps at once when one of its warps does before an access of device memory.
const BLOCK_AT_ONCE: u32 = 64;
/// How often it does when all of its warps sleep, one of them before such an access.
const BLOCK_AT_LAST: u32 = 240;
/// How often whoever sleeps is woken, however deep.
const WAKES_ANY: u32 = 24;
/// How often whoever does not wait is.
const WAKES_WRITERS: u32 = 72;

/// The order of a launch, as far as it has come.
pub struct Order {
    random: Pcg32,
    /// Accesses that the running warp passes before it may fall asleep.
    ahead: u32,
    /// The running block is to sleep.
    block_sleeps: bool,
}

impl Order {
    /// The order that a seed gives, at its beginning.
    pub fn new(seed: u64) -> Order {
        Order {
            random: Pcg32::seed_from_u64(seed),
            ahead: 0,
            block_sleeps: false,
        }
    }

    /// True so often of 256 times.
    fn happens(&mut self, often: u32) -> bool {
        self.random.next_u32() >> 24 < often
    }

    /// One of two ways.
    pub fn either(&mut self) -> bool {
        self.happens(128)
    }

    /// A number below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.random.next_u32()) * count as u64) >> 32) as usize
    }

    /// Who sleeps no deeper is to be woken.
    pub fn wakes(&mut self) -> Depth {
        match self.random.next_u32() >> 24 {
            any if any < WAKES_ANY => Depth::Waits,
            writers if writers < WAKES_ANY + WAKES_WRITERS => Depth::Write,
            _ => Depth::Read,
        }
    }

    /// A warp goes on, which slept before an access or did not.
    pub fn go_on(&mut self, slept: bool) {
        self.ahead = match self.happens(RUNS_AHEAD) {
            true => 1 << self.below(AHEAD + 1),
            false => u32::from(slept),
        };
    }

    /// Whether the running warp falls asleep before an access.
    pub fn falls_asleep(&mut self, writes: bool, device: bool) -> bool {
        if self.ahead > 0 {
            self.ahead -= 1;
            return false;
        }
        let sleeps = self.happens(if writes { BEFORE_WRITE } else { BEFORE_READ });
        self.block_sleeps |= sleeps && device && self.happens(BLOCK_AT_ONCE);
        sleeps
    }

    /// Whether the running block is to sleep at once: this is asked once.
    pub fn block_sleeps_at_once(&mut self) -> bool {
        std::mem::take(&mut self.block_sleeps)
    }

    /// Whether a block sleeps all of whose warps do, one of them before an access of device memory.
    pub fn block_sleeps_at_last(&mut self) -> bool {
        self.happens(BLOCK_AT_LAST)
    }
}
