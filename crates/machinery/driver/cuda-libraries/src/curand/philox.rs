//! Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). Ten rounds mix a
//! 128-bit counter with a key and give four numbers.

use super::distributions::Engine;

/// A position in the sequence of a seed.
pub struct Philox {
    seed: u64,
    /// The counter of the next number.
    counter: u128,
    /// The numbers of the counter.
    block: [u32; 4],
    /// How many of them have been used.
    used: usize,
}

impl Philox {
    /// Creates the generator, and skips `offset` numbers.
    pub fn new(seed: u64, offset: u64) -> Self {
        let counter = u128::from(offset / 4);
        Self {
            seed,
            counter,
            block: numbers(counter, seed),
            used: (offset % 4) as usize,
        }
    }
}

impl Engine for Philox {
    fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.counter += 1;
            self.block = numbers(self.counter, self.seed);
            self.used = 0;
        }
        let number = self.block[self.used];
        self.used += 1;
        number
    }
}

/// Returns the four numbers of a counter.
fn numbers(counter: u128, seed: u64) -> [u32; 4] {
    let mut c = [0, 32, 64, 96].map(|shift| (counter >> shift) as u32);
    let mut key = [seed as u32, (seed >> 32) as u32];
    for _ in 0..10 {
        let products = [u64::from(c[0]) * 0xd2511f53, u64::from(c[2]) * 0xcd9e8d57];
        let [high0, high1] = products.map(|product| (product >> 32) as u32);
        let [low0, low1] = products.map(|product| product as u32);
        c = [high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0];
        key[0] = key[0].wrapping_add(0x9e3779b9);
        key[1] = key[1].wrapping_add(0xbb67ae85);
    }
    c
}
