//! Random choices, the same ones on every machine.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};

/// A source of random choices.
pub struct Dice(Pcg64);

impl Dice {
    /// The choices that belong to a kernel of a series; `purpose` keeps its code and its inputs apart.
    pub fn new(seed: u64, kernel: u64, purpose: u64) -> Dice {
        let mixed = seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(kernel.wrapping_mul(0xd1b5_4a32_d192_ed03))
            .wrapping_add(purpose << 56);
        Dice(Pcg64::seed_from_u64(mixed))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `sides`, which is not zero.
    pub fn below(&mut self, sides: usize) -> usize {
        (self.bits() >> 11) as usize % sides
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `all`, of which there is at least one.
    pub fn one<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// `count` different numbers below `sides`, in random order; as many as there are if fewer.
    pub fn different(&mut self, count: usize, sides: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..sides).collect();
        for place in 0..count.min(sides) {
            let other = place + self.below(sides - place);
            all.swap(place, other);
        }
        all.truncate(count);
        all
    }
}
