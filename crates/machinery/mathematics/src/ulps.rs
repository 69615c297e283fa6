//! How far two numbers are apart.

use crate::functions::Bound;

/// What was measured of a function.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// How many results were compared.
    pub count: usize,
    /// The largest distance from the correctly rounded results in the last digit, and where it was met.
    pub ulps: u64,
    /// The largest difference.
    pub absolute: f64,
    /// Arguments, result, and what it should be, of the worst.
    pub worst: Option<(Vec<f64>, f64, f64)>,
    /// Results that are no number where one should be, or the other way round, or another infinity.
    pub wrong: Vec<(Vec<f64>, f64, f64)>,
}

impl Measured {
    /// Takes in a result; `distance` counts numbers of the format between the two.
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
        let signs_of_zero = result == 0.0
            && expected == 0.0
            && result.is_sign_negative() != expected.is_sign_negative();
        if result.is_nan() != expected.is_nan() || signs_of_zero {
            self.wrong.push((arguments.to_vec(), result, expected));
            return;
        }
        let difference = (result - expected).abs();
        let worse = match bound {
            Bound::Absolute(_) => difference > self.absolute,
            Bound::Ulps(_) | Bound::Unknown => distance > self.ulps,
        };
        self.ulps = self.ulps.max(distance);
        if difference.is_finite() {
            self.absolute = self.absolute.max(difference);
        }
        if worse {
            self.worst = Some((arguments.to_vec(), result, expected));
        }
    }

    /// Whether it is as good as documented.
    pub fn keeps(&self, bound: Bound) -> bool {
        let near = match bound {
            Bound::Ulps(most) => self.ulps <= most,
            Bound::Absolute(most) => self.absolute <= most,
            Bound::Unknown => true,
        };
        near && self.wrong.is_empty() && self.count > 0
    }
}

/// How many doubles lie between two, and one.
pub fn between_doubles(a: f64, b: f64) -> u64 {
    let place = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    place(a).abs_diff(place(b))
}

/// How many floats lie between two, and one.
pub fn between_floats(a: f32, b: f32) -> u64 {
    let place = |x: f32| {
        let bits = x.to_bits() as i32;
        if bits < 0 { i32::MIN - bits } else { bits }
    };
    place(a).abs_diff(place(b)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_over_zero() {
        assert_eq!(between_doubles(1.0, 1.0 + f64::EPSILON), 1);
        assert_eq!(between_doubles(-f64::from_bits(1), f64::from_bits(2)), 3);
        assert_eq!(between_doubles(0.0, -0.0), 0);
        assert_eq!(between_floats(f32::MAX, f32::INFINITY), 1);
        assert_eq!(between_floats(-1.0, -1.0 - f32::EPSILON), 1);
    }

    #[test]
    fn a_wrong_kind_of_number_is_no_distance() {
        let mut measured = Measured::default();
        let bound = Bound::Ulps(1);
        assert!(!measured.keeps(bound), "nothing was compared");
        measured.compare(&[1.0], 1.0, 1.0, 0, bound);
        assert!(measured.keeps(bound));
        measured.compare(&[2.0], f64::NAN, 1.0, 0, bound);
        measured.compare(&[3.0], -0.0, 0.0, 0, bound);
        assert!(!measured.keeps(bound));
        assert_eq!(measured.wrong.len(), 2);
    }

    #[test]
    fn what_is_too_far_is_told() {
        let mut measured = Measured::default();
        measured.compare(&[1.0], 1.0, 1.5, 2, Bound::Ulps(1));
        assert!(!measured.keeps(Bound::Ulps(1)));
        assert!(measured.keeps(Bound::Ulps(2)));
        assert!(measured.keeps(Bound::Absolute(0.5)));
        assert!(!measured.keeps(Bound::Absolute(0.4)));
        assert_eq!(measured.worst, Some((vec![1.0], 1.0, 1.5)));
    }
}
