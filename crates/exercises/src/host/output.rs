//! What came out of a kernel, beside what should have.

use anyhow::{Result, ensure};
use common::verify::POISON;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};

/// An output and its reference.
#[derive(Clone, Debug)]
pub struct Output {
    /// What it is called where something is wrong with it.
    pub name: &'static str,
    /// Its lengths, outermost first: rows, then columns.
    pub shape: Vec<usize>,
    /// What came out.
    pub got: Values,
    /// What should have.
    pub expected: Values,
    /// Where the student predicts these: what each is of. What should have come out is for the student to find
    /// out then, and not shown.
    pub predicts: &'static [&'static str],
    /// Where this is what lies behind the rows of another output and is nobody's: the name of that one.
    pub behind: Option<&'static str>,
    /// What the numbers are, or why they may be wrong, in English and Chinese: said below them where one is
    /// wrong.
    pub meaning: Option<[String; 2]>,
    /// Where the first element was in device memory, where these are elements of one buffer.
    pub address: Option<u64>,
}

impl Output {
    /// What is in a buffer, beside its reference.
    ///
    /// # Errors
    ///
    /// CUDA's own, such as those of a kernel that failed.
    pub fn new<T: Element>(
        name: &'static str,
        shape: &[usize],
        got: &DeviceBuffer<T>,
        expected: Vec<T>,
    ) -> Result<Output> {
        let mut values = vec![T::default(); got.len()];
        got.copy_to(&mut values)?;
        Ok(Output {
            address: Some(got.as_device_ptr().as_raw()),
            ..Output::of(name, shape, values, expected)?
        })
    }

    /// What a host has already, beside its reference.
    ///
    /// # Errors
    ///
    /// Where lengths and shape differ, which would be the host side's mistake.
    pub fn of<T: Element>(
        name: &'static str,
        shape: &[usize],
        got: Vec<T>,
        expected: Vec<T>,
    ) -> Result<Output> {
        let len = shape.iter().product::<usize>();
        ensure!(
            got.len() == len && expected.len() == len,
            "{name}: {} and {} elements in the shape {shape:?}",
            got.len(),
            expected.len()
        );
        Ok(Output {
            name,
            shape: shape.to_vec(),
            got: T::values(got),
            expected: T::values(expected),
            predicts: &[],
            behind: None,
            meaning: None,
            address: None,
        })
    }

    /// The same: predictions, of these things, and nobody is told what should have come out.
    pub fn predicting(self, things: &'static [&'static str]) -> Output {
        Output {
            predicts: things,
            ..self
        }
    }

    /// The same, and what is said below its numbers where one is wrong, in English and Chinese.
    pub fn meaning(self, en: impl Into<String>, zh: impl Into<String>) -> Output {
        Output {
            meaning: Some([en.into(), zh.into()]),
            ..self
        }
    }

    /// The same: what lies behind the rows of this output, where nobody may write.
    pub fn behind(self, rows: &'static str) -> Output {
        Output {
            behind: Some(rows),
            ..self
        }
    }
}

/// Elements of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `float`
    Floats(Vec<f32>),
    /// `int`
    Integers(Vec<i32>),
    /// `unsigned int`
    Unsigned(Vec<u32>),
}

/// What an output may be made of.
pub trait Element: DeviceCopy + Default {
    /// So many of them.
    fn values(elements: Vec<Self>) -> Values;

    /// What an element holds that nobody has written.
    fn poison() -> Self;
}

impl Element for f32 {
    fn values(elements: Vec<f32>) -> Values {
        Values::Floats(elements)
    }

    fn poison() -> f32 {
        f32::from_ne_bytes([POISON; 4])
    }
}

impl Element for i32 {
    fn values(elements: Vec<i32>) -> Values {
        Values::Integers(elements)
    }

    fn poison() -> i32 {
        i32::from_ne_bytes([POISON; 4])
    }
}

impl Element for u32 {
    fn values(elements: Vec<u32>) -> Values {
        Values::Unsigned(elements)
    }

    fn poison() -> u32 {
        u32::from_ne_bytes([POISON; 4])
    }
}

#[cfg(test)]
pub mod sample {
    use super::{Output, Values};
    use crate::data::Tolerance;

    /// What is right where nothing may differ.
    pub const EXACT: Tolerance = Tolerance {
        ulps: Some(0),
        relative: None,
        absolute: None,
    };

    /// An output called `y` with these elements, beside these references.
    pub fn output(shape: &[usize], got: Values, expected: Values) -> Output {
        Output {
            name: "y",
            shape: shape.to_vec(),
            got,
            expected,
            predicts: &[],
            behind: None,
            meaning: None,
            address: None,
        }
    }
}
