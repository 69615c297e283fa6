//! The reference for tensor cores. They take factors in TF32, floats with a fraction of 10 instead of 23
//! bits: either a kernel has rounded them, or the tensor core truncates them. They accumulate in 32-bit
//! floats, several products at a time, in an unspecified order. Therefore the reference is the product of
//! such factors in double precision with an error bound for each element.
//!
//! A warp's `mma` adds eight products, which are exact, to a sum: nine terms. They are aligned to the largest
//! term, and bits more than 24 below its leading bit are truncated; an H200 keeps one bit more. The sum of
//! the truncated terms is truncated to the 24 bits of a float. If no term is larger than t, the error is at
//! most 9·2⁻²⁴·t + 2⁻²³·t, and 6·2⁻²³·t also covers the truncated terms' own truncation. By the
//! Cauchy–Schwarz inequality, no term and no intermediate sum is larger than the sum at the start of a panel
//! of the factors plus the norm of its row in A times the norm of its column in B.

use std::fmt;

use chapter::progress::filled;
use common::verify::{self, Comparison};
use cust::memory::bytemuck::{Pod, Zeroable};

/// Products that one `mma` adds.
const PRODUCTS_PER_MMA: usize = 8;
/// Columns of A and rows of B whose norms bound the terms of a panel.
const PANEL_DEPTH: usize = 64;
/// Columns of B that are used for many rows of A before the next ones are loaded.
const PANEL_WIDTH: usize = 256;
/// Rows of C per task.
const ROWS_PER_TASK: usize = 32;

/// Relative error of an `mma`, as a fraction of its largest term.
const MMA_ERROR: f64 = 6.0 / (1 << 23) as f64;

/// The conversion of the elements of A to TF32. Those of B are always rounded to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tf32Rounding {
    /// Rounded to nearest.
    Nearest,
    /// Truncated.
    Truncated,
}

/// An element of C as a double, with the error bound of tensor cores.
#[derive(Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct Element {
    /// The product of the rounded factors, exact within double precision.
    pub sum: f64,
    /// The largest possible error of a tensor core's sum.
    pub error_bound: f64,
}

// SAFETY: both fields are `f64`, for which zero bytes are valid.
unsafe impl Zeroable for Element {}
// SAFETY: `Element` is `repr(C)` with two `f64` fields, so it has no padding and any bytes are valid.
unsafe impl Pod for Element {}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.error_bound {
            0.0 => write!(f, "{}", self.sum),
            error_bound => write!(f, "{} ± {error_bound:.1e}", self.sum),
        }
    }
}

/// Compares the output of tensor cores with the reference within its error bounds.
pub fn compare(actual: &[f32], expected: &[Element]) -> Comparison<Element> {
    let exact = |&actual: &f32| Element {
        sum: actual.into(),
        error_bound: 0.0,
    };
    let actual: Vec<_> = actual.iter().map(exact).collect();
    verify::compare(&actual, expected, |actual, expected| {
        (actual.sum - expected.sum).abs() <= expected.error_bound
    })
}

/// The fraction bits of a float that TF32 lacks.
const DROPPED_BITS: u32 = 0x1FFF;

/// Rounds `x` to TF32 like `cvt.rna`: to the nearest float whose last 13 bits are zero, ties away from zero.
pub fn rounded(x: f32) -> f32 {
    let half = if x.is_finite() {
        DROPPED_BITS / 2 + 1
    } else {
        0
    };
    f32::from_bits((x.to_bits() + half) & !DROPPED_BITS)
}

impl Tf32Rounding {
    fn in_tf32(self, x: f32) -> f32 {
        match self {
            Tf32Rounding::Nearest => rounded(x),
            Tf32Rounding::Truncated => f32::from_bits(x.to_bits() & !DROPPED_BITS),
        }
    }
}

/// Returns C = A·B of factors in TF32 in row-major order: `a` has rows of `n` elements, and `b` has `n` rows
/// of `p`.
///
/// # Panics
///
/// Panics if `a` and `b` do not have such rows, or have no elements.
pub fn product(a: &[f32], b: &[f32], n: usize, p: usize, rounding: Tf32Rounding) -> Vec<Element> {
    assert!(n > 0 && a.len().is_multiple_of(n), "A has no such rows");
    assert!(p > 0 && b.len() == n * p, "B has no such rows");
    let m = a.len() / n;
    let a: Vec<_> = a.iter().map(|&x| rounding.in_tf32(x)).collect();
    let b: Vec<_> = b.iter().map(|&x| rounded(x)).collect();
    let columns = column_norms(&b, p);
    filled(
        "CPU reference in TF32",
        m * p,
        ROWS_PER_TASK * p,
        |first, c| {
            let a = &a[first / p * n..];
            for (panel, columns) in columns.chunks(p).enumerate() {
                let (top, bottom) = (panel * PANEL_DEPTH, n.min((panel + 1) * PANEL_DEPTH));
                for left in (0..p).step_by(PANEL_WIDTH) {
                    let right = p.min(left + PANEL_WIDTH);
                    for (c, a) in c.chunks_mut(p).zip(a.chunks(n)) {
                        let a = &a[top..bottom];
                        let c = &mut c[left..right];
                        bound(c, norm(a.iter()), &columns[left..right], a.len());
                        add_products(c, a, &b[top * p + left..], p);
                    }
                }
            }
        },
    )
}

