//! The general conversion, one lane at a time.

use super::conversion::Conversion;
use super::nan::{nearest_single, quiet_nan, widen};
use crate::exec::ops::half;
use crate::exec::ops::rounding::{RoundingDirection, canonical, flush, flush_in_direction};
use crate::ptx::ast::Type;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert as _};

/// Performs any conversion for one lane, from register bits to register bits.
#[inline(never)]
pub fn convert(bits: u64, code: u64) -> u64 {
    let conversion = Conversion::from_code(code);
    match (conversion.to.is_float(), conversion.from.is_float()) {
        (false, false) => store(integer(bits, conversion.from), conversion, conversion.sat),
        (false, true) => match to_integer(float(bits, conversion), conversion) {
            Some(integral) => store(integral, conversion, true),
            None => store(nan_as_integer(conversion), conversion, false),
        },
        (true, false) => integer_to_float(integer(bits, conversion.from), conversion),
        (true, true) => narrow(float(bits, conversion), conversion),
    }
}

/// Returns the integer in the low bits of a register.
fn integer(bits: u64, ty: Type) -> i128 {
    let spare = 64 - 8 * ty.bytes();
    if ty.is_signed() {
        i128::from((bits << spare) as i64 >> spare)
    } else {
        i128::from(bits << spare >> spare)
    }
}

/// Returns an integer's register bits: clamped to the type or truncated, then extended.
fn store(value: i128, conversion: Conversion, clamp: bool) -> u64 {
    let width = 8 * conversion.to.bytes();
    let (min, max) = if conversion.to.is_signed() {
        (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    } else {
        (0, (1 << width) - 1)
    };
    let value = if clamp { value.clamp(min, max) } else { value };
    let extended = integer(value as u64, conversion.to) as u64;
    extended & (u64::MAX >> (64 - 8 * conversion.register.clamp(1, 8)))
}

/// Returns the exact value of a float, flushed if the form has `.ftz`.
fn float(bits: u64, conversion: Conversion) -> f64 {
    match conversion.from {
        Type::F16 => widen(half::f16(bits as u32)),
        Type::BF16 => widen(half::bf16(bits as u32)),
        // Flushing makes any NaN canonical.
        Type::F32 if conversion.ftz => widen(canonical(flush(f32::from_bits(bits as u32)))),
        Type::F32 => widen(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Rounds to an integer; returns `None` for NaN. Beyond 2^100 the exact value does not matter.
fn to_integer(a: f64, conversion: Conversion) -> Option<i128> {
    let integral = round_to_integral(a, conversion.direction);
    (!integral.is_nan()).then_some(integral as i128)
}

fn round_to_integral(a: f64, direction: RoundingDirection) -> f64 {
    match direction {
        RoundingDirection::Nearest => a.round_ties_even(),
        RoundingDirection::Zero => a.trunc(),
        RoundingDirection::Down => a.floor(),
        RoundingDirection::Up => a.ceil(),
    }
}

/// Returns the result for a NaN: zero unless one of the types has 64 bits, otherwise the type's top bit.
fn nan_as_integer(conversion: Conversion) -> i128 {
    if conversion.from.bytes() < 8 && conversion.to.bytes() < 8 {
        0
    } else {
        1 << (8 * conversion.to.bytes() - 1)
    }
}

fn integer_to_float(value: i128, conversion: Conversion) -> u64 {
    fn bits<F: Float>(value: i128, conversion: Conversion) -> u64 {
        F::from_i128_r(value, conversion.direction.round())
            .value
            .to_bits() as u64
    }
    let result = match conversion.to {
        Type::F16 => bits::<Half>(value, conversion),
        Type::BF16 => bits::<BFloat>(value, conversion),
        Type::F32 => bits::<Single>(value, conversion),
        _ => bits::<Double>(value, conversion),
    };
    clamp_float(result, conversion)
}

/// Converts a float to the destination's format.
fn narrow(a: f64, conversion: Conversion) -> u64 {
    let a = if conversion.integral {
        round_to_integral(a, conversion.direction)
    } else {
        a
    };
    let double = Double::from_bits(a.to_bits().into());
    let (round, mut lossy) = (conversion.direction.round(), false);
    let result = match conversion.to {
        Type::F64 => quiet_nan(a, a).to_bits(),
        // NaNs of doubles keep their sign and the upper part of their payload; others become canonical.
        Type::F16 if a.is_nan() && keeps_nan(conversion) => truncate_nan(a, 10),
        Type::BF16 if a.is_nan() && keeps_nan(conversion) => truncate_nan(a, 7),
        Type::F16 | Type::BF16 if a.is_nan() => 0x7fff,
        Type::F32 if a.is_nan() && conversion.from == Type::F64 => {
            u64::from(nearest_single(a).to_bits())
        }
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
            let flushed = || flush_in_direction(conversion.direction, single, a);
            u64::from(if conversion.ftz { flushed() } else { single }.to_bits())
        }
    };
    clamp_float(result, conversion)
}

/// Returns true if a NaN converted to 16 bits keeps its sign and payload.
fn keeps_nan(conversion: Conversion) -> bool {
    conversion.from == Type::F64 && !conversion.relu
}

/// Truncates a NaN to 16 bits, `fraction` of which are fraction bits, and makes it quiet.
fn truncate_nan(a: f64, fraction: u32) -> u64 {
    let quiet = a.to_bits() | 1 << 51;
    let magnitude = (1 << 15) - 1;
    quiet >> 48 & 1 << 15 | (0x7fff << fraction | quiet << 12 >> (64 - fraction)) & magnitude
}

/// Applies `.sat` (clamp to [0, 1], NaN becomes 0) or `.relu` (negative numbers become 0).
fn clamp_float(bits: u64, conversion: Conversion) -> u64 {
    let value = float(
        bits,
        Conversion {
            from: conversion.to,
            ftz: false,
            ..conversion
        },
    );
    let unit = match conversion.to {
        Type::F16 => 0x3c00,
        Type::BF16 => 0x3f80,
        Type::F32 => u64::from(1f32.to_bits()),
        _ => 1f64.to_bits(),
    };
    if conversion.sat {
        if value >= 1.0 {
            unit
        } else if value > 0.0 {
            bits
        } else {
            0
        }
    } else if conversion.relu && value.is_sign_negative() {
        0
    } else {
        bits
    }
}
