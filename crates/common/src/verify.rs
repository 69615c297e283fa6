//! Comparison of a result with its reference.
//!
//! Fill the output with [`POISON`] before a launch, so that elements the kernel did not write are detected.

use std::fmt::Debug;

use anyhow::{Context as _, Result};
use approx::ulps_eq;
use cust::error::CudaResult;
use cust::memory::bytemuck::{Pod, cast_slice};
use cust::memory::{DeviceBuffer, DeviceCopy};

/// The byte that outputs are filled with before a launch. Floats become NaN, integers −1 or the largest
/// value, pixels opaque white.
pub const POISON: u8 = 0xFF;

/// Allocates GPU memory for `len` elements of a kernel's output and fills it with [`POISON`]; `name` names
/// the output in the error.
///
/// # Errors
///
/// Fails if the GPU does not have enough memory.
pub fn output<T: DeviceCopy + Pod>(name: &str, len: usize) -> Result<DeviceBuffer<T>> {
    let allocate = || -> CudaResult<DeviceBuffer<T>> {
        // SAFETY: `set_8` initializes all bytes before the buffer is returned.
        let mut results = unsafe { DeviceBuffer::uninitialized(len) }?;
        results.set_8(POISON)?;
        Ok(results)
    };
    allocate().with_context(|| format!("cannot allocate {name} on the GPU"))
}

/// Maximum number of differing elements stored in a [`Comparison`].
const MAX_DIFFERENCES: usize = 3;
/// Number of elements compared at once.
const CHUNK: usize = 1024;

/// The result of comparing an output with its reference.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Comparison<T> {
    /// The number of elements of the reference.
    pub expected_len: usize,
    /// The number of elements of the output.
    pub actual_len: usize,
    /// The number of differing elements among the elements that both outputs have.
    pub differing: usize,
    /// The first differing elements.
    pub first: Vec<Difference<T>>,
}

/// An element that differs from its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference<T> {
    /// The index of the element.
    pub index: usize,
    /// The value in the reference.
    pub expected: T,
    /// The value in the output.
    pub actual: T,
}

/// A [`Comparison`] as stored in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Verdict {
    /// The number of differing elements.
    pub differing: usize,
    /// A sentence that describes the error; `None` if the output is correct.
    pub wrong: Option<String>,
}

/// Returns a predicate for floats of the same sign that differ by at most `ulps` units in the last place.
/// With 0, they must be identical, as when all operations round alike.
pub fn within_ulps(ulps: u32) -> impl Fn(&f32, &f32) -> bool {
    move |actual, expected| {
        ulps_eq!(actual, expected, epsilon = 0.0, max_ulps = ulps)
            && actual.is_sign_negative() == expected.is_sign_negative()
    }
}

/// Compares two slices element by element. `close(actual, expected)` returns true for tolerated differences:
/// [`within_ulps`], another comparison of `approx`, or `==`. It is not called for bitwise equal chunks.
///
/// NaN never matches, whatever `close` returns.
pub fn compare<T: Pod + PartialEq>(
    actual: &[T],
    expected: &[T],
    close: impl Fn(&T, &T) -> bool,
) -> Comparison<T> {
    let mut comparison = Comparison {
        expected_len: expected.len(),
        actual_len: actual.len(),
        differing: 0,
        first: Vec::new(),
    };
    #[expect(clippy::eq_op)] // NaN is the only value that differs from itself.
    let is_nan = |value: &T| value != value;
    let parts = actual.chunks(CHUNK).zip(expected.chunks(CHUNK));
    for (part, (actual, expected)) in parts.enumerate() {
        // Nearly all outputs equal their reference bitwise, which is fast to check.
        let same = cast_slice::<T, u8>(actual) == cast_slice::<T, u8>(expected);
        if same && !expected.iter().any(is_nan) {
            continue;
        }
        for (index, (&actual, &expected)) in (part * CHUNK..).zip(actual.iter().zip(expected)) {
            if is_nan(&actual) || is_nan(&expected) || !close(&actual, &expected) {
                comparison.differing += 1;
                if comparison.differing <= MAX_DIFFERENCES {
                    comparison.first.push(Difference {
                        index,
                        expected,
                        actual,
                    });
                }
            }
        }
    }
    comparison
}

impl<T: Debug> Comparison<T> {
    /// Returns true if the output has the reference's length and no element differs.
    pub fn is_match(&self) -> bool {
        self.differing == 0 && self.actual_len == self.expected_len
    }

    /// Returns the verdict for a report; `element_name` describes the element with an index.
    pub fn verdict(&self, element_name: impl Fn(usize) -> String) -> Verdict {
        Verdict {
            differing: self.differing,
            wrong: (!self.is_match()).then(|| self.describe(element_name)),
        }
    }

