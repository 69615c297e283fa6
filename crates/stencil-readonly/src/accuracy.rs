//! The error of the stencil's derivative relative to the sine wave's, and its bound.

use common::verify::{self, Verdict, within_ulps};
use serde::Serialize;

use crate::scheme::{COEF, RADIUS};
use crate::wave::STEP;
use crate::{reference, wave};

/// The largest relative error of rounding to 32 bits: 2^-24.
const UNIT: f64 = f32::EPSILON as f64 / 2.0;

/// Factor for errors that [`Explained`] neglects: rounding errors of rounding errors.
const MARGIN: f64 = 1.001;

/// The expected output of the kernels, and the derivative that it approximates.
pub struct Expected {
    /// The CPU's output: the step times the stencil's derivative.
    results: Vec<f32>,
    /// The exact derivative of the sine wave.
    derivative: Vec<f64>,
}

impl Expected {
    /// Computes the expected output of `points` with their halo.
    pub fn of(points: &[f32]) -> Self {
        let results = reference::stencil(points);
        Expected {
            derivative: wave::derivative(results.len()),
            results,
        }
    }

    /// Compares a kernel's output with the CPU's bit by bit, and its error with the explained error. Returns
    /// the verdict and the error relative to the sine wave's derivative.
    pub fn compare(&self, computed: &[f32]) -> (Verdict, f64) {
        let check = verify::compare(computed, &self.results, within_ulps(0));
        let verdict = check.verdict(|index| format!("point {index}"));
        let error = largest_error(computed, &self.derivative);
        (judge(verdict, error), error)
    }
}

/// The explained error of the derivative. The derivative itself is between −1 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// The error of the scheme with the note's coefficients and without rounding: exactly this where the
    /// derivative is 1 or −1.
    pub by_coefficients: f64,
    /// Upper bound of the error of rounding to 32 bits.
    pub by_rounding: f64,
}

/// Computes the explained error of the derivative.
///
/// The scheme maps sin x to cos x times a factor: the sum of 2 c sin(k·step) / step over the distances k. The
/// difference of that factor from 1 is the coefficients' error. (With 4/105 and −1/280 instead of the note's
/// 0.03809 and −0.00357 it would be 1e-10, and only rounding would be visible.)
///
/// Rounding errors, for each c and k:
/// - two points, each at most 1 and so with an error of at most half a unit, give c an error of one unit;
/// - their difference, at most 2 sin(k·step), is rounded once;
/// - the sum so far, at most the sum of all products, is rounded by the fused multiply-add.
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

/// Returns the largest difference between the kernels' output, the step times the derivative, and the exact
/// derivative; NaN if an element of `results` is NaN.
pub fn largest_error(results: &[f32], derivative: &[f64]) -> f64 {
    let errors = results.iter().zip(derivative);
    let errors = errors.map(|(&result, right)| (f64::from(result) / STEP - right).abs());
    // `total_cmp` orders NaN, which `abs` has made positive, above all numbers.
    errors.max_by(f64::total_cmp).unwrap_or(0.0)
}

/// Returns the verdict of a variant with this largest error: an unexplained error is a wrong result even if
/// all elements equal the reference.
pub fn judge(verdict: Verdict, error: f64) -> Verdict {
    let wrong = verdict.wrong.or_else(|| unexplained(error));
    Verdict { wrong, ..verdict }
}

/// Describes `error` in one sentence; `None` if it is explained. NaN is never explained.
fn unexplained(error: f64) -> Option<String> {
    let explained = explained();
    let max = MARGIN * (explained.by_coefficients + explained.by_rounding);
    let is_explained = error <= max;
    (!is_explained).then(|| {
        format!(
            "the error is {error:.2e} relative to the sine wave's derivative, of which its \
             coefficients and rounding explain {max:.2e}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::Flags;
    use crate::{reference, wave};
    use approx::assert_relative_eq;
    use chapter::Entry;
    use chapter::report::Report;
    use clap::Parser;
    use common::gpu::{Capability, Clock, GpuInfo};
    use common::timing::{Measured, Timing};
    use common::verify::{compare, within_ulps};

    #[test]
    fn five_decimal_places_cause_an_error_of_2e_5() {
        let explained = explained();
        assert_relative_eq!(explained.by_coefficients, 1.97e-5, max_relative = 1e-3);
        assert_relative_eq!(explained.by_rounding, 1.28e-6, max_relative = 3e-3);
    }

    #[test]
    fn the_reference_is_as_far_off_as_explained() {
        for size in [1, 17, 10_000] {
            let results = reference::stencil(&wave::points(size));
            let error = largest_error(&results, &wave::derivative(size));
            assert_eq!(unexplained(error), None);
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
            assert!(unexplained(error).unwrap().contains("error is NaN"));
        }
    }

    #[test]
    fn an_unexplained_error_is_wrong_although_nothing_differs() {
        let judged = |wrong: Option<&str>, error| {
            let wrong = wrong.map(str::to_owned);
            judge(
                Verdict {
                    differing: 0,
                    wrong,
                },
                error,
            )
        };
        assert_eq!(judged(None, 2.0e-5).wrong, None);
        let wrong = judged(None, 2.2e-5).wrong.unwrap();
        assert!(
            wrong.starts_with("the error is 2.20e-5 relative"),
            "{wrong}"
        );
        assert!(wrong.ends_with("explain 2.10e-5"), "{wrong}");
        // The description of differing elements takes precedence.
        assert_eq!(judged(Some("1 differs"), 9.0).wrong.unwrap(), "1 differs");
        assert_eq!(judged(Some("1 differs"), 0.0).wrong.unwrap(), "1 differs");
    }

    /// The output of a stencil that is a thousandth too large equals its own reference bit by bit, but not
    /// the derivative.
    #[test]
    fn an_error_of_a_thousandth_is_reported() {
        let derivative = wave::derivative(100);
        let mut results = reference::stencil(&wave::points(100));
        results.iter_mut().for_each(|result| *result *= 1.001);
        let same = compare(&results, &results, within_ulps(0)).verdict(|index| index.to_string());
        let verdict = judge(same, largest_error(&results, &derivative));

        let gpu = GpuInfo {
            name: "NVIDIA H200".to_owned(),
            compute_capability: Capability(9, 0),
            driver: "13.0".to_owned(),
            time: Clock::Modelled,
        };
        let flags = Flags::parse_from(["stencil-readonly"]).common;
        let mut report = Report::new("stencil-readonly", &gpu, &flags, (), "constant");
        let measured = Measured {
            timing: Timing::once(1.0),
            launch: None,
        };
        report.add(Entry::new("constant", measured, verdict));
        let table = report.table();
        assert!(table.contains("WRONG"), "{table}");
        assert_eq!(
            serde_json::to_value(&report).unwrap()["results"][0]["verified"],
            false
        );
        let error = report.verdict().unwrap_err().to_string();
        assert!(
            error.starts_with("constant: wrong result: the error is"),
            "{error}"
        );
    }
}
