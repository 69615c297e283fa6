//! How far an approximate answer may be from the exact one. Source: PTX ISA, sections 9.7.3 and 9.7.4,
//! the precision that the page of each instruction states.
//!
//! The simulator answers with the exact value rounded to nearest, a GPU with one within the bound of
//! it; so the two may be a bound and half a unit in the last place apart.

use std::fmt;

/// How a difference is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Units in the last place of the result.
    Ulps,
    /// Of the result.
    Relative,
    Absolute,
    /// NaN, infinity or another value where there is none on the other side.
    Special,
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Ulps => "ulp",
            Measure::Relative => "relative",
            Measure::Absolute => "absolute",
            Measure::Special => "special values",
        })
    }
}

/// How far two answers are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distance {
    pub measure: Measure,
    pub value: f64,
    /// What the ISA allows, as the two sides may differ; None where it says nothing.
    pub bound: Option<f64>,
}

impl Distance {
    /// Whether the ISA allows it.
    pub fn within(&self) -> bool {
        self.bound.is_none_or(|bound| self.value <= bound)
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: f64| match self.measure {
            Measure::Ulps | Measure::Special => format!("{value}"),
            _ if value == 0.0 => "0".to_owned(),
            _ => format!("2^{:.2}", value.log2()),
        };
        write!(f, "{}", number(self.value))?;
        match self.bound {
            Some(bound) => write!(f, " (allowed: {})", number(bound)),
            None => write!(f, " (no bound is stated)"),
        }
    }
}

/// A result's format: bits of its fraction, the least exponent of a normal number, and its value.
struct Format {
    fraction: i32,
    least: i32,
    value: fn(u64) -> f64,
}

const SINGLE: Format = Format {
    fraction: 23,
    least: -126,
    value: |bits| f64::from(f32::from_bits(bits as u32)),
};
const DOUBLE: Format = Format {
    fraction: 52,
    least: -1022,
    value: f64::from_bits,
};
const HALF: Format = Format {
    fraction: 10,
    least: -14,
    value: half,
};
const BFLOAT: Format = Format {
    fraction: 7,
    least: -126,
    value: |bits| f64::from(f32::from_bits((bits as u32) << 16)),
};

fn half(bits: u64) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f64);
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

impl Format {
    /// The value of a unit in the last place next to this number.
    fn unit(&self, near: f64) -> f64 {
        let exponent = if near == 0.0 || !near.is_finite() {
            self.least
        } else {
            (near.abs().log2().floor() as i32).max(self.least)
        };
        // In two steps, lest it underflow.
        2f64.powi(exponent.max(-1000)) * 2f64.powi(exponent.min(-1000) + 1000 - self.fraction)
    }
}

/// Operands of a form.
pub fn operands(form: &str) -> usize {
    if form.starts_with("div") { 2 } else { 1 }
}

/// How far the answers to the same operands are apart: one distance, or two for a pair of halves.
pub fn compare(form: &str, operands: &[u64], ours: u64, theirs: u64) -> Vec<Distance> {
    let parts: Vec<&str> = form.split('.').collect();
    let ty = parts[parts.len() - 1];
    if let Some(single) = ty.strip_suffix("x2") {
        let form = format!("{}.{single}", parts[..parts.len() - 1].join("."));
        let part = |shift: u32| {
            let cut = |word: u64| word >> shift & 0xffff;
            let operands: Vec<u64> = operands.iter().copied().map(cut).collect();
            one(&form, &operands, cut(ours), cut(theirs))
        };
        return vec![part(0), part(16)];
    }
    vec![one(form, operands, ours, theirs)]
}

fn one(form: &str, operands: &[u64], ours: u64, theirs: u64) -> Distance {
    let parts: Vec<&str> = form.split('.').collect();
    let (name, ty) = (parts[0], parts[parts.len() - 1]);
    let format = match ty {
        "f16" => HALF,
        "bf16" => BFLOAT,
        "f32" => SINGLE,
        _ => DOUBLE,
    };
    let (x, y) = ((format.value)(ours), (format.value)(theirs));
    let given: Vec<f64> = operands.iter().map(|&bits| (format.value)(bits)).collect();
    let (measure, stated) = stated(name, &parts, ty, &given, x);
    let unit = format.unit(x);
    if x.is_nan() || y.is_nan() || x.is_infinite() || y.is_infinite() {
        let same = ours == theirs || (x.is_nan() && y.is_nan());
        // Next to infinity a unit makes the difference.
        let largest = 2f64.powi(1 - format.least);
        let near = |a: f64, b: f64| a.is_infinite() && b.abs() >= largest * 0.999;
        let allowed = same || near(x, y) || near(y, x) || stated.is_none();
        return Distance {
            measure: Measure::Special,
            value: if allowed { 0.0 } else { 1.0 },
            bound: Some(0.0),
        };
    }
    let apart = (x - y).abs();
    let half = unit / 2.0;
    match measure {
        Measure::Ulps => Distance {
            measure,
            value: apart / unit,
            // A whole number of units, the half rounded up.
            bound: stated.map(|stated| stated + 1.0),
        },
        Measure::Relative => {
            let size = x.abs().max(2f64.powi(format.least));
            Distance {
                measure,
                value: apart / size,
                bound: stated.map(|stated| stated + 2.0 * half / size),
            }
        }
        _ => Distance {
            measure,
            value: apart,
            bound: stated.map(|stated| stated + 2.0 * half),
        },
    }
}