    /// Describes the differences in one sentence; `element_name` describes the element with an index.
    fn describe(&self, element_name: impl Fn(usize) -> String) -> String {
        if self.actual_len != self.expected_len {
            return format!(
                "{} elements instead of {}",
                self.actual_len, self.expected_len
            );
        }
        let first: Vec<String> = self
            .first
            .iter()
            .map(|difference| {
                let element_name = element_name(difference.index);
                format!(
                    "{element_name} is {:?} and should be {:?}",
                    difference.actual, difference.expected
                )
            })
            .collect();
        format!(
            "{} of {} differ: {}",
            self.differing,
            self.expected_len,
            first.join("; ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::{abs_diff_eq, relative_eq};

    fn within_a_thousandth(actual: &f32, expected: &f32) -> bool {
        relative_eq!(actual, expected, max_relative = 1e-3)
    }

    #[test]
    fn equal_and_close_results_match() {
        let comparison = compare(
            &[1.0, 2.0005, f32::INFINITY],
            &[1.0, 2.0, f32::INFINITY],
            within_a_thousandth,
        );
        assert!(comparison.is_match());
        assert!(compare::<f32>(&[], &[], within_a_thousandth).is_match());
    }

    #[test]
    fn ulps_are_representable_numbers() {
        let next = 1.0_f32.next_up();
        assert!(compare(&[1.0, -0.0], &[1.0, -0.0], within_ulps(0)).is_match());
        assert!(!compare(&[-0.0], &[0.0], within_ulps(u32::MAX)).is_match());
        assert!(!compare(&[next], &[1.0], within_ulps(0)).is_match());
        assert!(compare(&[next], &[1.0], within_ulps(1)).is_match());
        // Close to zero, too, where an absolute tolerance would accept anything.
        assert!(!compare(&[1e-38], &[2e-38], within_ulps(4)).is_match());
        assert!(!compare(&[f32::NAN], &[f32::NAN], within_ulps(u32::MAX)).is_match());
    }

    #[test]
    fn a_verdict_describes_the_difference() {
        let element_name = |index| format!("element {index}");
        let right = compare(&[1], &[1], |a, b| a == b).verdict(element_name);
        assert_eq!((right.differing, right.wrong), (0, None));
        let wrong = compare(&[2], &[1], |a, b| a == b).verdict(element_name);
        assert_eq!(wrong.differing, 1);
        assert_eq!(
            wrong.wrong.unwrap(),
            "1 of 1 differ: element 0 is 2 and should be 1"
        );
        let short = compare(&[], &[1], |a, b| a == b).verdict(element_name);
        assert_eq!(short.wrong.unwrap(), "0 elements instead of 1");
    }

    #[test]
    fn nan_never_passes() {
        for (actual, expected) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::NAN)] {
            assert!(!compare(&[actual], &[expected], within_a_thousandth).is_match());
            // Not even with a tolerance that NaN slips through.
            let careless =
                |actual: &f32, expected: &f32| (actual - expected).abs().max(1e-3) == 1e-3;
            assert!(!compare(&[actual], &[expected], careless).is_match());
        }
    }

    #[test]
    fn remaining_poison_is_detected() {
        let nan = f32::from_ne_bytes([POISON; 4]);
        assert!(!compare(&[0.0, nan], &[0.0, 0.0], within_a_thousandth).is_match());

        let black = [0, 0, 0, 255];
        let comparison = compare(
            &[black, [POISON; 4]],
            &[black, black],
            |actual, expected| actual == expected,
        );
        assert_eq!((comparison.differing, comparison.first[0].index), (1, 1));
    }

    #[test]
    fn differences_beyond_the_first_chunk_have_correct_indices() {
        let mut results: Vec<f32> = (0..5000).map(|n| n as f32).collect();
        let expected = results.clone();
        assert!(compare(&results, &expected, within_ulps(0)).is_match());
        results[2 * CHUNK + 7] = 0.5;
        results[4999] = f32::NAN;
        let comparison = compare(&results, &expected, within_ulps(0));
        let indices: Vec<_> = comparison
            .first
            .iter()
            .map(|element| element.index)
            .collect();
        assert_eq!(indices, [2 * CHUNK + 7, 4999]);
        let both = vec![f32::NAN; 5000];
        assert_eq!(compare(&both, &both, within_ulps(0)).differing, 5000);
    }

    #[test]
    fn different_lengths_do_not_match() {
        for actual in [&[1_u8][..], &[1, 2, 3]] {
            let comparison = compare(actual, &[1, 2], |a, b| a == b);
            assert!(!comparison.is_match());
            assert_eq!(comparison.differing, 0);
            assert!(
                comparison
                    .describe(|i| i.to_string())
                    .ends_with("elements instead of 2")
            );
        }
    }

    #[test]
    fn all_differences_are_counted_and_the_first_described() {
        let comparison = compare(&[9_u8, 1, 9, 9, 9], &[1, 1, 1, 1, 1], |a, b| {
            abs_diff_eq!(a, b, epsilon = 1)
        });
        assert_eq!(comparison.differing, 4);
        assert_eq!(
            comparison.describe(|index| format!("element {index}")),
            "4 of 5 differ: element 0 is 9 and should be 1; \
             element 2 is 9 and should be 1; element 3 is 9 and should be 1"
        );
    }
}