/// Returns the norms of the columns of B, panel by panel.
fn column_norms(b: &[f32], p: usize) -> Vec<f64> {
    let panels = b.len().div_ceil(PANEL_DEPTH * p);
    filled("lengths of columns", panels * p, p, |first, norms| {
        let panel = &b[first * PANEL_DEPTH..b.len().min((first + p) * PANEL_DEPTH)];
        for (column, column_norm) in norms.iter_mut().enumerate() {
            *column_norm = norm(panel[column..].iter().step_by(p));
        }
    })
}

/// Returns the Euclidean norm of a vector.
fn norm<'a>(elements: impl Iterator<Item = &'a f32>) -> f64 {
    elements.map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}

/// Increases the error bounds of elements in a row of C by the error of a panel `depth` products deep, with
/// the norms of its row of A and of its columns of B.
fn bound(c: &mut [Element], row: f64, columns: &[f64], depth: usize) {
    let steps = depth.div_ceil(PRODUCTS_PER_MMA) as f64;
    for (element, column) in c.iter_mut().zip(columns) {
        // The precision of subnormal numbers is absolute.
        let largest =
            element.sum.abs() + element.error_bound + row * column + f64::from(f32::MIN_POSITIVE);
        element.error_bound += steps * MMA_ERROR * largest;
    }
}

