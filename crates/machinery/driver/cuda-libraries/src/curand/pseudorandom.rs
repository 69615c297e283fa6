//! The pseudorandom generators XORWOW, MRG32k3a and Philox. Their numbers come in turns from many subsequences, as if each
//! GPU thread had one.

use std::sync::LazyLock;

use super::distributions::{Distribution, Engine, box_muller, box_muller_double};

/// A generator with subsequences.
pub trait Subsequences: Clone {
    /// Skips numbers.
    fn skip(&mut self, count: u64);
    /// Skips a subsequence.
    fn skip_subsequence(&mut self);
}

/// The generators of all subsequences.
pub struct Interleaved<E> {
    engines: Vec<E>,
    /// The engine of the next number.
    next: usize,
}

impl<E: Engine + Subsequences> Interleaved<E> {
    /// Creates the generators of this number of subsequences, which continue `first`. Skips `offset` numbers.
    pub fn new(first: E, count: usize, offset: u64) -> Self {
        let next_subsequence = |engine: &E| {
            let mut engine = engine.clone();
            engine.skip_subsequence();
            Some(engine)
        };
        let engines = std::iter::successors(Some(first), next_subsequence);
        let mut engines: Vec<E> = engines.take(count).collect();
        let next = (offset % count as u64) as usize;
        for (index, engine) in engines.iter_mut().enumerate() {
            engine.skip(offset / count as u64 + u64::from(index < next));
        }
        Self { engines, next }
    }

    /// Writes the next numbers.
    pub fn fill<D: Distribution>(&mut self, distribution: &D, to: &mut [D::Number]) {
        for group in to.chunks_mut(D::GROUP) {
            distribution.draw(&mut self.engines[self.next], group);
            self.next = (self.next + 1) % self.engines.len();
        }
    }
}

/// XORWOW: Marsaglia's generator of five words (Journal of Statistical Software 8, 2003) with its Weyl sequence.
#[derive(Clone, Copy)]
pub struct Xorwow {
    words: [u32; 5],
    weyl: u32,
}

const WEYL_STEP: u32 = 362437;

/// The number of steps between two subsequences is two to this power.
const XORWOW_SUBSEQUENCE: usize = 67;

/// A linear map of the five words over GF(2): the image of each of the 160 bits.
type BitMatrix = [[u32; 5]; 160];

/// The maps of 1, 2, 4, … steps, up to a subsequence.
static XORWOW_POWERS: LazyLock<Vec<BitMatrix>> = LazyLock::new(|| {
    let mut first = [[0; 5]; 160];
    for (bit, image) in first.iter_mut().enumerate() {
        image[bit / 32] = 1 << (bit % 32);
        step(image);
    }
    let square = |matrix: &BitMatrix| Some(matrix.map(|image| apply(matrix, image)));
    let powers = std::iter::successors(Some(first), square);
    powers.take(XORWOW_SUBSEQUENCE + 1).collect()
});

/// Returns the image of the words.
fn apply(matrix: &BitMatrix, words: [u32; 5]) -> [u32; 5] {
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
            self.words = apply(&XORWOW_POWERS[bit], self.words);
        }
        self.weyl = self.weyl.wrapping_add(WEYL_STEP.wrapping_mul(count as u32));
    }

    /// The length of a subsequence is a multiple of the Weyl sequence's period.
    fn skip_subsequence(&mut self) {
        self.words = apply(&XORWOW_POWERS[XORWOW_SUBSEQUENCE], self.words);
    }
}

impl Engine for Xorwow {
    fn bits(&mut self) -> u32 {
        step(&mut self.words);
        self.weyl = self.weyl.wrapping_add(WEYL_STEP);
        self.words[4].wrapping_add(self.weyl)
    }
}

/// MRG32k3a: L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators"
/// (1999). Two recurrences of order three; the next number is the difference of their newest values. The state is the last
/// three values of each recurrence, the oldest first.
#[derive(Clone, Copy)]
pub struct Mrg32k3a([[u32; 3]; 2]);

const MODULI: [u32; 2] = [4294967087, 4294944443];

/// The coefficients of the last three values in the next one.
const COEFFICIENTS: [[u32; 3]; 2] = [
    [MODULI[0] - 810728, 1403580, 0],
    [MODULI[1] - 1370589, 0, 527612],
];

/// The number of steps between two subsequences is two to this power.
const MRG32K3A_SUBSEQUENCE: usize = 76;

type Matrix = [[u32; 3]; 3];

/// The maps of both recurrences for 1, 2, 4, … steps, up to a subsequence.
static MRG32K3A_POWERS: LazyLock<Vec<[Matrix; 2]>> = LazyLock::new(|| {
    let first = COEFFICIENTS.map(|newest| [[0, 1, 0], [0, 0, 1], newest]);
    let square = |matrices: &[Matrix; 2]| {
        let squares = [0, 1].map(|n| square(&matrices[n], MODULI[n]));
        Some(squares)
    };
    let powers = std::iter::successors(Some(first), square);
    powers.take(MRG32K3A_SUBSEQUENCE + 1).collect()
});

fn square(matrix: &Matrix, modulus: u32) -> Matrix {
    let column = |j: usize| matrix.map(|row| row[j]);
    matrix.map(|row| [0, 1, 2].map(|j| dot(row, column(j), modulus)))
}

