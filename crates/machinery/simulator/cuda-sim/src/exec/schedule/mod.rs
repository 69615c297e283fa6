//! Schedules of warps and blocks: the detection of warps that spin, and the random decisions of a seeded schedule, that
//! is, which warp sleeps before an access and which is woken ([`super::instrument::random_schedule`] applies them).

pub mod progress;

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Number of unsuccessful atomics in a row after which a warp gives up its turn.
pub const ATOMIC_SPIN_LIMIT: u32 = 4;

/// Number of ordered loads of an unchanged value in a row after which a warp gives up its turn. Higher than
/// [`ATOMIC_SPIN_LIMIT`] because loads may be repeated for other reasons.
pub const LOAD_SPIN_LIMIT: u32 = 64;

/// Detects that a warp polls memory in a loop until another thread changes it: holds the warp's last probe and the
/// number of times it was repeated.
///
/// Without detection, a warp that finds a lock taken would retry until its turn is over, some ten thousand times.
/// Repeated accesses of one instruction count as spinning if each finds the same value at the same address: an
/// atomic that changes nothing, or an ordered load.
#[derive(Default)]
pub struct SpinDetector {
    last: Probe,
    repeats: u32,
}

/// An access that may be an iteration of a spin loop, and the value it found.
#[derive(Default, PartialEq, Eq)]
pub struct Probe {
    /// Host address of the decoded instruction.
    pub instruction: usize,
    /// Mask of the lanes that took part.
    pub lanes: u32,
    /// Address accessed by the first of the lanes.
    pub address: u64,
    /// Value found there.
    pub value: u64,
}

impl SpinDetector {
    /// Records a probe and returns how many times in a row it has been made, itself included.
    #[inline(always)]
    pub fn record(&mut self, probe: Probe) -> u32 {
        if self.last != probe {
            *self = SpinDetector {
                last: probe,
                repeats: 0,
            };
        }
        self.repeats = self.repeats.saturating_add(1);
        self.repeats
    }
}

/// An instruction before which a warp may fall asleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YieldPoint {
    /// Address of the instruction, or of its guard if it has one.
    pub address: u32,
    /// True if it writes.
    pub writes: bool,
    /// True if other blocks can see the memory, not only the warp's own.
    pub device: bool,
}

/// The state of a sleeping warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sleep {
    pub depth: Depth,
    /// True if it sleeps before an access to device memory.
    pub device: bool,
}

/// The depth of a sleep. Lighter sleepers are mostly woken first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Before an access that only reads.
    Read,
    /// Before an access that writes: others may still read what it will change.
    Write,
    /// In a spin loop, which probably waits for another warp.
    Spinning,
}

/// Probability, in 256ths, that a careful warp falls asleep before an access that writes.
const SLEEP_BEFORE_WRITE: u32 = 192;
/// Probability, in 256ths, that a careful warp falls asleep before an access that only reads.
const SLEEP_BEFORE_READ: u32 = 64;
/// Probability, in 256ths, that a warp which starts or is woken runs ahead.
const RUN_AHEAD: u32 = 48;
/// Binary logarithm of the maximum number of accesses that a warp passes when it runs ahead.
const MAX_AHEAD_LOG2: usize = 8;
/// Probability, in 256ths, that a block sleeps as soon as one of its warps does before an access to device
/// memory.
const BLOCK_SLEEPS_AT_ONCE: u32 = 64;
/// Probability, in 256ths, that a block sleeps once all its warps do, one of them before such an access.
const BLOCK_SLEEPS_LAST: u32 = 240;
/// Probability, in 256ths, that a sleeper of any depth may be woken.
const WAKE_ANY: u32 = 24;
/// Probability, in 256ths, that a sleeper that does not spin may be woken.
const WAKE_WRITERS: u32 = 72;

/// The state of a launch's random schedule.
pub struct RandomSchedule {
    random: Pcg32,
    /// Number of accesses that the running warp passes before it may fall asleep.
    ahead: u32,
    /// True if the running block should sleep.
    block_sleep_due: bool,
}

impl RandomSchedule {
    /// Creates the schedule of a seed.
    pub fn new(seed: u64) -> RandomSchedule {
        RandomSchedule {
            random: Pcg32::seed_from_u64(seed),
            ahead: 0,
            block_sleep_due: false,
        }
    }

    /// Returns true with a probability of `of_256` in 256.
    fn chance(&mut self, of_256: u32) -> bool {
        self.random.next_u32() >> 24 < of_256
    }

    /// Returns true or false with equal probability.
    pub fn coin_flip(&mut self) -> bool {
        self.chance(128)
    }

    /// Returns a random number below `count`, which must not be 0.
    pub fn index_below(&mut self, count: usize) -> usize {
        ((u64::from(self.random.next_u32()) * count as u64) >> 32) as usize
    }

    /// Draws the depth up to which sleepers may be woken now.
    pub fn wake_depth(&mut self) -> Depth {
        match self.random.next_u32() >> 24 {
            any if any < WAKE_ANY => Depth::Spinning,
            writers if writers < WAKE_ANY + WAKE_WRITERS => Depth::Write,
            _ => Depth::Read,
        }
    }

    /// Decides how far a warp runs ahead when it continues. `slept`: it was asleep before an access.
    pub fn resume(&mut self, slept: bool) {
        self.ahead = if self.chance(RUN_AHEAD) {
            1 << self.index_below(MAX_AHEAD_LOG2 + 1)
        } else {
            u32::from(slept)
        };
    }

    /// Decides whether the running warp falls asleep before an access.
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

    /// Returns true if the running block should sleep at once, and resets that decision.
    pub fn take_block_sleep(&mut self) -> bool {
        std::mem::take(&mut self.block_sleep_due)
    }

    /// Decides whether a block sleeps all of whose warps sleep, one of them before an access to device memory.
    pub fn should_block_sleep(&mut self) -> bool {
        self.chance(BLOCK_SLEEPS_LAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_counted_while_the_value_is_unchanged() {
        let probe = |value| Probe {
            instruction: 1,
            value,
            ..Probe::default()
        };
        let mut detector = SpinDetector::default();
        let repeats = [5, 5, 5, 6, 5, 5].map(|value| detector.record(probe(value)));
        assert_eq!(repeats, [1, 2, 3, 1, 1, 2]);
    }
}
