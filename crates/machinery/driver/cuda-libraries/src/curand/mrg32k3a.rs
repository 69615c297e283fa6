//! MRG32k3a: L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators"
//! (1999). Two recurrences of order three; the next number is the difference of their newest values.

use std::sync::LazyLock;

use super::distributions::{Engine, box_muller, box_muller_double};
use super::interleaved::Subsequences;

/// A state: of each recurrence the last three values, the oldest first.
#[derive(Clone, Copy)]
pub struct Mrg32k3a([[u32; 3]; 2]);

const MODULI: [u32; 2] = [4294967087, 4294944443];

/// The coefficients of the last three values in the next one.
const COEFFICIENTS: [[u32; 3]; 2] = [
    [MODULI[0] - 810728, 1403580, 0],
    [MODULI[1] - 1370589, 0, 527612],
];

/// The number of steps between two subsequences is two to this power.
const SUBSEQUENCE: usize = 76;

type Matrix = [[u32; 3]; 3];

/// The maps of both recurrences for 1, 2, 4, … steps, up to a subsequence.
static POWERS: LazyLock<Vec<[Matrix; 2]>> = LazyLock::new(|| {
    let first = COEFFICIENTS.map(|newest| [[0, 1, 0], [0, 0, 1], newest]);
    let square = |matrices: &[Matrix; 2]| {
        let squares = [0, 1].map(|n| square(&matrices[n], MODULI[n]));
        Some(squares)
    };
    let powers = std::iter::successors(Some(first), square);
    powers.take(SUBSEQUENCE + 1).collect()
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
            self.apply(&POWERS[bit]);
        }
    }

    fn skip_subsequence(&mut self) {
        self.apply(&POWERS[SUBSEQUENCE]);
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
