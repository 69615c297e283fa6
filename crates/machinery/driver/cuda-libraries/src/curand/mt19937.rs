//! MT19937: Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudo-random number
//! generator" (1998). cuRAND takes its numbers in turns from many places of the sequence; here they come in order.

use super::distributions::Engine;

const N: usize = 624;
const M: usize = 397;

/// The last 624 words of the sequence.
pub struct Mt19937 {
    state: [u32; N],
    /// The index of the oldest word.
    oldest: usize,
}

impl Mt19937 {
    /// Creates the generator. Only the lower half of the seed counts, as in cuRAND.
    pub fn new(seed: u64) -> Self {
        let mut state = [seed as u32; N];
        for index in 1..N {
            let last = state[index - 1];
            let mixed = 1_812_433_253_u32.wrapping_mul(last ^ last >> 30);
            state[index] = mixed.wrapping_add(index as u32);
        }
        Self { state, oldest: 0 }
    }
}

impl Engine for Mt19937 {
    fn bits(&mut self) -> u32 {
        let at = |offset: usize| self.state[(self.oldest + offset) % N];
        let joined = at(0) & 0x8000_0000 | at(1) & 0x7fff_ffff;
        let mut x = at(M) ^ joined >> 1 ^ (joined & 1).wrapping_neg() & 0x9908_b0df;
        self.state[self.oldest] = x;
        self.oldest = (self.oldest + 1) % N;
        x ^= x >> 11;
        x ^= x << 7 & 0x9d2c_5680;
        x ^= x << 15 & 0xefc6_0000;
        x ^ x >> 18
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the ten thousandth number, as in C++'s standard.
    #[test]
    fn the_sequence_is_that_of_the_standard() {
        let mut engine = Mt19937::new(5489);
        assert_eq!(engine.bits(), 3_499_211_612);
        let numbers = std::iter::repeat_with(|| engine.bits());
        assert_eq!(numbers.take(9_999).last(), Some(4_123_659_995));
    }
}
