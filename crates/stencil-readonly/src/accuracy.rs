//! How far the stencil's derivative is from the sine wave's own, and how far it may be.

use anyhow::{Result, ensure};
use rayon::prelude::*;
use serde::Serialize;

use crate::scheme::{COEF, RADIUS};
use crate::wave::STEP;

/// The share of a number that rounding to 32 bits may change: 2^-24.
const UNIT: f64 = f32::EPSILON as f64 / 2.0;

/// Room for what [`Explained`] leaves out: rounding errors of rounding errors.
const ROOM: f64 = 1.001;

/// What the derivative may be off by, and why. The derivative itself is between −1 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// By the scheme with the note's coefficients, computed without rounding: exactly this where
    /// the derivative is 1 or −1.
    pub by_coefficients: f64,
    /// By rounding to 32 bits, at most.
    pub by_rounding: f64,
}

/// What the derivative may be off by.
///
/// The scheme turns sin x into cos x, times a factor: the sum of 2 c sin(k·step) / step over the
/// distances k. How far that factor is from 1 is the coefficients' share. (With 4/105 and −1/280 in
/// place of the note's 0.03809 and −0.00357 it would be 1e-10, and nothing but rounding would show.)
///
/// As for rounding, for each c and k:
/// - two points, each at most 1 and so off by at most half a unit, make c off by one;
/// - their difference, at most 2 sin(k·step), is rounded once;
/// - the sum so far, at most the sum of all the products, is rounded by the fused multiply-add.
pub fn explained() -> Explained {
    let coefficients = COEF.iter().map(|&coefficient| f64::from(coefficient));
    let (mut factor, mut sum, mut products) = (0.0, 0.0, 0.0);
    for (coefficient, k) in coefficients.zip(0_u8..) {
        let difference = 2.0 * (f64::from(k) * STEP).sin();
        factor += coefficient * difference / STEP;
        sum += coefficient.abs();
        products += coefficient.abs() * difference;
    }
    let roundings = sum + products + RADIUS as f64 * products;
    Explained {
        by_coefficients: (factor - 1.0).abs(),
        by_rounding: UNIT * roundings / STEP,
    }
}

/// The largest distance between what the kernels computed, the step times the derivative, and the
/// derivative that is right; NaN if one of `results` is.
pub fn largest_error(results: &[f32], derivative: &[f64]) -> f64 {
    let errors = results.par_iter().zip(derivative);
    let errors = errors.map(|(&result, right)| (f64::from(result) / STEP - right).abs());
    // By this order NaN, whose sign `abs` has taken away, is larger than all numbers.
    errors.max_by(f64::total_cmp).unwrap_or(0.0)
}

/// Refuses an error that is not explained.
///
/// # Errors
///
/// Names the variant, its error, and what would be explained.
pub fn check(variant: &str, error: f64) -> Result<()> {
    let explained = explained();
    let most = ROOM * (explained.by_coefficients + explained.by_rounding);
    ensure!(
        error <= most,
        "{variant} is off by {error:.2e} from the sine wave's derivative, of which its \
         coefficients and rounding explain {most:.2e}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{reference, wave};
    use approx::assert_relative_eq;

    #[test]
    fn five_decimal_places_cost_two_in_a_hundred_thousand() {
        let explained = explained();
        assert_relative_eq!(explained.by_coefficients, 1.97e-5, max_relative = 1e-3);
        assert_relative_eq!(explained.by_rounding, 1.28e-6, max_relative = 3e-3);
    }

    #[test]
    fn the_reference_is_as_far_off_as_explained() {
        for size in [1, 17, 10_000] {
            let results = reference::stencil(&wave::points(size));
            let error = largest_error(&results, &wave::derivative(size));
            check("reference", error).unwrap();
            // The derivative at x = 0 is 1.
            let explained = explained();
            assert!(error >= explained.by_coefficients - explained.by_rounding);
        }
    }

    #[test]
    fn the_largest_error_is_found_wherever_it_is() {
        let right = [1.0, 0.5, -1.0];
        let step = STEP as f32;
        for (results, error) in [
            ([step, 0.5 * step, -step], 0.0),
            ([step, 0.5 * step, step], 2.0),
            ([-step, 0.5 * step, 0.0], 2.0),
            ([step, 0.0, -0.75 * step], 0.5),
        ] {
            assert_eq!(largest_error(&results, &right), error);
        }
    }

    #[test]
    fn nan_never_passes() {
        for nan in [f32::NAN, -f32::NAN] {
            let error = largest_error(&[0.0, nan, 9.0], &[0.0; 3]);
            assert!(error.is_nan());
            assert!(check("constant", error).is_err());
        }
    }

    #[test]
    fn an_error_that_is_too_large_is_named() {
        check("constant", 2.0e-5).unwrap();
        let error = check("constant", 2.2e-5).unwrap_err().to_string();
        assert!(error.contains("constant is off by 2.20e-5"), "{error}");
        assert!(error.contains("explain 2.10e-5"), "{error}");
    }
}
