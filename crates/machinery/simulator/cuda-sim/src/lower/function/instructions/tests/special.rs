//! Tests of the special functions: the PTX ISA's tables of special values, and accuracy elsewhere.

use super::harness::{run, singles};
use crate::ptx::ast::Type::F32;

const INF: f32 = f32::INFINITY;
const NAN: u32 = 0x7fff_ffff;

#[test]
fn special_values_match_the_ptx_isa() {
    let nan = f32::from_bits(NAN);
    let subnormal = f32::from_bits(0x0040_0000);
    let table: [(&str, &[(f32, f32)]); 9] = [
        (
            "sin.approx.f32",
            &[
                (INF, nan),
                (-INF, nan),
                (0.0, 0.0),
                (-0.0, -0.0),
                (f32::NAN, nan),
            ],
        ),
        (
            "cos.approx.f32",
            &[
                (INF, nan),
                (-INF, nan),
                (0.0, 1.0),
                (-0.0, 1.0),
                (f32::NAN, nan),
            ],
        ),
        (
            "ex2.approx.f32",
            &[
                (-INF, 0.0),
                (INF, INF),
                (0.0, 1.0),
                (-0.0, 1.0),
                (3.0, 8.0),
                (-150.5, 0.0),
                (128.0, INF),
            ],
        ),
        (
            "ex2.approx.ftz.f32",
            &[(-127.0, 0.0), (-subnormal, 1.0), (f32::NAN, nan)],
        ),
        (
            "lg2.approx.f32",
            &[
                (0.0, -INF),
                (-0.0, -INF),
                (INF, INF),
                (-1.0, nan),
                (-INF, nan),
                (8.0, 3.0),
                (subnormal, -127.0),
            ],
        ),
        (
            "lg2.approx.ftz.f32",
            &[(subnormal, -INF), (-subnormal, -INF), (f32::NAN, nan)],
        ),
        (
            "tanh.approx.f32",
            &[
                (INF, 1.0),
                (-INF, -1.0),
                (0.0, 0.0),
                (-0.0, -0.0),
                (f32::NAN, nan),
            ],
        ),
        (
            "rsqrt.approx.f32",
            &[
                (0.0, INF),
                (-0.0, -INF),
                (INF, 0.0),
                (-1.0, nan),
                (-INF, nan),
            ],
        ),
        (
            "sqrt.approx.f32",
            &[(-0.0, -0.0), (INF, INF), (-1.0, nan), (-INF, nan)],
        ),
    ];
    for (form, values) in table {
        let rows: Vec<Vec<u64>> = values
            .iter()
            .map(|(a, _)| vec![a.to_bits().into()])
            .collect();
        for ((a, expected), row_result) in values.iter().zip(run(form, &rows)) {
            assert_eq!(row_result, [u64::from(expected.to_bits())], "{form} of {a}");
        }
    }
}

#[test]
fn results_are_within_one_ulp() {
    type Function = fn(f64) -> f64;
    let functions: [(&str, Function); 5] = [
        ("sin.approx.f32", f64::sin),
        ("cos.approx.f32", f64::cos),
        ("ex2.approx.f32", |x| (x * std::f64::consts::LN_2).exp()),
        ("lg2.approx.f32", |x| x.ln() / std::f64::consts::LN_2),
        ("tanh.approx.f32", |x| 1.0 - 2.0 / ((2.0 * x).exp() + 1.0)),
    ];
    let rows: Vec<Vec<u64>> = (1..2000)
        .map(|n| vec![u64::from((n as f32 * 0.013 - 9.0).to_bits())])
        .collect();
    for (form, exact) in functions {
        for (row, row_result) in rows.iter().zip(run(form, &rows)) {
            let (a, actual) = (
                f32::from_bits(row[0] as u32),
                f32::from_bits(row_result[0] as u32),
            );
            let exact = exact(f64::from(a));
            if exact.is_nan() {
                assert!(actual.is_nan(), "{form} of {a} is {actual}");
                continue;
            }
            let ulp = f64::from((actual.abs().next_up() - actual.abs()).max(f32::MIN_POSITIVE));
            assert!(
                (f64::from(actual) - exact).abs() <= ulp + 1e-15,
                "{form} of {a} is {actual}"
            );
        }
    }
}

#[test]
fn nan_results_are_canonical() {
    for form in [
        "sin.approx.ftz.f32",
        "cos.approx.ftz.f32",
        "tanh.approx.f32",
        "lg2.approx.f32",
    ] {
        for row_result in run(form, &singles(F32)) {
            let value = f32::from_bits(row_result[0] as u32);
            assert!(
                !value.is_nan() || row_result[0] == u64::from(NAN),
                "{form}: {row_result:x?}"
            );
        }
    }
}
