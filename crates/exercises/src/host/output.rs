//! Outputs of kernels with their references.

use anyhow::{Result, ensure};
use common::verify::POISON;
use cust::memory::{CopyDestination, DeviceBuffer, DeviceCopy};

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
