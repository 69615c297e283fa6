//! NaNs in conversions between floats.

use crate::exec::ops::rounding::quiet;

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
