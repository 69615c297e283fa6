//! The functions that have no error: each result is what Rust's own library gives, bit by bit.

use anyhow::Result;

use crate::machine::Machine;
use crate::points;

/// A result that is not what it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    pub function: String,
    pub arguments: Vec<f64>,
    pub result: f64,
    pub expected: f64,
}

/// A function of one number or several, and what it is in Rust.
struct Exact {
    name: &'static str,
    arity: usize,
    single: fn(&[f32]) -> f32,
    double: fn(&[f64]) -> f64,
}

/// The same for both formats.
macro_rules! exact {
    ($($name:literal $arity:literal: |$x:ident| $value:expr;)*) => {
        [$(Exact {
            name: $name,
            arity: $arity,
            single: { type T = f32; fn of($x: &[T]) -> T { $value } of },
            double: { type T = f64; fn of($x: &[T]) -> T { $value } of },
        }),*]
    };
}

/// A number of either format as a double.
trait Wide {
    fn wide(self) -> f64;
}

impl Wide for f32 {
    fn wide(self) -> f64 {
        self.into()
    }
}

impl Wide for f64 {
    fn wide(self) -> f64 {
        self
    }
}

const EXACT: [Exact; 30] = exact! {
    "fabs" 1: |x| x[0].abs();
    "ceil" 1: |x| x[0].ceil();
    "floor" 1: |x| x[0].floor();
    "trunc" 1: |x| x[0].trunc();
    "rint" 1: |x| x[0].round_ties_even();
    "nearbyint" 1: |x| x[0].round_ties_even();
    "round" 1: |x| x[0].round();
    "lrint" 1: |x| within(x[0].round_ties_even().wide()) as T;
    "llrint" 1: |x| within(x[0].round_ties_even().wide()) as T;
    "lround" 1: |x| within(x[0].round().wide()) as T;
    "llround" 1: |x| within(x[0].round().wide()) as T;
    "sqrt" 1: |x| x[0].sqrt();
    "fmod" 2: |x| x[0] % x[1];
    "fdim" 2: |x| if x[0].is_nan() || x[1].is_nan() { T::NAN } else if x[0] > x[1] { x[0] - x[1] } else { 0.0 };
    "fmax" 2: |x| x[0].max(x[1]);
    "fmin" 2: |x| x[0].min(x[1]);
    "copysign" 2: |x| x[0].copysign(x[1]);
    "nextafter" 2: |x| if x[0].is_nan() || x[1].is_nan() { T::NAN } else if x[0] == x[1] { x[1] } else if x[0] < x[1] { x[0].next_up() } else { x[0].next_down() };
    "fma" 3: |x| x[0].mul_add(x[1], x[2]);
    "remainder" 2: |x| nearest(x[0].wide(), x[1].wide()).0 as T;
    "remquo" 2: |x| nearest(x[0].wide(), x[1].wide()).1 as T;
    "frexp_first" 1: |x| parts(x[0].wide()).0 as T;
    "frexp_second" 1: |x| parts(x[0].wide()).1 as T;
    "modf_first" 1: |x| if x[0].is_infinite() { (0.0 as T).copysign(x[0]) } else { (x[0] - x[0].trunc()).copysign(x[0]) };
    "modf_second" 1: |x| x[0].trunc();
    "logb" 1: |x| if x[0] == 0.0 { T::NEG_INFINITY } else if x[0].is_finite() { (parts(x[0].wide()).1 - 1) as T } else { x[0].abs() };
    "ilogb" 1: |x| if x[0].is_nan() || x[0] == 0.0 { i32::MIN as T } else if x[0].is_infinite() { i32::MAX as T } else { (parts(x[0].wide()).1 - 1) as T };
    "ldexp" 2: |x| shifted(x[0].wide(), x[1].wide(), T::MANTISSA_DIGITS, T::MIN_EXP) as T;
    "scalbn" 2: |x| shifted(x[0].wide(), x[1].wide(), T::MANTISSA_DIGITS, T::MIN_EXP) as T;
    "scalbln" 2: |x| shifted(x[0].wide(), x[1].wide(), T::MANTISSA_DIGITS, T::MIN_EXP) as T;
};

/// The functions, as their doubles are called; what has two results is there once.
pub fn names() -> Vec<&'static str> {
    let all = EXACT.iter().map(|exact| exact.name);
    all.filter(|name| !name.ends_with("_second"))
        .map(|name| name.strip_suffix("_first").unwrap_or(name))
        .collect()
}

/// A whole number as a GPU converts it: the nearest that there is; of NaN the smallest.
fn within(x: f64) -> i64 {
    if x.is_nan() { i64::MIN } else { x as i64 }
}

