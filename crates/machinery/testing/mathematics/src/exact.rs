//! Functions without error, whose results equal those of Rust's library bit by bit.

use anyhow::Result;

use crate::errors::float_arguments;
use crate::functions::Device;

/// A result that differs from the expected one.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongResult {
    pub function: String,
    pub arguments: Vec<f64>,
    pub result: f64,
    pub expected: f64,
}

/// A function and its implementations in Rust.
struct Exact {
    name: &'static str,
    arity: usize,
    single: fn(&[f32]) -> f32,
    double: fn(&[f64]) -> f64,
}

/// Defines the functions for both formats.
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

/// Conversion of either format to double.
trait ToDouble {
    fn to_double(self) -> f64;
}

impl ToDouble for f32 {
    fn to_double(self) -> f64 {
        self.into()
    }
}

impl ToDouble for f64 {
    fn to_double(self) -> f64 {
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
    "lrint" 1: |x| to_integer(x[0].round_ties_even().to_double()) as T;
    "llrint" 1: |x| to_integer(x[0].round_ties_even().to_double()) as T;
    "lround" 1: |x| to_integer(x[0].round().to_double()) as T;
    "llround" 1: |x| to_integer(x[0].round().to_double()) as T;
    "sqrt" 1: |x| x[0].sqrt();
    "fmod" 2: |x| x[0] % x[1];
    "fdim" 2: |x| if x[0].is_nan() || x[1].is_nan() { T::NAN } else if x[0] > x[1] { x[0] - x[1] } else { 0.0 };
    "fmax" 2: |x| x[0].max(x[1]);
    "fmin" 2: |x| x[0].min(x[1]);
    "copysign" 2: |x| x[0].copysign(x[1]);
    "nextafter" 2: |x| if x[0].is_nan() || x[1].is_nan() { T::NAN } else if x[0] == x[1] { x[1] } else if x[0] < x[1] { x[0].next_up() } else { x[0].next_down() };
    "fma" 3: |x| x[0].mul_add(x[1], x[2]);
    "remainder" 2: |x| ieee_remainder(x[0].to_double(), x[1].to_double()).0 as T;
    "remquo" 2: |x| ieee_remainder(x[0].to_double(), x[1].to_double()).1 as T;
    "frexp_first" 1: |x| frexp(x[0].to_double()).0 as T;
    "frexp_second" 1: |x| frexp(x[0].to_double()).1 as T;
    "modf_first" 1: |x| if x[0].is_infinite() { (0.0 as T).copysign(x[0]) } else { (x[0] - x[0].trunc()).copysign(x[0]) };
    "modf_second" 1: |x| x[0].trunc();
    "logb" 1: |x| if x[0] == 0.0 { T::NEG_INFINITY } else if x[0].is_finite() { (frexp(x[0].to_double()).1 - 1) as T } else { x[0].abs() };
    "ilogb" 1: |x| if x[0].is_nan() || x[0] == 0.0 { i32::MIN as T } else if x[0].is_infinite() { i32::MAX as T } else { (frexp(x[0].to_double()).1 - 1) as T };
    "ldexp" 2: |x| scale_by_power(x[0].to_double(), x[1].to_double(), T::MANTISSA_DIGITS, T::MIN_EXP) as T;
    "scalbn" 2: |x| scale_by_power(x[0].to_double(), x[1].to_double(), T::MANTISSA_DIGITS, T::MIN_EXP) as T;
    "scalbln" 2: |x| scale_by_power(x[0].to_double(), x[1].to_double(), T::MANTISSA_DIGITS, T::MIN_EXP) as T;
};

/// Returns the names of the double functions; functions with two results are listed once.
pub fn names() -> Vec<&'static str> {
    let names = EXACT.iter().map(|exact| exact.name);
    names
        .filter(|name| !name.ends_with("_second"))
        .map(|name| name.strip_suffix("_first").unwrap_or(name))
        .collect()
}

/// Converts to an integer like a GPU: out-of-range values saturate, and NaN becomes the smallest integer.
fn to_integer(x: f64) -> i64 {
    if x.is_nan() { i64::MIN } else { x as i64 }
}

/// Splits a number into a mantissa in [1/2, 1) and a power of two.
fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    if x.is_subnormal() {
        let (mantissa, power) = frexp(x * 2f64.powi(64));
        return (mantissa, power - 64);
    }
    (
        f64::from_bits(x.to_bits() & !(0x7ff << 52) | 1022 << 52),
        (x.to_bits() >> 52 & 0x7ff) as i32 - 1022,
    )
}

