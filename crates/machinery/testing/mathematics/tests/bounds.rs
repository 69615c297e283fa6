//! The errors of the device mathematics are within their documented bounds.

use mathematics::errors::{self, Row, parse_table};
use mathematics::exact;
use mathematics::functions::{Bound, Device, FUNCTIONS, Range};

/// The number of points at which each float function is measured.
const POINTS: usize = 8_000;

#[test]
fn all_functions_are_within_their_bounds() {
    let table = parse_table(errors::VALUES).expect("the table");
    let rows = errors::measure_all(&table, POINTS).expect("measured");
    print!("{}", errors::markdown(&rows));
    let violations: Vec<String> = rows.iter().flat_map(Row::violations).collect();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    for row in &rows {
        assert!(row.double.is_some(), "{} is in no table", row.function.name);
        assert!(row.single.count > 100, "{}", row.function.name);
    }
}

#[test]
fn exact_functions_match_rust() {
    let mut floats = Device::single().expect("loaded");
    let mut doubles = Device::double().expect("loaded");
    let (wrong, compared) = exact::measure(&mut floats, &mut doubles, 2_000).expect("measured");
    assert!(wrong.is_empty(), "{:#?}", &wrong[..wrong.len().min(10)]);
    assert!(compared > 100_000);
}

#[test]
fn a_small_error_is_detected() {
    // A reference value changed by four units in the last place.
    let table = parse_table(errors::VALUES).expect("the table");
    let mut changed = parse_table(errors::VALUES).expect("the table");
    let sine = changed.get_mut("sin").expect("sin");
    let last = sine.values.last_mut().expect("values");
    *last = f64::from_bits(last.to_bits() + 4);
    let mut device = Device::double().expect("loaded");
    let function = FUNCTIONS.iter().find(|function| function.name == "sin");
    let function = function.expect("sin");
    let measured = errors::measure_double(&mut device, &table, function).expect("runs");
    assert!(measured.expect("known").is_within(Bound::Ulps(2)));
    let measured = errors::measure_double(&mut device, &changed, function).expect("runs");
    assert!(!measured.expect("known").is_within(Bound::Ulps(2)));
}

#[test]
fn a_missing_kernel_is_reported() {
    let mut device = Device::double().expect("loaded");
    let error = device.evaluate("absent", &[1.0f64], 1).expect_err("none");
    assert_eq!(error.to_string(), "kernel not found: of_absent");
    let error = device.evaluate("pow", &[1.0f64], 2).expect_err("one");
    assert_eq!(error.to_string(), "of_pow takes 2 arguments");
}

#[test]
fn an_invalid_table_is_reported_with_its_line() {
    for (table, message) in [
        (
            "0000000000000000 0000000000000000\n",
            "a value before the name of a function",
        ),
        ("sin 1\n0000000000000000\n", "wrong number of values"),
        ("sin 1\n0000000000000000 zz\n", "0000000000000000 zz"),
    ] {
        let error = parse_table(table).expect_err(table).to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn points_include_special_numbers_and_all_magnitudes() {
    let arguments = errors::float_arguments(1000, 1);
    assert!(arguments.iter().any(|x| x.is_nan()));
    assert!(arguments.iter().any(|x| x.is_subnormal()));
    assert!(arguments.contains(&f32::NEG_INFINITY));
    assert!(arguments.iter().filter(|x| x.abs() > 1e30).count() > 50);
    assert!(arguments.iter().filter(|x| x.abs() < 1.0).count() > 400);
    for arity in 2..=4 {
        assert_eq!(errors::float_arguments(1000, arity).len() % arity, 0);
    }
    let orders = errors::order_arguments(300);
    assert!(orders.chunks(2).any(|pair| pair[0] == 128.0));
    assert!(
        orders
            .chunks(2)
            .all(|pair| pair[0] >= 2.0 && pair[0] == pair[0].trunc())
    );
}

#[test]
fn ranges_match_their_documentation() {
    assert!(Range::Near.contains(&[-7.9]) && !Range::Near.contains(&[8.0]));
    assert!(Range::Far.contains(&[8.0]) && !Range::Far.contains(&[f64::NAN]));
    assert!(Range::WithoutZeros.contains(&[-2.0]) && !Range::WithoutZeros.contains(&[-2.5]));
    assert!(Range::Order.contains(&[2.0, 4.0]) && !Range::Order.contains(&[4.0, 2.0]));
}