/// Adds the product of part of a row of A and a panel of B, whose rows are `p` elements apart, to part of a
/// row of C.
#[multiversion::multiversion(targets("x86_64+avx2+fma"))]
fn add_products(c: &mut [Element], a: &[f32], panel: &[f32], p: usize) {
    let mut sums = [0.0; PANEL_WIDTH];
    let sums = &mut sums[..c.len()];
    for (a, b) in a.iter().zip(panel.chunks(p)) {
        for (sum, b) in sums.iter_mut().zip(b) {
            *sum = f64::from(*a).mul_add(f64::from(*b), *sum);
        }
    }
    for (element, sum) in c.iter_mut().zip(sums) {
        element.sum += *sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matmul_pitched::flags::{Fill, ProductFlags};
    use matmul_pitched::matrix;

    fn bits(x: u32) -> u32 {
        rounded(f32::from_bits(x)).to_bits()
    }

    #[test]
    fn thirteen_bits_are_rounded_away() {
        assert_eq!(bits(0x3F80_0FFF), 0x3F80_0000);
        assert_eq!(bits(0x3F80_1000), 0x3F80_2000);
        assert_eq!(bits(0xBF80_1000), 0xBF80_2000);
        assert_eq!(bits(0xBFFF_FFFF), 0xC000_0000);
        assert_eq!(bits(f32::MAX.to_bits()), f32::INFINITY.to_bits());
        for same in [0.0, -0.0, 1.0, -1.5, 1024.0, f32::INFINITY] {
            assert_eq!(rounded(same).to_bits(), same.to_bits());
        }
        assert!(rounded(f32::NAN).is_nan());
        assert!(rounded(f32::from_bits(u32::MAX)).is_nan());
    }

    /// Computes the same product without panels.
    fn plain(a: &[f32], b: &[f32], n: usize, p: usize) -> Vec<f64> {
        let factor = |x: f32| f64::from(rounded(x));
        let element = |row: usize, col: usize| {
            (0..n)
                .map(|i| factor(a[row * n + i]) * factor(b[i * p + col]))
                .sum()
        };
        let rows = 0..a.len() / n;
        rows.flat_map(|row| (0..p).map(move |col| element(row, col)))
            .collect()
    }

    /// Sizes below, at and above every block size of the loops.
    fn factors_of_all_sizes() -> impl Iterator<Item = (Vec<f32>, Vec<f32>, usize, usize)> {
        let sizes = [
            (1, 1, 1),
            (32, 64, 256),
            (31, 63, 255),
            (33, 65, 257),
            (70, 200, 40),
        ];
        sizes.into_iter().map(|(m, n, p)| {
            let (a, b) = matrix::factors(&ProductFlags {
                m,
                n,
                p,
                fill: Fill::Random,
                seed: 3,
            });
            (a, b, n as usize, p as usize)
        })
    }

    #[test]
    fn every_size_is_the_plain_product_of_rounded_factors() {
        for (a, b, n, p) in factors_of_all_sizes() {
            let expected = plain(&a, &b, n, p);
            let actual = product(&a, &b, n, p, Tf32Rounding::Nearest);
            assert_eq!(actual.len(), expected.len());
            for (element, expected) in actual.iter().zip(expected) {
                approx::assert_abs_diff_eq!(element.sum, expected, epsilon = 1e-12);
            }
        }
    }

    /// Computes an element like an H200's tensor cores, except for subnormal numbers.
    fn by_tensor_cores(a: &[f32], b: &[f32], n: usize, p: usize, element: usize) -> f32 {
        let (row, col) = (element / p, element % p);
        let mut sum = 0.0;
        for first in (0..n).step_by(PRODUCTS_PER_MMA) {
            let products = (first..n.min(first + PRODUCTS_PER_MMA))
                .map(|i| f64::from(rounded(a[row * n + i])) * f64::from(rounded(b[i * p + col])));
            let terms: Vec<_> = products.chain([f64::from(sum)]).collect();
            let largest = terms.iter().fold(0.0, |max: f64, term| max.max(term.abs()));
            if largest > 0.0 {
                let unit = largest.log2().floor().exp2() / f64::from(1 << 25);
                let sum_of_terms: f64 = terms.iter().map(|term| (term / unit).trunc() * unit).sum();
                // Truncates to 24 bits.
                let nearest = sum_of_terms as f32;
                let beyond = f64::from(nearest).abs() > sum_of_terms.abs();
                sum = if beyond {
                    f32::from_bits(nearest.to_bits() - 1)
                } else {
                    nearest
                };
            }
        }
        sum
    }

    #[test]
    fn tensor_core_results_are_within_bounds() {
        for (a, b, n, p) in factors_of_all_sizes() {
            let expected = product(&a, &b, n, p, Tf32Rounding::Nearest);
            let elements = 0..expected.len();
            let actual: Vec<f32> = elements
                .map(|element| by_tensor_cores(&a, &b, n, p, element))
                .collect();
            assert!(compare(&actual, &expected).is_match());
            for wrong in [3e-4 * (n as f32).sqrt(), f32::INFINITY, f32::NAN] {
                let actual: Vec<f32> = actual.iter().map(|correct| correct + wrong).collect();
                assert_eq!(compare(&actual, &expected).differing, expected.len());
            }
        }
    }

    #[test]
    fn truncated_bits_of_a_change_the_result() {
        let (a, b, n, p) = factors_of_all_sizes().last().unwrap();
        let truncated: Vec<_> = a
            .iter()
            .map(|&x| f32::from_bits(x.to_bits() & !DROPPED_BITS))
            .collect();
        let actual = product(&a, &b, n, p, Tf32Rounding::Truncated);
        assert_eq!(actual, product(&truncated, &b, n, p, Tf32Rounding::Nearest));
        let rounded = product(&a, &b, n, p, Tf32Rounding::Nearest);
        let pairs = actual.iter().zip(&rounded);
        let differing = pairs.filter(|(truncated, rounded)| {
            (truncated.sum - rounded.sum).abs() > truncated.error_bound
        });
        assert!(differing.count() > actual.len() / 2);
    }

    #[test]
    fn unrounded_factors_differ() {
        let (a, b, n, p) = factors_of_all_sizes().last().unwrap();
        let exact = matmul_pitched::reference::product(&a, &b, n, p);
        let differing = compare(&exact, &product(&a, &b, n, p, Tf32Rounding::Nearest)).differing;
        assert!(differing > exact.len() / 2, "{differing}");
    }

    #[test]
    fn an_identity_is_exact_to_the_last_bits() {
        let identity = [1.0, 0.0, 0.0, 1.0];
        let expected = product(&identity, &identity, 2, 2, Tf32Rounding::Nearest);
        assert!(compare(&identity, &expected).is_match());
        assert!(expected.iter().all(|element| element.error_bound < 2e-6));
        let verdict = compare(&[1.00001, 0.0, 0.0, 1.0], &expected).verdict(|i| i.to_string());
        let description = "1 of 4 differ: 0 is 1.0000100135803223 and should be 1 ± 7.2e-7";
        assert_eq!(verdict.wrong.unwrap(), description);
    }

    #[test]
    #[should_panic(expected = "B has no such rows")]
    fn mismatched_matrices_panic() {
        product(&[1.0; 6], &[1.0; 5], 3, 2, Tf32Rounding::Nearest);
    }
}
