//! No function of the device mathematics is farther off than documented.

use mathematics::double::{self, known};
use mathematics::exact;
use mathematics::functions::{Bound, FUNCTIONS, Range};
use mathematics::machine::Machine;
use mathematics::points;
use mathematics::report::{self, Row};

/// At how many points each function of floats is measured.
const POINTS: usize = 8_000;

#[test]
fn all_functions_keep_their_bounds() {
    let table = known(double::VALUES).expect("the table");
    let rows = report::all(&table, POINTS).expect("measured");
    print!("{}", report::markdown(&rows));
    let complaints: Vec<String> = rows.iter().flat_map(Row::complaints).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    for row in &rows {
        assert!(row.double.is_some(), "{} is in no table", row.function.name);
        assert!(row.single.count > 100, "{}", row.function.name);
    }
}

#[test]
fn what_is_exact_is_what_rust_gives() {
    let mut floats = Machine::single().expect("loaded");
    let mut doubles = Machine::double().expect("loaded");
    let (wrong, compared) = exact::measure(&mut floats, &mut doubles, 2_000).expect("measured");
    assert!(wrong.is_empty(), "{:#?}", &wrong[..wrong.len().min(10)]);
    assert!(compared > 100_000);
}

#[test]
fn a_function_that_is_a_little_off_is_found() {
    // The cosine where the sine should be, and a value of the table changed in its last digit but two.
    let table = known(double::VALUES).expect("the table");
    let mut changed = known(double::VALUES).expect("the table");
    let sine = changed.get_mut("sin").expect("sin");
    let last = sine.values.last_mut().expect("values");
    *last = f64::from_bits(last.to_bits() + 4);
    let mut machine = Machine::double().expect("loaded");
    let function = FUNCTIONS.iter().find(|function| function.name == "sin");
    let function = function.expect("sin");
    let measured = double::measure(&mut machine, &table, function).expect("runs");
    assert!(measured.expect("known").keeps(Bound::Ulps(2)));
    let measured = double::measure(&mut machine, &changed, function).expect("runs");
    assert!(!measured.expect("known").keeps(Bound::Ulps(2)));
}

#[test]
fn a_kernel_that_is_not_there_is_named() {
    let mut machine = Machine::double().expect("loaded");
    let why = machine.evaluate("absent", &[1.0f64], 1).expect_err("none");
    assert_eq!(why.to_string(), "there is no kernel of_absent");
    let why = machine.evaluate("pow", &[1.0f64], 2).expect_err("one");
    assert_eq!(why.to_string(), "of_pow: 2 each");
}

#[test]
fn a_table_that_is_none_says_which_line() {
    for (table, said) in [
        (
            "0000000000000000 0000000000000000\n",
            "a value before the name of a function",
        ),
        ("sin 1\n0000000000000000\n", "not so many numbers"),
        ("sin 1\n0000000000000000 zz\n", "0000000000000000 zz"),
    ] {
        let why = known(table).expect_err(table).to_string();
        assert!(why.contains(said), "{why}");
    }
}

#[test]
fn special_numbers_and_those_of_all_sizes_are_among_the_points() {
    let one = points::of_floats(1000, 1);
    assert!(one.iter().any(|x| x.is_nan()));
    assert!(one.iter().any(|x| x.is_subnormal()));
    assert!(one.contains(&f32::NEG_INFINITY));
    assert!(one.iter().filter(|x| x.abs() > 1e30).count() > 50);
    assert!(one.iter().filter(|x| x.abs() < 1.0).count() > 400);
    for arity in 2..=4 {
        assert_eq!(points::of_floats(1000, arity).len() % arity, 0);
    }
    let orders = points::of_orders(300);
    assert!(orders.chunks(2).any(|pair| pair[0] == 128.0));
    assert!(
        orders
            .chunks(2)
            .all(|pair| pair[0] >= 2.0 && pair[0] == pair[0].trunc())
    );
}

#[test]
fn bounds_hold_where_they_are_documented() {
    assert!(Range::Near.contains(&[-7.9]) && !Range::Near.contains(&[8.0]));
    assert!(Range::Far.contains(&[8.0]) && !Range::Far.contains(&[f64::NAN]));
    assert!(Range::WithoutZeros.contains(&[-2.0]) && !Range::WithoutZeros.contains(&[-2.5]));
    assert!(Range::Order.contains(&[2.0, 4.0]) && !Range::Order.contains(&[4.0, 2.0]));
}
