//! The toolkit for host sides: cases, watched inputs, and poisoned output buffers with their references.

mod bench;
mod program;

use anyhow::{Result, ensure};
use common::verify::POISON;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

pub use bench::{Bench, Code, InputLocation, Missing, ModifiedInput, RunResult};
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

/// An output and its reference.
#[derive(Clone, Debug)]
pub struct Output {
    /// The name used in messages.
    pub name: String,
    /// The lengths of its dimensions, outermost first: rows, then columns.
    pub shape: Vec<usize>,
    /// The actual elements.
    pub actual: Values,
    /// The expected elements.
    pub expected: Values,
    /// The label of each element, if the student predicts them; expected values are not shown then.
    pub labels: Vec<String>,
    /// The name of the output behind whose rows this memory lies, if it is padding that must not be written.
    pub padding_of: Option<String>,
    /// An explanation of the numbers in English and Chinese, shown if one is wrong.
    pub explanation: Option<[String; 2]>,
    /// The address of the first element in device memory, if the elements are those of one buffer.
    pub address: Option<u64>,
}

impl Output {
    /// Reads a buffer and pairs it with its reference.
    ///
    /// # Errors
    ///
    /// Fails with CUDA's errors, such as those of a kernel that failed.
    pub fn new<T: Element>(
        name: &str,
        shape: &[usize],
        actual: &DeviceBuffer<T>,
        expected: Vec<T>,
    ) -> Result<Output> {
        let mut values = vec![T::default(); actual.len()];
        actual.copy_to(&mut values)?;
        Ok(Output {
            address: Some(actual.as_device_ptr().as_raw()),
            ..Output::from_values(name, shape, values, expected)?
        })
    }

    /// Pairs values on the host with their reference.
    ///
    /// # Errors
    ///
    /// Fails if lengths and shape differ, which is an error in the host side.
    pub fn from_values<T: Element>(
        name: &str,
        shape: &[usize],
        actual: Vec<T>,
        expected: Vec<T>,
    ) -> Result<Output> {
        let len = shape.iter().product::<usize>();
        ensure!(
            actual.len() == len && expected.len() == len,
            "{name}: {} and {} elements in the shape {shape:?}",
            actual.len(),
            expected.len()
        );
        Ok(Output {
            name: name.to_owned(),
            shape: shape.to_vec(),
            actual: T::values(actual),
            expected: T::values(expected),
            labels: Vec::new(),
            padding_of: None,
            explanation: None,
            address: None,
        })
    }

    /// Marks the elements as predictions with these labels, whose expected values are not shown.
    pub fn predicted(self, labels: &[impl AsRef<str>]) -> Output {
        let labels = labels.iter().map(|label| label.as_ref().to_owned());
        Output {
            labels: labels.collect(),
            ..self
        }
    }

    /// Sets the explanation shown if an element is wrong, in English and Chinese.
    pub fn with_explanation(self, en: impl Into<String>, zh: impl Into<String>) -> Output {
        Output {
            explanation: Some([en.into(), zh.into()]),
            ..self
        }
    }

    /// Marks the output as the padding behind the rows of another output, which must not be written.
    pub fn padding_of(self, rows: &str) -> Output {
        Output {
            padding_of: Some(rows.to_owned()),
            ..self
        }
    }
}

/// The elements of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `float`
    Floats(Vec<f32>),
    /// `int`
    Integers(Vec<i32>),
    /// `unsigned int`
    Unsigned(Vec<u32>),
}

/// An element type of outputs.
pub trait Element: DeviceCopy + Default {
    /// Wraps elements of this type.
    fn values(elements: Vec<Self>) -> Values;

    /// Returns the poison value that marks unwritten elements.
    fn poison() -> Self;
}

macro_rules! elements {
    ($($element:ty: $values:ident;)*) => {$(
        impl Element for $element {
            fn values(elements: Vec<$element>) -> Values {
                Values::$values(elements)
            }

            fn poison() -> $element {
                <$element>::from_ne_bytes([POISON; 4])
            }
        }
    )*};
}

elements! {
    f32: Floats;
    i32: Integers;
    u32: Unsigned;
}

#[cfg(test)]
pub mod sample {
    use super::{Output, Values};
    use crate::data::Tolerance;

    /// A tolerance without any deviation.
    pub const EXACT: Tolerance = Tolerance {
        ulps: Some(0),
        relative: None,
        absolute: None,
    };

    /// Returns an output called `y`.
    pub fn output(shape: &[usize], actual: Values, expected: Values) -> Output {
        Output {
            name: "y".to_owned(),
            shape: shape.to_vec(),
            actual,
            expected,
            labels: Vec::new(),
            padding_of: None,
            explanation: None,
            address: None,
        }
    }
}
