//! Random choices that are the same on every machine.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};

/// A deterministic source of random choices.
pub struct Dice(Pcg64);

impl Dice {
    /// Creates the source for one kernel of a series. `purpose` separates the choices for the kernel's code
    /// from those for its inputs.
    pub fn new(seed: u64, kernel: u64, purpose: u64) -> Dice {
        let mixed = seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(kernel.wrapping_mul(0xd1b5_4a32_d192_ed03))
            .wrapping_add(purpose << 56);
        Dice(Pcg64::seed_from_u64(mixed))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() >> 11) as usize % bound
    }

    /// Returns a number from `low` to `high`, inclusive.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// Returns true with a probability of `percent` percent.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one element of `all`, which must not be empty.
    pub fn choose<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Returns `count` distinct numbers below `bound`, in random order; all of them if `bound` is smaller.
    pub fn sample(&mut self, count: usize, bound: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..bound).collect();
        for position in 0..count.min(bound) {
            let other = position + self.below(bound - position);
            all.swap(position, other);
        }
        all.truncate(count);
        all
    }
}