/// Returns the scalar product of three values.
fn dot(a: [u32; 3], b: [u32; 3], modulus: u32) -> u32 {
    let modulus = u64::from(modulus);
    let terms = a.into_iter().zip(b);
    let sum: u64 = terms
        .map(|(a, b)| u64::from(a) * u64::from(b) % modulus)
        .sum();
    (sum % modulus) as u32
}

impl Mrg32k3a {
    /// Creates the generator of the first subsequence. A seed of 0 gives the publication's initial state.
    pub fn new(seed: u64) -> Self {
        const INITIAL: u32 = 12345;
        if seed == 0 {
            return Self([[INITIAL; 3]; 2]);
        }
        let low = seed as u32 ^ 0x55555555;
        let high = (seed >> 32) as u32 ^ 0xaaaaaaaa;
        let product = |factor: u32, n: usize| {
            let product = u64::from(factor) * u64::from(INITIAL) % u64::from(MODULI[n]);
            product as u32
        };
        Self([
            [low, high, low].map(|factor| product(factor, 0)),
            [high, low, high].map(|factor| product(factor, 1)),
        ])
    }

    fn apply(&mut self, matrices: &[Matrix; 2]) {
        for (n, state) in self.0.iter_mut().enumerate() {
            *state = matrices[n].map(|row| dot(row, *state, MODULI[n]));
        }
    }

    /// Returns the next number, from 1 to the first modulus.
    pub fn next(&mut self) -> u32 {
        let [x, y] = [0, 1].map(|n| dot(COEFFICIENTS[n], self.0[n], MODULI[n]));
        for (state, newest) in self.0.iter_mut().zip([x, y]) {
            *state = [state[1], state[2], newest];
        }
        if x > y {
            x - y
        } else {
            x.wrapping_sub(y).wrapping_add(MODULI[0])
        }
    }
}

impl Subsequences for Mrg32k3a {
    fn skip(&mut self, count: u64) {
        for bit in (0..64).filter(|bit| count >> bit & 1 != 0) {
            self.apply(&MRG32K3A_POWERS[bit]);
        }
    }

    fn skip_subsequence(&mut self) {
        self.apply(&MRG32K3A_POWERS[MRG32K3A_SUBSEQUENCE]);
    }
}

/// The uniform numbers use the generator's own numbers, because their 32-bit forms are less uniform.
impl Engine for Mrg32k3a {
    fn bits(&mut self) -> u32 {
        (f64::from(self.next()) * 1.000000048662) as u32
    }

    fn uniform(&mut self) -> f32 {
        self.uniform_double() as f32
    }

    fn uniform_double(&mut self) -> f64 {
        f64::from(self.next()) * 2.328306549837829e-10
    }

    fn normal(&mut self) -> [f32; 2] {
        let x = self.uniform();
        box_muller(x, self.uniform() * std::f32::consts::TAU)
    }

    fn normal_double(&mut self) -> [f64; 2] {
        let x = self.uniform_double();
        box_muller_double(x, self.uniform_double() * 2.0)
    }
}

/// The number of subsequences, from which four elements of the output come in turns. A row has four of each.
const PHILOX_SUBSEQUENCES: usize = 65536;
const PHILOX_GROUP: usize = 4;
const PHILOX_ROW: usize = PHILOX_GROUP * PHILOX_SUBSEQUENCES;

/// Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). Ten rounds mix a
/// 128-bit counter with a key and give four numbers.
pub struct Philox {
    seed: u64,
    /// The counter at which the row starts in each subsequence.
    counter: u64,
    /// The index of the next element in its row.
    next: usize,
}

/// A position in a subsequence.
struct PhiloxPosition {
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
            counter: offset / PHILOX_ROW as u64,
            next: (offset % PHILOX_ROW as u64) as usize,
        }
    }

    /// Writes the next elements.
    pub fn fill<D: Distribution>(&mut self, distribution: &D, mut to: &mut [D::Number]) {
        while let Some(first) = to.first() {
            let mut group = [*first; PHILOX_GROUP];
            let subsequence = self.next / PHILOX_GROUP;
            let mut position = PhiloxPosition {
                seed: self.seed,
                counter: (subsequence as u128) << 64 | u128::from(self.counter),
                numbers: [0; 4],
                used: 4,
            };
            for part in group.chunks_mut(D::GROUP) {
                distribution.draw(&mut position, part);
            }
            let group = &group[self.next % PHILOX_GROUP..];
            let count = group.len().min(to.len());
            let (now, later) = to.split_at_mut(count);
            now.copy_from_slice(&group[..count]);
            self.next += count;
            if self.next == PHILOX_ROW {
                self.next = 0;
                self.counter += D::WORDS;
            }
            to = later;
        }
    }
}

impl Engine for PhiloxPosition {
    fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.numbers = philox_numbers(self.counter, self.seed);
            self.counter += 1;
            self.used = 0;
        }
        let number = self.numbers[self.used];
        self.used += 1;
        number
    }
}

/// Returns the four numbers of a counter.
fn philox_numbers(counter: u128, seed: u64) -> [u32; 4] {
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
