//! Floats to integers, toward zero, clamped to the type's range.
//!
//! The range is tested before the conversion, so that the conversion is the CPU's bare one, which
//! vectorises. What a NaN becomes is the ISA's table: zero from .f32 to 32 bits, else the top bit.

#[inline(always)]
pub fn s32_of_f32(a: f32) -> i32 {
    let clamped = if a >= 2147483648.0 {
        i32::MAX
    } else if a > -2147483648.0 {
        // SAFETY: between the bounds above, whose neighbours are 128 and more away.
        unsafe { a.to_int_unchecked() }
    } else {
        i32::MIN
    };
    if a.is_nan() { 0 } else { clamped }
}

#[inline(always)]
pub fn u32_of_f32(a: f32) -> u32 {
    // Above 2^31 the value is shifted into the range of a signed conversion, and back after.
    let upper = a >= 2147483648.0;
    let shifted = if upper { a - 2147483648.0 } else { a };
    let bits = if (shifted > 0.0) & (shifted < 2147483648.0) {
        // SAFETY: between 0 and 2^31.
        unsafe { shifted.to_int_unchecked::<i32>() as u32 }
    } else {
        0
    };
    let whole = if upper {
        bits.wrapping_add(1 << 31)
    } else {
        bits
    };
    if a >= 4294967296.0 { u32::MAX } else { whole }
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
