//! Conversions of floats to integers, towards zero, clamped to the type's range.
//!
//! The range is tested before the conversion, which can then use the CPU's bare instruction and vectorizes.
//! The result for NaN follows the ISA's table: zero from .f32 to 32 bits, otherwise the top bit.

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
