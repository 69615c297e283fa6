//! Rounding, flushing, saturation and NaNs. Source: PTX ISA, sections 9.7.3 (floating point) and 9.7.9 (`cvt`).
//!
//! Round-to-nearest uses the CPU's own arithmetic. The other directions use LLVM's software floating point
//! (`rustc_apfloat`), which is a hundred times slower; they are rare.

use super::form::Form;
use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float as _, Round};

/// The NaN that single-precision arithmetic produces; payloads are lost.
pub const NAN32: u32 = 0x7fff_ffff;
/// The NaN of an invalid operation in double precision. NaN operands pass through, made quiet.
pub const NAN64: u64 = 0xfff8_0000_0000_0000;

/// A rounding direction: `.rn`, `.rz`, `.rm`, `.rp` and their integer counterparts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundingDirection {
    Nearest,
    Zero,
    Down,
    Up,
}

impl RoundingDirection {
    /// Takes the direction named by one of `names`, which are in the enum's order.
    fn named(form: &Form, names: [&str; 4]) -> Option<RoundingDirection> {
        let all = [
            RoundingDirection::Nearest,
            RoundingDirection::Zero,
            RoundingDirection::Down,
            RoundingDirection::Up,
        ];
        let name = form.one_of(&names)?;
        names
            .iter()
            .zip(all)
            .find(|(n, _)| **n == name)
            .map(|(_, direction)| direction)
    }

    /// Takes `.rn`, `.rz`, `.rm` or `.rp`.
    pub fn float(form: &Form) -> Option<RoundingDirection> {
        Self::named(form, ["rn", "rz", "rm", "rp"])
    }

    /// Takes `.rni`, `.rzi`, `.rmi` or `.rpi`.
    pub fn integer(form: &Form) -> Option<RoundingDirection> {
        Self::named(form, ["rni", "rzi", "rmi", "rpi"])
    }

    pub fn round(self) -> Round {
        match self {
            RoundingDirection::Nearest => Round::NearestTiesToEven,
            RoundingDirection::Zero => Round::TowardZero,
            RoundingDirection::Down => Round::TowardNegative,
            RoundingDirection::Up => Round::TowardPositive,
        }
    }
}

/// The rounding and clamping of a form. Stored in the immediate of forms that are too rare for a handler each.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    pub direction: RoundingDirection,
    pub ftz: bool,
    pub sat: bool,
}

impl Mode {
    pub fn code(self) -> u64 {
        self.direction as u64 | u64::from(self.ftz) << 2 | u64::from(self.sat) << 3
    }

    #[inline(always)]
    pub fn from_code(code: u64) -> Mode {
        let direction = match code & 3 {
            0 => RoundingDirection::Nearest,
            1 => RoundingDirection::Zero,
            2 => RoundingDirection::Down,
            _ => RoundingDirection::Up,
        };
        Mode {
            direction,
            ftz: code & 4 != 0,
            sat: code & 8 != 0,
        }
    }

    fn input(self, a: f32) -> f32 {
        if self.ftz { flush(a) } else { a }
    }

    fn output(self, a: f32) -> f32 {
        let a = if self.ftz { flush(a) } else { a };
        if self.sat { saturate(a) } else { canonical(a) }
    }
}

/// Applies `.ftz`: a subnormal number becomes zero with its sign.
#[inline(always)]
pub fn flush(a: f32) -> f32 {
    let bits = a.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    })
}

/// Applies `.ftz` to a product or quotient rounded to nearest: the result is zero with its sign if it is
/// subnormal when rounded to 24 bits, as on a GPU. Subnormal numbers have fewer bits, so `result`, which is
/// rounded to those, may be the least normal number although `exact` is below it.
#[inline(always)]
pub fn flush_rounded(result: f32, exact: f64) -> f32 {
    /// Numbers below this are not rounded to the least normal number.
    const HALFWAY: f64 = MIN_NORMAL * (1.0 - 1.0 / (1 << 25) as f64);
    if exact.abs() < HALFWAY {
        0f32.copysign(result)
    } else {
        result
    }
}

