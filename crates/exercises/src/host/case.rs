//! A test case: a size, and a seed from which the inputs are drawn.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A size and a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The size, one to three numbers, x first.
    pub size: Vec<u32>,
    /// The seed of the inputs.
    pub seed: u64,
}

impl Case {
    /// Returns the first number.
    pub fn n(&self) -> usize {
        self.at(0)
    }

    /// Returns the extent along x, the first number.
    pub fn width(&self) -> usize {
        self.at(0)
    }

    /// Returns the extent along y, the second number, or 1.
    pub fn height(&self) -> usize {
        self.at(1)
    }

    /// Returns the extent along z, the third number, or 1.
    pub fn depth(&self) -> usize {
        self.at(2)
    }

    fn at(&self, dimension: usize) -> usize {
        self.size.get(dimension).map_or(1, |&size| size as usize)
    }

    /// Returns a random number generator for this case.
    pub fn random(&self) -> Pcg32 {
        Pcg32::seed_from_u64(self.seed)
    }

    /// Returns an independent random number generator for each `stream`.
    fn stream(&self, stream: u64) -> Pcg32 {
        let mut random = Pcg32::seed_from_u64(stream);
        Pcg32::seed_from_u64(self.seed ^ random.next_u64())
    }

    /// Draws `len` floats in [-1, 1); each `stream` is independent.
    pub fn floats(&self, stream: u64, len: usize) -> Vec<f32> {
        let mut random = self.stream(stream);
        // Use 24 bits, the precision of a float.
        let unit = |bits: u32| (bits >> 8) as f32 / (1 << 23) as f32 - 1.0;
        (0..len).map(|_| unit(random.next_u32())).collect()
    }

    /// Draws `len` integers in `0..below`; each `stream` is independent.
    pub fn integers(&self, stream: u64, len: usize, below: u32) -> Vec<u32> {
        let mut random = self.stream(stream);
        (0..len)
            .map(|_| ((u64::from(random.next_u32()) * u64::from(below)) >> 32) as u32)
            .collect()
    }
}