/// A number as one from 1/2 to 1 times a power of two.
fn parts(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let exponent = |x: f64| (x.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    match x.is_subnormal() {
        true => {
            let (mantissa, power) = parts(x * 2f64.powi(64));
            (mantissa, power - 64)
        }
        false => (
            f64::from_bits(x.to_bits() & !(0x7ff << 52) | 1022 << 52),
            exponent(x),
        ),
    }
}

/// What is left of x when the nearest whole multiple of y is taken off, and the last three bits of which it was.
fn nearest(x: f64, y: f64) -> (f64, i32) {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return (f64::NAN, 0);
    }
    if y.is_infinite() {
        return (x, 0);
    }
    let (a, b) = (x.abs(), y.abs());
    // Eight of them: its quotient has the bits that are asked for. Where eight are too many, there are fewer.
    let rest8 = if b * 8.0 < f64::INFINITY {
        a % (b * 8.0)
    } else {
        a
    };
    let mut rest = rest8 % b;
    let mut count = ((rest8 - rest) / b).round() as i32;
    if rest > b - rest || (rest == b - rest && count % 2 == 1) {
        rest = -(b - rest);
        count += 1;
    }
    let count = (count & 7) * if (x < 0.0) == (y < 0.0) { 1 } else { -1 };
    (if x.is_sign_negative() { -rest } else { rest }, count)
}

/// x times a power of two, rounded once to a format of so many digits and such a least exponent.
fn shifted(x: f64, by: f64, digits: u32, least: i32) -> f64 {
    let by = by.clamp(-1e5, 1e5) as i32;
    let (mantissa, power) = parts(x);
    if mantissa == 0.0 || !mantissa.is_finite() {
        return x;
    }
    let power = i64::from(power) + i64::from(by);
    // The place of the last digit that the result has.
    let last = (power - i64::from(digits)).max(i64::from(least) - i64::from(digits));
    let shift = power - last;
    if shift < -1 {
        return 0f64.copysign(x);
    }
    if power > 1100 {
        return f64::INFINITY.copysign(x);
    }
    let whole = (mantissa * 2f64.powi(shift as i32)).round_ties_even();
    // In two steps, of which neither loses anything.
    let half = last / 2;
    whole * 2f64.powi(half as i32) * 2f64.powi((last - half) as i32)
}

/// Every result that is not right, of about so many points of each function; and how many were compared.
pub fn measure(
    floats: &mut Machine,
    doubles: &mut Machine,
    count: usize,
) -> Result<(Vec<Wrong>, usize)> {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for exact in &EXACT {
        let narrow = points::of_floats(count, exact.arity);
        // NaN is no whole number: what it is converted to, the language leaves open.
        let is_shift = matches!(exact.name, "ldexp" | "scalbn" | "scalbln");
        let narrow: Vec<f32> = match is_shift {
            true => narrow
                .chunks(2)
                .filter(|pair| !pair[1].is_nan())
                .flatten()
                .copied()
                .collect(),
            false => narrow,
        };
        let wide: Vec<f64> = narrow.iter().map(|&x| spread(x)).collect();
        let name = match exact.name.split_once('_') {
            Some((name, which)) => format!("{name}f_{which}"),
            None => format!("{}f", exact.name),
        };
        let singles = floats.evaluate(&name, &narrow, exact.arity)?;
        for (arguments, result) in narrow.chunks(exact.arity).zip(singles) {
            let expected = (exact.single)(arguments);
            compared += 1;
            if !same(result.into(), expected.into(), exact.name) {
                wrong.push(Wrong {
                    function: name.clone(),
                    arguments: arguments.iter().map(|&x| x.into()).collect(),
                    result: result.into(),
                    expected: expected.into(),
                });
            }
        }
        let results = doubles.evaluate(exact.name, &wide, exact.arity)?;
        for (arguments, result) in wide.chunks(exact.arity).zip(results) {
            let expected = (exact.double)(arguments);
            compared += 1;
            if !same(result, expected, exact.name) {
                wrong.push(Wrong {
                    function: exact.name.into(),
                    arguments: arguments.to_vec(),
                    result,
                    expected,
                });
            }
        }
    }
    Ok((wrong, compared))
}

/// A double of more digits and a larger range than the float that it is drawn from; small ones stay as they are,
/// so that there are halves and whole numbers.
fn spread(x: f32) -> f64 {
    let wide = f64::from(x);
    if x.to_bits().is_multiple_of(4) || !x.is_finite() {
        return wide;
    }
    let more = wide * (1.0 + f64::from(x.to_bits() % 1021) * 2f64.powi(-40));
    if x.to_bits() % 4 == 1 && more.abs() > 1e20 {
        more.powi(7)
    } else {
        more
    }
}

/// The larger of 0 and -0 may be either.
fn same(a: f64, b: f64, name: &str) -> bool {
    let zeros = matches!(name, "fmax" | "fmin") && a == 0.0 && b == 0.0;
    zeros || a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}