/// Returns the IEEE remainder of x / y, and the last three bits of the quotient with its sign.
fn ieee_remainder(x: f64, y: f64) -> (f64, i32) {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return (f64::NAN, 0);
    }
    if y.is_infinite() {
        return (x, 0);
    }
    let (a, b) = (x.abs(), y.abs());
    // The quotient of the remainder by 8 y has the required bits. If 8 y overflows, the quotient is small
    // anyway.
    let remainder8 = if b * 8.0 < f64::INFINITY {
        a % (b * 8.0)
    } else {
        a
    };
    let mut remainder = remainder8 % b;
    let mut count = ((remainder8 - remainder) / b).round() as i32;
    if remainder > b - remainder || (remainder == b - remainder && count % 2 == 1) {
        remainder = -(b - remainder);
        count += 1;
    }
    let count = (count & 7) * if (x < 0.0) == (y < 0.0) { 1 } else { -1 };
    (
        if x.is_sign_negative() {
            -remainder
        } else {
            remainder
        },
        count,
    )
}

/// Multiplies x by a power of two, rounding once to the given precision and minimum exponent.
fn scale_by_power(x: f64, power_of_two: f64, mantissa_digits: u32, min_exponent: i32) -> f64 {
    let power_of_two = power_of_two.clamp(-1e5, 1e5) as i32;
    let (mantissa, power) = frexp(x);
    if mantissa == 0.0 || !mantissa.is_finite() {
        return x;
    }
    let power = i64::from(power) + i64::from(power_of_two);
    // The exponent of the result's last digit.
    let last_exponent = (power - i64::from(mantissa_digits))
        .max(i64::from(min_exponent) - i64::from(mantissa_digits));
    let shift = power - last_exponent;
    if shift < -1 {
        return 0f64.copysign(x);
    }
    if power > 1100 {
        return f64::INFINITY.copysign(x);
    }
    let scaled = (mantissa * 2f64.powi(shift as i32)).round_ties_even();
    // In two exact steps, because the power itself may not be representable.
    let half_exponent = last_exponent / 2;
    scaled * 2f64.powi(half_exponent as i32) * 2f64.powi((last_exponent - half_exponent) as i32)
}

/// Returns every wrong result at about `count` points per function, and the number of results compared.
pub fn measure(
    floats: &mut Device,
    doubles: &mut Device,
    count: usize,
) -> Result<(Vec<WrongResult>, usize)> {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for exact in &EXACT {
        let mut float_arguments = float_arguments(count, exact.arity);
        // The conversion of a NaN to an integer exponent is undefined behaviour in C++.
        let takes_exponent = matches!(exact.name, "ldexp" | "scalbn" | "scalbln");
        if takes_exponent {
            let pairs = float_arguments.chunks(2);
            let valid = pairs.filter(|pair| !pair[1].is_nan());
            float_arguments = valid.flatten().copied().collect();
        }
        let wide_arguments: Vec<f64> = float_arguments.iter().map(|&x| widen(x)).collect();
        let name = match exact.name.split_once('_') {
            Some((name, part)) => format!("{name}f_{part}"),
            None => format!("{}f", exact.name),
        };
        let float_results = floats.evaluate(&name, &float_arguments, exact.arity)?;
        for (arguments, result) in float_arguments.chunks(exact.arity).zip(float_results) {
            let expected = (exact.single)(arguments);
            compared += 1;
            if !is_same(result.into(), expected.into(), exact.name) {
                wrong.push(WrongResult {
                    function: name.clone(),
                    arguments: arguments.iter().map(|&x| x.into()).collect(),
                    result: result.into(),
                    expected: expected.into(),
                });
            }
        }
        let results = doubles.evaluate(exact.name, &wide_arguments, exact.arity)?;
        for (arguments, result) in wide_arguments.chunks(exact.arity).zip(results) {
            let expected = (exact.double)(arguments);
            compared += 1;
            if !is_same(result, expected, exact.name) {
                wrong.push(WrongResult {
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

/// Widens a float to a double with more digits and a larger range. Every fourth number is unchanged, so that
/// halves and integers occur.
fn widen(x: f32) -> f64 {
    let wide = f64::from(x);
    if x.to_bits().is_multiple_of(4) || !x.is_finite() {
        return wide;
    }
    let widened = wide * (1.0 + f64::from(x.to_bits() % 1021) * 2f64.powi(-40));
    if x.to_bits() % 4 == 1 && widened.abs() > 1e20 {
        widened.powi(7)
    } else {
        widened
    }
}

/// Returns true if the results are identical. `fmax` and `fmin` may return either zero for 0 and -0.
fn is_same(a: f64, b: f64, name: &str) -> bool {
    let both_zero = matches!(name, "fmax" | "fmin") && a == 0.0 && b == 0.0;
    both_zero || a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}
