//! A size and a seed, and what is drawn from it.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A size and a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// One to three numbers, x first.
    pub size: Vec<u32>,
    /// What its inputs are drawn from.
    pub seed: u64,
}

impl Case {
    /// Its first number.
    pub fn n(&self) -> usize {
        self.at(0)
    }

    /// Along x: the first number.
    pub fn width(&self) -> usize {
        self.at(0)
    }

    /// Along y: the second number, 1 where there is none.
    pub fn height(&self) -> usize {
        self.at(1)
    }

    /// Along z: the third number, 1 where there is none.
    pub fn depth(&self) -> usize {
        self.at(2)
    }

    fn at(&self, dimension: usize) -> usize {
        self.size.get(dimension).map_or(1, |&size| size as usize)
    }

    /// Random numbers of this case.
    pub fn random(&self) -> Pcg32 {
        Pcg32::seed_from_u64(self.seed)
    }

    /// Others for each `stream`.
    fn stream(&self, stream: u64) -> Pcg32 {
        let mut random = Pcg32::seed_from_u64(stream);
        Pcg32::seed_from_u64(self.seed ^ random.next_u64())
    }

    /// So many floats in [-1, 1); another `stream` gives others.
    pub fn floats(&self, stream: u64, len: usize) -> Vec<f32> {
        let mut random = self.stream(stream);
        // 24 bits, as many as a float holds exactly.
        let unit = |bits: u32| (bits >> 8) as f32 / (1 << 23) as f32 - 1.0;
        (0..len).map(|_| unit(random.next_u32())).collect()
    }

    /// So many whole numbers from 0 up to, and without, `below`.
    pub fn integers(&self, stream: u64, len: usize, below: u32) -> Vec<u32> {
        let mut random = self.stream(stream);
        (0..len)
            .map(|_| ((u64::from(random.next_u32()) * u64::from(below)) >> 32) as u32)
            .collect()
    }
}
