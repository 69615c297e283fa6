//! Errors in units in the last place (ulp).

use crate::functions::Bound;

/// The measured errors of a function.
#[derive(Clone, Debug, Default)]
pub struct ErrorStatistics {
    /// Number of results compared.
    pub count: usize,
    /// The largest distance from a correctly rounded result, in ulp.
    pub ulps: u64,
    /// The largest absolute difference.
    pub absolute: f64,
    /// The arguments, the result and the expected result of the worst case.
    pub worst: Option<(Vec<f64>, f64, f64)>,
    /// Results of the wrong kind: NaN or a number instead of the other, or a zero with the wrong sign.
    pub wrong: Vec<(Vec<f64>, f64, f64)>,
}

impl ErrorStatistics {
    /// Records a result. `distance` is the number of representable steps to the expected result.
    pub fn compare(
        &mut self,
        arguments: &[f64],
        result: f64,
        expected: f64,
        distance: u64,
        bound: Bound,
    ) {
        self.count += 1;
        if result.is_nan() && expected.is_nan() {
            return;
        }
        let differs_in_zero_sign = result == 0.0
            && expected == 0.0
            && result.is_sign_negative() != expected.is_sign_negative();
        if result.is_nan() != expected.is_nan() || differs_in_zero_sign {
            self.wrong.push((arguments.to_vec(), result, expected));
            return;
        }
        let difference = (result - expected).abs();
        let is_worst = match bound {
            Bound::Absolute(_) => difference > self.absolute,
            Bound::Ulps(_) | Bound::Unknown => distance > self.ulps,
        };
        self.ulps = self.ulps.max(distance);
        if difference.is_finite() {
            self.absolute = self.absolute.max(difference);
        }
        if is_worst {
            self.worst = Some((arguments.to_vec(), result, expected));
        }
    }

    /// Returns true if the errors are within the documented bound.
    pub fn is_within(&self, bound: Bound) -> bool {
        let is_within_bound = match bound {
            Bound::Ulps(max) => self.ulps <= max,
            Bound::Absolute(max) => self.absolute <= max,
            Bound::Unknown => true,
        };
        is_within_bound && self.wrong.is_empty() && self.count > 0
    }
}

/// Returns the number of representable steps between two doubles.
pub fn between_doubles(a: f64, b: f64) -> u64 {
    let ordinal = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    ordinal(a).abs_diff(ordinal(b))
}

/// Returns the number of representable steps between two floats.
pub fn between_floats(a: f32, b: f32) -> u64 {
    let ordinal = |x: f32| {
        let bits = x.to_bits() as i32;
        if bits < 0 { i32::MIN - bits } else { bits }
    };
    ordinal(a).abs_diff(ordinal(b)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_across_zero() {
        assert_eq!(between_doubles(1.0, 1.0 + f64::EPSILON), 1);
        assert_eq!(between_doubles(-f64::from_bits(1), f64::from_bits(2)), 3);
        assert_eq!(between_doubles(0.0, -0.0), 0);
        assert_eq!(between_floats(f32::MAX, f32::INFINITY), 1);
        assert_eq!(between_floats(-1.0, -1.0 - f32::EPSILON), 1);
    }

    #[test]
    fn a_wrong_kind_of_number_is_recorded_as_wrong() {
        let mut measured = ErrorStatistics::default();
        let bound = Bound::Ulps(1);
        assert!(!measured.is_within(bound), "nothing was compared");
        measured.compare(&[1.0], 1.0, 1.0, 0, bound);
        assert!(measured.is_within(bound));
        measured.compare(&[2.0], f64::NAN, 1.0, 0, bound);
        measured.compare(&[3.0], -0.0, 0.0, 0, bound);
        assert!(!measured.is_within(bound));
        assert_eq!(measured.wrong.len(), 2);
    }

    #[test]
    fn the_worst_result_is_recorded() {
        let mut measured = ErrorStatistics::default();
        measured.compare(&[1.0], 1.0, 1.5, 2, Bound::Ulps(1));
        assert!(!measured.is_within(Bound::Ulps(1)));
        assert!(measured.is_within(Bound::Ulps(2)));
        assert!(measured.is_within(Bound::Absolute(0.5)));
        assert!(!measured.is_within(Bound::Absolute(0.4)));
        assert_eq!(measured.worst, Some((vec![1.0], 1.0, 1.5)));
    }
}