/// Applies `.ftz` to a result rounded in any direction.
pub fn flush_in_direction(direction: RoundingDirection, result: f32, exact: f64) -> f32 {
    /// The largest 24-bit number below the least normal number.
    const LARGEST_BELOW_NORMAL: f64 = MIN_NORMAL * (1.0 - 1.0 / (1 << 24) as f64);
    match direction {
        RoundingDirection::Nearest => flush_rounded(result, exact),
        _ if exact.abs() <= LARGEST_BELOW_NORMAL => 0f32.copysign(result),
        _ => flush(result),
    }
}

/// The least normal number of single precision.
const MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Computes a·b + c, rounded to odd: the result lies on the same side of any single-precision number, and of
/// any midpoint between two, as the exact value.
#[inline(always)]
pub fn fused_round_to_odd(a: f32, b: f32, c: f32) -> f64 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let added = sum - product;
    let remainder = (product - (sum - added)) + (c - added);
    let bits = sum.to_bits();
    if remainder == 0.0 || bits & 1 == 1 {
        sum
    } else if (remainder > 0.0) == (sum > 0.0) {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    }
}

/// Applies `.sat`: clamps to [0, 1]; NaN and -0 become +0.
#[inline(always)]
pub fn saturate(a: f32) -> f32 {
    let below_one = if a < 1.0 { a } else { 1.0 };
    if a > 0.0 { below_one } else { 0.0 }
}

/// Replaces any NaN by [`NAN32`].
///
/// Compares bits, because the compiler may treat all NaN results of floating-point operations alike and drop
/// a choice between two (after a square root it does).
#[inline(always)]
pub fn canonical(a: f32) -> f32 {
    let bits = a.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 {
        NAN32
    } else {
        bits
    })
}

/// Returns a double NaN made quiet, as arithmetic propagates it.
#[inline(always)]
pub fn quiet(a: f64) -> f64 {
    f64::from_bits(a.to_bits() | 1 << 51)
}

/// Returns `result` unless it is NaN; then the first of `operands` that is NaN, made quiet, or [`NAN64`].
///
/// In a fused multiply-add, a GPU propagates the second factor's NaN first, then the addend's, then the first
/// factor's; in a sum or product, the second operand's first. The choice of the host CPU depends on how the
/// compiler ordered its operands.
#[inline(always)]
pub fn pass_nan<const N: usize>(operands: [f64; N], result: f64) -> f64 {
    // Compares bits for the reason that `canonical` gives.
    let is_nan = |bits: u64| bits & (u64::MAX >> 1) > 0x7ff0_0000_0000_0000;
    let mut nan = NAN64;
    for operand in operands.into_iter().rev() {
        let bits = operand.to_bits();
        nan = if is_nan(bits) { bits | 1 << 51 } else { nan };
    }
    f64::from_bits(if is_nan(result.to_bits()) {
        nan
    } else {
        result.to_bits()
    })
}

/// Returns the handlers of a single-precision operation rounded to nearest, with or without `.ftz` and
/// `.sat`. An operation that may be rounded up to the least normal number also gives its exact value, or one
/// that compares alike.
macro_rules! nearest {
    ($map:ident, $cpu:expr, $mode:expr, |$($x:ident),+| $body:expr) => {
        nearest!($map, $cpu, $mode, |$($x),+| $body, |result| {
            crate::exec::ops::rounding::flush(result)
        })
    };
    ($map:ident, $cpu:expr, $mode:expr, |$($x:ident),+| $body:expr, exactly $exact:expr) => {
        nearest!($map, $cpu, $mode, |$($x),+| $body, |result| {
            crate::exec::ops::rounding::flush_rounded(result, $exact)
        })
    };
    ($map:ident, $cpu:expr, $mode:expr, |$($x:ident),+| $body:expr, |$result:ident| $flushed:expr) => {
        match ($mode.ftz, $mode.sat) {
            (false, false) => $map($cpu, |$($x: f32),+| crate::exec::ops::rounding::canonical($body)),
            (false, true) => $map($cpu, |$($x: f32),+| crate::exec::ops::rounding::saturate($body)),
            (true, false) => $map($cpu, |$($x: f32),+| {
                $(let $x = crate::exec::ops::rounding::flush($x);)+
                let $result = crate::exec::ops::rounding::canonical($body);
                $flushed
            }),
            (true, true) => $map($cpu, |$($x: f32),+| {
                $(let $x = crate::exec::ops::rounding::flush($x);)+
                let $result = $body;
                crate::exec::ops::rounding::saturate($flushed)
            }),
        }
    };
}
pub(super) use nearest;

