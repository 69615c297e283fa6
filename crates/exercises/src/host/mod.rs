//! The toolkit for host sides: cases, watched inputs, poisoned output buffers and references.

mod bench;
mod code;
mod output;
mod program;

use anyhow::Result;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

pub use bench::{Bench, InputLocation, ModifiedInput, RunResult};
pub use code::{Code, Missing};
#[cfg(test)]
pub use output::sample;
pub use output::{Element, Output, Values};
pub use program::{HostExercise, NoReply, Program};

/// The host side of an exercise, which launches the student's kernels.
pub trait Host {
    /// Runs the exercise at one size and returns the outputs with their references.
    ///
    /// # Errors
    ///
    /// Fails with CUDA's errors, such as those of a kernel that failed.
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>>;

    /// Returns the number of bytes that a launch at this size must move, for a target `share_of_limit`.
    fn bytes(&self, _case: &Case) -> u64 {
        0
    }

    /// Returns the terms of sums that elements of an output are, if known.
    fn terms(&self, _case: &Case, _output: &str, _indices: &[usize]) -> Option<Vec<Terms>> {
        None
    }

    /// Returns the inputs of the kernels, if known.
    fn input_values(&self, _case: &Case) -> Vec<InputValues> {
        Vec::new()
    }
}

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
        let mut draw = || Self::numbered_float(random.next_u32() as usize >> 8);
        (0..len).map(|_| draw()).collect()
    }

    /// Draws a power of two from 2⁻²⁰ to 2²⁰, by which an exercise multiplies all floats of the case.
    pub fn scale(&self) -> f32 {
        2_f32.powi(self.integers(u64::MAX, 1, 41)[0].cast_signed() - 20)
    }

    /// Draws `len` floats as [`Self::floats`] does and multiplies them by [`Self::scale`].
    pub fn scaled_floats(&self, stream: u64, len: usize) -> Vec<f32> {
        let (scale, floats) = (self.scale(), self.floats(stream, len).into_iter());
        floats.map(|number| scale * number).collect()
    }

    /// The number of different values of [`Self::floats`], which has the precision of a float.
    pub const FLOATS: usize = 1 << 24;

    /// Returns the value with this number among those of [`Self::floats`], in increasing order.
    pub fn numbered_float(number: usize) -> f32 {
        number as f32 / (Self::FLOATS / 2) as f32 - 1.0
    }

    /// Returns the number of a value among those of [`Self::floats`]; `None` if it is none of them.
    pub fn number_of_float(value: f32) -> Option<usize> {
        let number = ((value + 1.0) * (Self::FLOATS / 2) as f32) as usize;
        (number < Self::FLOATS && Self::numbered_float(number) == value).then_some(number)
    }

    /// Draws `len` integers in `0..below`; each `stream` is independent.
    pub fn integers(&self, stream: u64, len: usize, below: u32) -> Vec<u32> {
        let mut random = self.stream(stream);
        (0..len)
            .map(|_| ((u64::from(random.next_u32()) * u64::from(below)) >> 32) as u32)
            .collect()
    }
}

/// An input of the kernels.
#[derive(Clone, Debug)]
pub struct InputValues {
    /// The input's name.
    pub name: String,
    /// The input's elements.
    pub values: Vec<f64>,
}

/// The terms whose sum is an element of an output.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The terms in order.
    pub values: Vec<f64>,
    /// The number of terms whose two compared values are equal, if each term is an ordering comparison.
    pub equal: Option<f64>,
}