/// What the ISA states: the measure and the number.
fn stated(
    name: &str,
    parts: &[&str],
    ty: &str,
    given: &[f64],
    exact: f64,
) -> (Measure, Option<f64>) {
    let power = |exponent: f64| Some(2f64.powf(exponent));
    let turn = 2.0 * std::f64::consts::PI;
    match (name, ty) {
        ("sin" | "cos", _) => {
            let stated = match given[0].abs() {
                angle if angle <= turn => power(-20.5),
                angle if angle <= 50.0 * turn => power(-14.7),
                // Of larger angles, infinity and NaN it is only whether the result is a number.
                _ => None,
            };
            (Measure::Absolute, stated)
        }
        ("lg2", _) if given[0] > 0.5 && given[0] < 2.0 => (Measure::Absolute, power(-22.0)),
        ("lg2", _) => (Measure::Relative, power(-22.0)),
        ("ex2", "f32") => (Measure::Ulps, Some(2.0)),
        ("ex2", "f16") => (Measure::Relative, power(-9.9)),
        ("ex2", _) => (Measure::Relative, power(-7.0)),
        ("tanh", "f32") => (Measure::Relative, power(-11.0)),
        ("tanh", "f16") => (Measure::Absolute, power(-10.987)),
        ("tanh", _) => (Measure::Relative, power(-8.0)),
        ("rcp", "f32") => (Measure::Ulps, Some(1.0)),
        ("sqrt", "f32") => (Measure::Relative, power(-23.0)),
        ("rsqrt", "f32") => (Measure::Relative, power(-22.9)),
        ("div", _) if parts.contains(&"full") => (Measure::Ulps, Some(2.0)),
        ("div", _) => {
            let b = given[1].abs();
            let covered = (2f64.powi(-126)..=2f64.powi(126)).contains(&b);
            (Measure::Ulps, covered.then_some(2.0))
        }
        // Of the upper 32 bits, whose fraction has 20.
        ("rcp" | "rsqrt", _) if parts.contains(&"ftz") => {
            let stated =
                (exact.abs() >= f64::MIN_POSITIVE || exact == 0.0).then_some(2f64.powi(-20));
            (Measure::Relative, stated)
        }
        _ => (Measure::Relative, power(-22.9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(value: f32) -> u64 {
        u64::from(value.to_bits())
    }

    #[test]
    fn a_unit_in_the_last_place_is_one() {
        let one = compare("rcp.approx.f32", &[bits(1.0)], bits(1.0), bits(1.0) + 1);
        assert_eq!((one[0].value, one[0].within()), (1.0, true));
        let far = compare("rcp.approx.f32", &[bits(1.0)], bits(1.0), bits(1.0) + 3);
        assert!(!far[0].within());
    }

    #[test]
    fn what_is_a_number_on_one_side_only_is_beyond_any_bound() {
        let number = compare("lg2.approx.f32", &[bits(3.0)], bits(1.585), bits(f32::NAN));
        assert!(!number[0].within());
        let both = compare("lg2.approx.f32", &[bits(-3.0)], bits(f32::NAN), 0x7fff_ffff);
        assert!(both[0].within());
        let infinite = compare(
            "ex2.approx.f32",
            &[bits(3.0)],
            bits(8.0),
            bits(f32::INFINITY),
        );
        assert!(!infinite[0].within());
    }

    #[test]
    fn halves_are_compared_one_by_one() {
        // 1 and 2 in f16: equal, and far apart.
        let pair = compare("tanh.approx.f16x2", &[0], 0x3c00_3c00, 0x4000_3c00);
        assert_eq!(pair.len(), 2);
        assert!(pair[0].within() && !pair[1].within());
    }

    #[test]
    fn sines_of_large_angles_have_no_bound() {
        let far = compare("sin.approx.f32", &[bits(1e6)], bits(0.5), bits(0.6));
        assert_eq!((far[0].bound, far[0].within()), (None, true));
        let near = compare("sin.approx.f32", &[bits(1.0)], bits(0.84147), bits(0.84150));
        assert!(!near[0].within());
    }
}