/// An operation with explicit rounding. Operations with fewer operands ignore the others.
#[derive(Debug, Clone, Copy)]
pub enum Operation {
    Add,
    Mul,
    /// a·b + c, rounded once.
    Fma,
    Div,
    Sqrt,
}

/// Computes `operation` in single precision with the encoded [`Mode`].
#[inline(never)]
pub fn single(operation: Operation, [a, b, c]: [f32; 3], code: u64) -> f32 {
    let mode = Mode::from_code(code);
    let operands @ [a, b, c] = [a, b, c].map(|x| mode.input(x));
    if let Operation::Sqrt = operation {
        return mode.output(sqrt_single(a, mode.direction));
    }
    let soft = |x: f32| Single::from_bits(x.to_bits().into());
    let (a, b, c, round) = (soft(a), soft(b), soft(c), mode.direction.round());
    let result = match operation {
        Operation::Add => a.add_r(b, round),
        Operation::Mul => a.mul_r(b, round),
        Operation::Fma => a.mul_add_r(b, c, round),
        Operation::Div | Operation::Sqrt => a.div_r(b, round),
    };
    let result = f32::from_bits(result.value.to_bits() as u32);
    if !mode.ftz {
        return mode.output(result);
    }
    let exact = exact_result(operation, operands);
    mode.output(flush_in_direction(mode.direction, result, exact))
}

/// Returns the result before rounding, or a number on the same side of every single-precision number and of
/// every midpoint between two.
fn exact_result(operation: Operation, [a, b, c]: [f32; 3]) -> f64 {
    let (wide_a, wide_b) = (f64::from(a), f64::from(b));
    match operation {
        Operation::Add => wide_a + wide_b,
        Operation::Mul => wide_a * wide_b,
        Operation::Fma => fused_round_to_odd(a, b, c),
        Operation::Div => wide_a / wide_b,
        Operation::Sqrt => wide_a.sqrt(),
    }
}

/// Computes `operation` in double precision with the rounding of the encoded [`Mode`].
#[inline(never)]
pub fn double(operation: Operation, [a, b, c]: [f64; 3], code: u64) -> f64 {
    let direction = Mode::from_code(code).direction;
    let soft = |x: f64| Double::from_bits(x.to_bits().into());
    let (x, y, z, round) = (soft(a), soft(b), soft(c), direction.round());
    let (operands, result) = match operation {
        Operation::Add => ([b, a, a], x.add_r(y, round)),
        Operation::Mul => ([b, a, a], x.mul_r(y, round)),
        Operation::Fma => ([b, c, a], x.mul_add_r(y, z, round)),
        Operation::Div => ([a, b, b], x.div_r(y, round)),
        Operation::Sqrt => return pass_nan([a], sqrt_double(a, direction)),
    };
    pass_nan(operands, f64::from_bits(result.value.to_bits() as u64))
}

/// Moves a square root rounded to nearest to its neighbour if it is on the wrong side of the exact root.
/// `$error` has the sign of a - root².
macro_rules! towards {
    ($direction:expr, $root:expr, $error:expr) => {
        match $direction {
            RoundingDirection::Zero | RoundingDirection::Down if $error < 0.0 => $root.next_down(),
            RoundingDirection::Up if $error > 0.0 => $root.next_up(),
            _ => $root,
        }
    };
}

fn sqrt_single(a: f32, direction: RoundingDirection) -> f32 {
    let root = a.sqrt();
    if !(a > 0.0 && a.is_finite()) {
        return root;
    }
    // Both terms and their difference are exact in double precision.
    let error = f64::from(a) - f64::from(root) * f64::from(root);
    towards!(direction, root, error)
}

fn sqrt_double(a: f64, direction: RoundingDirection) -> f64 {
    if !(a > 0.0 && a.is_finite()) {
        return a.sqrt();
    }
    // Scales by an even power of two, so that the fused error term does not underflow.
    let (scaled, back) = if a < 1e-200 {
        (a * 2f64.powi(400), 2f64.powi(-200))
    } else {
        (a, 1.0)
    };
    let root = scaled.sqrt();
    let error = (-root).mul_add(root, scaled);
    towards!(direction, root, error) * back
}
