//! Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). Ten rounds mix a
//! 128-bit counter with a key and give four numbers.

use super::distributions::{Distribution, Engine};

/// The number of subsequences, from which four elements of the output come in turns. A row has four of each.
const SUBSEQUENCES: usize = 65536;
const GROUP: usize = 4;
const ROW: usize = GROUP * SUBSEQUENCES;

/// The elements of the output.
pub struct Philox {
    seed: u64,
    /// The counter at which the row starts in each subsequence.
    counter: u64,
    /// The index of the next element in its row.
    next: usize,
}

/// A position in a subsequence.
struct Position {
    seed: u64,
    /// The counter of the next four numbers.
    counter: u128,
    numbers: [u32; 4],
    /// How many of the numbers have been used.
    used: usize,
}

impl Philox {
    /// Creates the generator, and skips `offset` elements.
    pub fn new(seed: u64, offset: u64) -> Self {
        Self {
            seed,
            counter: offset / ROW as u64,
            next: (offset % ROW as u64) as usize,
        }
    }

    /// Writes the next elements.
    pub fn fill<D: Distribution>(&mut self, distribution: &D, mut to: &mut [D::Number]) {
        while let Some(first) = to.first() {
            let mut group = [*first; GROUP];
            let subsequence = self.next / GROUP;
            let mut position = Position {
                seed: self.seed,
                counter: (subsequence as u128) << 64 | u128::from(self.counter),
                numbers: [0; 4],
                used: 4,
            };
            for part in group.chunks_mut(D::GROUP) {
                distribution.draw(&mut position, part);
            }
            let group = &group[self.next % GROUP..];
            let count = group.len().min(to.len());
            let (now, later) = to.split_at_mut(count);
            now.copy_from_slice(&group[..count]);
            self.next += count;
            if self.next == ROW {
                self.next = 0;
                self.counter += D::WORDS;
            }
            to = later;
        }
    }
}

impl Engine for Position {
    fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.numbers = numbers(self.counter, self.seed);
            self.counter += 1;
            self.used = 0;
        }
        let number = self.numbers[self.used];
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
