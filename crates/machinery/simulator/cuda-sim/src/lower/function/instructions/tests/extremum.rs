//! Tests of `min` and `max` against the order of numbers.

use super::float::{NAN, double, flush};
use super::harness::{check, pairs};
use crate::ptx::ast::Type;

/// Maps a float to an integer with the same order, -0 before +0.
fn ordinal(bits: u64, width: u32) -> i128 {
    let size = i128::from(bits & !(1 << (width - 1)));
    if bits >> (width - 1) == 1 {
        -1 - size
    } else {
        size
    }
}

#[test]
fn min_and_max_follow_the_order_of_numbers() {
    let is_nan = |x: u64| f32::from_bits(x as u32).is_nan();
    let select = |min: bool, nan_wins: bool, a: u64, b: u64| -> u64 {
        match (is_nan(a), is_nan(b)) {
            (false, false) if (ordinal(a, 32) < ordinal(b, 32)) == min => a,
            (false, false) => b,
            (true, true) => NAN,
            _ if nan_wins => NAN,
            (true, _) => b,
            (_, true) => a,
        }
    };
    for (name, min) in [("min", true), ("max", false)] {
        for (ftz, nan, xor_sign) in (0..8).map(|n: u32| (n & 1 != 0, n & 2 != 0, n & 4 != 0)) {
            let mut text = name.to_owned();
            text += if ftz { ".ftz" } else { "" };
            text += if nan { ".NaN" } else { "" };
            text += if xor_sign { ".xorsign.abs" } else { "" };
            check(text + ".f32", &pairs(Type::F32, Type::F32), |r| {
                let [a, b] = [r[0], r[1]].map(|x| if ftz { flush(x) } else { x });
                if !xor_sign {
                    return select(min, nan, a, b);
                }
                let size = select(min, nan, a & 0x7fff_ffff, b & 0x7fff_ffff);
                if is_nan(size) {
                    NAN
                } else {
                    size | (a ^ b) & 0x8000_0000
                }
            });
        }
        check(format!("{name}.f64"), &pairs(Type::F64, Type::F64), |r| {
            let [a, b] = [r[0], r[1]];
            match (double(a).is_nan(), double(b).is_nan()) {
                (true, true) => b | 1 << 51,
                (true, false) => b,
                (false, true) => a,
                _ if (ordinal(a, 64) < ordinal(b, 64)) == min => a,
                _ => b,
            }
        });
    }
}
