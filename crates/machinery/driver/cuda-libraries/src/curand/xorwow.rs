//! XORWOW: Marsaglia's generator of five words (Journal of Statistical Software 8, 2003) with its Weyl sequence.

use std::sync::LazyLock;

use super::distributions::Engine;
use super::interleaved::Subsequences;

/// The state: the five words and the Weyl sequence.
#[derive(Clone, Copy)]
pub struct Xorwow {
    words: [u32; 5],
    weyl: u32,
}

const WEYL_STEP: u32 = 362437;

/// The number of steps between two subsequences is two to this power.
const SUBSEQUENCE: usize = 67;

/// A linear map of the five words over GF(2): the image of each of the 160 bits.
type Matrix = [[u32; 5]; 160];

/// The maps of 1, 2, 4, … steps, up to a subsequence.
static POWERS: LazyLock<Vec<Matrix>> = LazyLock::new(|| {
    let mut first = [[0; 5]; 160];
    for (bit, image) in first.iter_mut().enumerate() {
        image[bit / 32] = 1 << (bit % 32);
        step(image);
    }
    let square = |matrix: &Matrix| Some(matrix.map(|image| apply(matrix, image)));
    let powers = std::iter::successors(Some(first), square);
    powers.take(SUBSEQUENCE + 1).collect()
});

/// Returns the image of the words.
fn apply(matrix: &Matrix, words: [u32; 5]) -> [u32; 5] {
    let mut image = [0; 5];
    for (word, rows) in words.into_iter().zip(matrix.chunks_exact(32)) {
        for (bit, row) in rows.iter().enumerate() {
            let mask = (word >> bit & 1).wrapping_neg();
            for (sum, part) in image.iter_mut().zip(row) {
                *sum ^= part & mask;
            }
        }
    }
    image
}

fn step(words: &mut [u32; 5]) {
    let t = words[0] ^ words[0] >> 2;
    words.rotate_left(1);
    words[4] = words[3] ^ words[3] << 4 ^ t ^ t << 1;
}

impl Xorwow {
    /// Creates the generator of the first subsequence.
    pub fn new(seed: u64) -> Self {
        let low = (seed as u32 ^ 0xaad26b49).wrapping_mul(1099087573);
        let high = ((seed >> 32) as u32 ^ 0xf7dcefdd).wrapping_mul(2591861531);
        Self {
            words: [
                123456789u32.wrapping_add(low),
                362436069 ^ low,
                521288629u32.wrapping_add(high),
                88675123 ^ high,
                5783321u32.wrapping_add(low),
            ],
            weyl: 6615241u32.wrapping_add(low).wrapping_add(high),
        }
    }
}

impl Subsequences for Xorwow {
    fn skip(&mut self, count: u64) {
        for bit in (0..64).filter(|bit| count >> bit & 1 != 0) {
            self.words = apply(&POWERS[bit], self.words);
        }
        self.weyl = self.weyl.wrapping_add(WEYL_STEP.wrapping_mul(count as u32));
    }

    /// The length of a subsequence is a multiple of the Weyl sequence's period.
    fn skip_subsequence(&mut self) {
        self.words = apply(&POWERS[SUBSEQUENCE], self.words);
    }
}

impl Engine for Xorwow {
    fn bits(&mut self) -> u32 {
        step(&mut self.words);
        self.weyl = self.weyl.wrapping_add(WEYL_STEP);
        self.words[4].wrapping_add(self.weyl)
    }
}
