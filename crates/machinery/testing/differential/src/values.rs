//! Random choices that are the same on every machine, and test values that are corner cases for instructions:
//! zeros of both signs, subnormal numbers, infinities, NaNs with payloads, extremes and small integers; and random
//! bits.

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

/// The kind of value that a pool's registers usually hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Int16,
    Half,
    Int32,
    Single,
    Halves,
    Int64,
    Double,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Int16,
        Kind::Half,
        Kind::Int32,
        Kind::Single,
        Kind::Halves,
        Kind::Int64,
        Kind::Double,
    ];

    /// Returns a value of this kind, in the low bits.
    pub fn value(self, dice: &mut Dice) -> u64 {
        match self {
            Kind::Int16 => integer(dice, 16),
            Kind::Int32 => integer(dice, 32),
            Kind::Int64 => integer(dice, 64),
            Kind::Half => half(dice),
            Kind::Halves => half(dice) << 16 | half(dice),
            Kind::Single => u64::from(single(dice)),
            Kind::Double => double(dice),
        }
    }
}

/// Returns a two's complement integer of `bits` bits, not sign-extended.
pub fn integer(dice: &mut Dice, bits: u32) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let value = match dice.below(8) {
        0 => dice.below(5) as u64,
        1 => (dice.below(5) as u64).wrapping_neg(),
        2 => [1 << (bits - 1), (1 << (bits - 1)) - 1, mask, mask >> 2][dice.below(4)],
        3 => [7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256][dice.below(14)],
        4 => 1u64 << dice.below(bits as usize),
        5 => mask >> dice.below(bits as usize),
        6 => dice.bits() >> (64 - dice.between(1, bits as usize)),
        _ => dice.bits(),
    };
    value & mask
}

/// Returns the bits of a single. Half of them are moderate numbers.
pub fn single(dice: &mut Dice) -> u32 {
    const SPECIAL: [u32; 24] = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x007f_ffff,
        0x0080_0000,
        0x8080_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x3f00_0000,
        0x3fc0_0000,
        0x4b80_0000,
        0x4f00_0000,
        0xcf00_0000,
        0x4f80_0000,
        0x5f00_0000,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7fff_ffff,
        0xffc1_2345,
        0x7fa0_0001,
    ];
    match dice.below(8) {
        0 | 1 => SPECIAL[dice.below(SPECIAL.len())],
        2 => (dice.between(0, 400) as f32 / 8.0 - 25.0).to_bits(),
        3 => dice.bits() as u32,
        // At most 2^-14, where halves are subnormal, or large enough for halves to overflow.
        4 => (dice.bits() as u32 & 0x81ff_ffff)
            .wrapping_add(0x3300_0000 + (dice.below(2) as u32) * 0x1400_0000),
        _ => (dice.bits() as u32 & 0x83ff_ffff).wrapping_add(0x3d80_0000),
    }
}

/// Returns the bits of a double, distributed like those of [`single`].
pub fn double(dice: &mut Dice) -> u64 {
    const SPECIAL: [u64; 20] = [
        0,
        1 << 63,
        1,
        0x800f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0xbff0_0000_0000_0000,
        0x3fe0_0000_0000_0000,
        0x41e0_0000_0000_0000,
        0x43e0_0000_0000_0000,
        0xc3e0_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0xffef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0xfff8_0000_0000_1234,
        0x7ff4_0000_0000_0001,
        0x36a0_0000_0000_0000,
        0x47ef_ffff_f000_0000,
    ];
    match dice.below(8) {
        0 | 1 => SPECIAL[dice.below(SPECIAL.len())],
        2 => f64::from(f32::from_bits(single(dice))).to_bits(),
        3 => dice.bits(),
        4 => (dice.between(0, 400) as f64 / 8.0 - 25.0).to_bits(),
        _ => (dice.bits() & 0x803f_ffff_ffff_ffff).wrapping_add(0x3fd0_0000_0000_0000),
    }
}

/// Returns the bits of a half, in either format.
pub fn half(dice: &mut Dice) -> u64 {
    const SPECIAL: [u16; 20] = [
        0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3800, 0x7bff, 0xfbff, 0x7c00,
        0xfc00, 0x7e00, 0x7fff, 0xfd01, 0x3f80, 0x7f80, 0x7fc0, 0x0080,
    ];
    u64::from(match dice.below(4) {
        0 => SPECIAL[dice.below(SPECIAL.len())],
        1 => dice.bits() as u16,
        2 => (dice.bits() as u16 & 0x8fff).wrapping_add(0x3400),
        _ => (dice.bits() as u16 & 0x87ff).wrapping_add(0x3c00),
    })
}
