//! Tests of approximate divisions and roots.

use super::float::{NAN, double, hard, modified, modified_if_raised, or_nan, raise_first, soft};
use super::harness::{check, pairs, singles};
use crate::ptx::ast::Type;

#[test]
fn approximate_division_loses_large_divisors() {
    for (flags, ftz) in [("", false), (".ftz", true)] {
        check(
            format!("div.approx{flags}.f32"),
            &pairs(Type::F32, Type::F32),
            |row| {
                modified_if_raised(row, ftz, false, raise_first, |r| {
                    let size = r[1] & 0x7fff_ffff;
                    let lost = (0x7e80_0001..0x7f80_0000).contains(&size);
                    let infinite = r[0] & 0x7fff_ffff >= 0x7f80_0000;
                    match (lost, infinite) {
                        (true, true) => NAN,
                        (true, false) => (r[0] ^ r[1]) & 0x8000_0000,
                        _ => hard((soft(r[0]) / soft(r[1])).value),
                    }
                })
            },
        );
    }
}

#[test]
fn reciprocal_roots_are_approximated() {
    for (flags, ftz) in [("", false), (".ftz", true)] {
        check(
            format!("rsqrt.approx{flags}.f32"),
            &singles(Type::F32),
            |row| {
                modified(row, ftz, false, |r| {
                    let a = f32::from_bits(r[0] as u32);
                    u64::from((f64::from(a).sqrt().recip() as f32).to_bits())
                })
            },
        );
    }
    check("rsqrt.approx.f64", &singles(Type::F64), |r| {
        or_nan(r, double(r[0]).sqrt().recip())
    });
    // These forms read and write only the upper 32 bits, and flush subnormals.
    let upper = |x: u64| {
        let x = x & !0xffff_ffff;
        if double(x).is_subnormal() {
            x & 1 << 63
        } else {
            x
        }
    };
    let upper_or_nan = |x: f64| {
        if x.is_nan() {
            0x7fff_ffff_0000_0000
        } else {
            upper(x.to_bits())
        }
    };
    check("rcp.approx.ftz.f64", &singles(Type::F64), |r| {
        upper_or_nan(double(upper(r[0])).recip())
    });
    check("rsqrt.approx.ftz.f64", &singles(Type::F64), |r| {
        upper_or_nan(double(upper(r[0])).sqrt().recip())
    });
}
