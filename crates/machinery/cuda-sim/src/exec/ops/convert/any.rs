//! Any conversion, one lane at a time.

use super::conversion::Conversion;
use super::nan::{nearest_single, quiet_nan, widen};
use crate::exec::ops::half;
use crate::exec::ops::rounding::{RoundingDirection, canonical, flush, flush_in_direction};
use crate::ptx::ast::Type;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert as _};

/// Any conversion, one lane: register bits in, register bits out.
#[inline(never)]
pub fn convert(bits: u64, code: u64) -> u64 {
    let how = Conversion::from_code(code);
    match (how.to.is_float(), how.from.is_float()) {
        (false, false) => store(integer(bits, how.from), how, how.sat),
        (false, true) => match to_whole(float(bits, how), how) {
            Some(whole) => store(whole, how, true),
            None => store(nan_as_integer(how), how, false),
        },
        (true, false) => integer_to_float(integer(bits, how.from), how),
        (true, true) => narrow(float(bits, how), how),
    }
}

/// The integer in the low bits of a register.
fn integer(bits: u64, ty: Type) -> i128 {
    let spare = 64 - 8 * ty.bytes();
    if ty.is_signed() {
        i128::from((bits << spare) as i64 >> spare)
    } else {
        i128::from(bits << spare >> spare)
    }
}

/// An integer in its register: clamped to the type or cut off, then extended.
fn store(value: i128, how: Conversion, clamp: bool) -> u64 {
    let width = 8 * how.to.bytes();
    let (least, most) = if how.to.is_signed() {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    };
    let value = if clamp {
        value.clamp(least, most)
    } else {
        value
    };
    let extended = integer(value as u64, how.to) as u64;
    extended & (u64::MAX >> (64 - 8 * how.register.clamp(1, 8)))
}

/// The value of a float, exact, flushed if the form says so.
fn float(bits: u64, how: Conversion) -> f64 {
    match how.from {
        Type::F16 => widen(half::f16(bits as u32)),
        Type::BF16 => widen(half::bf16(bits as u32)),
        // What flushes makes any NaN the one NaN.
        Type::F32 if how.ftz => widen(canonical(flush(f32::from_bits(bits as u32)))),
        Type::F32 => widen(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Rounded to an integer; None for NaN. Beyond 2^100 the exact value no longer matters.
fn to_whole(a: f64, how: Conversion) -> Option<i128> {
    let whole = round_to_whole(a, how.direction);
    (!whole.is_nan()).then_some(whole as i128)
}

fn round_to_whole(a: f64, direction: RoundingDirection) -> f64 {
    match direction {
        RoundingDirection::Nearest => a.round_ties_even(),
        RoundingDirection::Zero => a.trunc(),
        RoundingDirection::Down => a.floor(),
        RoundingDirection::Up => a.ceil(),
    }
}

/// What a NaN becomes: zero unless one of the types is of 64 bits, else the type's top bit.
fn nan_as_integer(how: Conversion) -> i128 {
    if how.from.bytes() < 8 && how.to.bytes() < 8 {
        0
    } else {
        1 << (8 * how.to.bytes() - 1)
    }
}

fn integer_to_float(value: i128, how: Conversion) -> u64 {
    fn bits<F: Float>(value: i128, how: Conversion) -> u64 {
        F::from_i128_r(value, how.direction.round()).value.to_bits() as u64
    }
    let result = match how.to {
        Type::F16 => bits::<Half>(value, how),
        Type::BF16 => bits::<BFloat>(value, how),
        Type::F32 => bits::<Single>(value, how),
        _ => bits::<Double>(value, how),
    };
    clamp_float(result, how)
}

/// A float brought to the destination's format.
fn narrow(a: f64, how: Conversion) -> u64 {
    let a = if how.integral {
        round_to_whole(a, how.direction)
    } else {
        a
    };
    let double = Double::from_bits(a.to_bits().into());
    let (round, mut lossy) = (how.direction.round(), false);
    let result = match how.to {
        Type::F64 => quiet_nan(a, a).to_bits(),
        // A double's NaN keeps its sign and what fits of its payload; others are the one NaN.
        Type::F16 if a.is_nan() && keeps_nan(how) => cut_nan(a, 10),
        Type::BF16 if a.is_nan() && keeps_nan(how) => cut_nan(a, 7),
        Type::F16 | Type::BF16 if a.is_nan() => 0x7fff,
        Type::F32 if a.is_nan() && how.from == Type::F64 => u64::from(nearest_single(a).to_bits()),
        Type::F32 if a.is_nan() => u64::from(canonical(f32::NAN).to_bits()),
        Type::F16 => {
            let half: Half = double.convert_r(round, &mut lossy).value;
            half.to_bits() as u64
        }
        Type::BF16 => {
            let half: BFloat = double.convert_r(round, &mut lossy).value;
            half.to_bits() as u64
        }
        _ => {
            let single: Single = double.convert_r(round, &mut lossy).value;
            let single = f32::from_bits(single.to_bits() as u32);
            let flushed = || flush_in_direction(how.direction, single, a);
            u64::from(if how.ftz { flushed() } else { single }.to_bits())
        }
    };
    clamp_float(result, how)
}

/// Whether a NaN made 16 bits wide is more than the one NaN.
fn keeps_nan(how: Conversion) -> bool {
    how.from == Type::F64 && !how.relu
}

/// A NaN as 16 bits, `fraction` of which are fraction: cut off, and quiet.
fn cut_nan(a: f64, fraction: u32) -> u64 {
    let quiet = a.to_bits() | 1 << 51;
    let magnitude = (1 << 15) - 1;
    quiet >> 48 & 1 << 15 | (0x7fff << fraction | quiet << 12 >> (64 - fraction)) & magnitude
}

/// `.sat`: into [0, 1], NaN becomes 0. `.relu`: negative numbers become 0.
fn clamp_float(bits: u64, how: Conversion) -> u64 {
    let value = float(
        bits,
        Conversion {
            from: how.to,
            ftz: false,
            ..how
        },
    );
    let one = match how.to {
        Type::F16 => 0x3c00,
        Type::BF16 => 0x3f80,
        Type::F32 => u64::from(1f32.to_bits()),
        _ => 1f64.to_bits(),
    };
    if how.sat {
        if value >= 1.0 {
            one
        } else if value > 0.0 {
            bits
        } else {
            0
        }
    } else if how.relu && value.is_sign_negative() {
        0
    } else {
        bits
    }
}
