//! The general conversion, one lane at a time, and the conversions of floats to integers and of NaNs that it shares
//! with the frequent ones.
//!
//! Floats are converted to integers towards zero, clamped to the type's range. The range is tested before the
//! conversion, which can then use the CPU's bare instruction and vectorizes. The result for NaN follows the ISA's table:
//! zero from .f32 to 32 bits, otherwise the top bit.

use super::Conversion;
use crate::exec::ops::half;
use crate::exec::ops::rounding::{RoundingDirection, canonical, flush, flush_in_direction, quiet};
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

#[inline(always)]
pub fn s32_of_f32(a: f32) -> i32 {
    let clamped = if a >= 2147483648.0 {
        i32::MAX
    } else if a > -2147483648.0 {
        // SAFETY: `a` is between the bounds tested above, whose neighbours as floats are at least 128 away.
        unsafe { a.to_int_unchecked() }
    } else {
        i32::MIN
    };
    if a.is_nan() { 0 } else { clamped }
}

#[inline(always)]
pub fn u32_of_f32(a: f32) -> u32 {
    // Values from 2^31 on are shifted into the range of a signed conversion and back.
    let upper = a >= 2147483648.0;
    let shifted = if upper { a - 2147483648.0 } else { a };
    let bits = if (shifted > 0.0) & (shifted < 2147483648.0) {
        // SAFETY: `shifted` is between 0 and 2^31.
        unsafe { shifted.to_int_unchecked::<i32>() as u32 }
    } else {
        0
    };
    let integral = if upper {
        bits.wrapping_add(1 << 31)
    } else {
        bits
    };
    if a >= 4294967296.0 {
        u32::MAX
    } else {
        integral
    }
}

#[inline(always)]
pub fn s64_of_f32(a: f32) -> i64 {
    if a.is_nan() { i64::MIN } else { a as i64 }
}

#[inline(always)]
pub fn u64_of_f32(a: f32) -> u64 {
    if a.is_nan() { 1 << 63 } else { a as u64 }
}

#[inline(always)]
pub fn s32_of_f64(a: f64) -> i32 {
    if a.is_nan() { i32::MIN } else { a as i32 }
}

#[inline(always)]
pub fn u32_of_f64(a: f64) -> u32 {
    if a.is_nan() { 1 << 31 } else { a as u32 }
}

#[inline(always)]
pub fn s64_of_f64(a: f64) -> i64 {
    if a.is_nan() { i64::MIN } else { a as i64 }
}

#[inline(always)]
pub fn u64_of_f64(a: f64) -> u64 {
    if a.is_nan() { 1 << 63 } else { a as u64 }
}

#[inline(always)]
pub fn quiet_nan(a: f64, result: f64) -> f64 {
    if a.is_nan() { quiet(a) } else { result }
}

/// Converts single to double precision, which is exact. A NaN keeps its payload and becomes quiet.
#[inline(always)]
pub fn widen(a: f32) -> f64 {
    quiet_nan(f64::from(a), f64::from(a))
}

/// Rounds double to single precision. A NaN keeps its sign and the upper part of its payload.
#[inline(always)]
pub fn nearest_single(a: f64) -> f32 {
    let bits = a.to_bits();
    let nan = (bits >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x003f_ffff;
    // Compares bits for the reason that `canonical` gives.
    let is_nan = bits << 1 > 0x7ff0_0000_0000_0000 << 1;
    f32::from_bits(if is_nan { nan } else { (a as f32).to_bits() })
}
