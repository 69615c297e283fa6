//! Tests of variables and initializers.

use super::module;
use crate::ptx::ast::{Immediate, Initializer, StateSpace, Type, Variable};

fn variable(text: &str) -> Variable<'static> {
    let mut variables = module(text).variables;
    assert_eq!(variables.len(), 1, "{text}");
    variables.remove(0)
}

/// Returns the integers with which `= text` initializes an array.
fn values(dims: &str, text: &str) -> Vec<i64> {
    let variable = variable(&format!(".global .s64 x{dims} = {text};"));
    let value = |value| match value {
        Initializer::Value(Immediate::Int(value)) => value,
        other => panic!("{other:?}"),
    };
    variable.init.into_iter().map(value).collect()
}

#[test]
fn spaces_types_and_alignment_are_parsed() {
    let spaces = [
        ("const", StateSpace::Const),
        ("global", StateSpace::Global),
        ("local", StateSpace::Local),
        ("shared", StateSpace::Shared),
        ("shared::cta", StateSpace::Shared),
    ];
    for (name, space) in spaces {
        assert_eq!(variable(&format!(".{name} .u32 x;")).space, space);
    }
    let types = [
        ("b8", Type::B8, 1),
        ("u16", Type::U16, 2),
        ("s32", Type::S32, 4),
        ("f64", Type::F64, 8),
        ("b128", Type::B128, 16),
        ("f16", Type::F16, 2),
        ("f16x2", Type::F16x2, 4),
        ("bf16", Type::BF16, 2),
        ("bf16x2", Type::BF16x2, 4),
    ];
    for (name, ty, size) in types {
        let parsed = variable(&format!(".global .{name} x[3];"));
        assert_eq!((parsed.ty, parsed.align), (ty, size));
    }
    assert_eq!(variable(".global .align 32 .u8 x;").align, 32);
    let parsed = variable(".const .v4 .f32 x;");
    assert_eq!((parsed.vector, parsed.align), (4, 16));
    assert_eq!(variable(".const .v2 .align 4 .f32 x;").align, 4);
}

#[test]
fn one_declaration_may_define_several_variables() {
    let parsed = module(".global .u32 a, b[2] = {1, 2}, c;").variables;
    let names: Vec<_> = parsed
        .iter()
        .map(|item| (item.name, item.dims.len(), item.init.len()))
        .collect();
    assert_eq!(names, [("a", 0, 0), ("b", 1, 2), ("c", 0, 0)]);
}

#[test]
fn array_sizes_are_not_limited() {
    assert_eq!(
        variable(".global .b8 x[99999999999999];").dims,
        [99_999_999_999_999]
    );
    assert_eq!(
        variable(".global .b8 x[0xffffffffffffffff][2];").dims,
        [u64::MAX, 2]
    );
    assert_eq!(variable(".global .b8 x[2*(3+1)];").dims, [8]);
    assert_eq!(variable(".extern .shared .b8 x[];").dims, [0]);
}

#[test]
fn values_fill_rows_in_order() {
    assert_eq!(values("[4]", "{1, -2}"), [1, -2]);
    assert_eq!(values("[4]", "{}"), [0i64; 0]);
    assert_eq!(values("", "7"), [7]);
    assert_eq!(values("", "{7}"), [7]);
    assert_eq!(values("[2][3]", "{{1, 2, 3}, {4}}"), [1, 2, 3, 4]);
    assert_eq!(values("[2][3]", "{1, 2, 3, 4}"), [1, 2, 3, 4]);
    assert_eq!(values("[2][1][2]", "{{{1, 2}}, {{3, 4}}}"), [1, 2, 3, 4]);
    let parsed = variable(".global .v2 .u32 x[2] = {{1, 2}, {3, 4}};");
    assert_eq!(parsed.init.len(), 4);
}

#[test]
fn omitted_first_dimension_is_inferred() {
    assert_eq!(variable(".global .u32 x[] = {1, 2, 3};").dims, [3]);
    assert_eq!(
        variable(".global .u32 x[][2] = {{1, 2}, {3}};").dims,
        [2, 2]
    );
    assert_eq!(variable(".global .v2 .u32 x[] = {1, 2, 3};").dims, [2]);
}

#[test]
fn literals_are_parsed() {
    let text = "{0, 017, 0x1F, 0XfU, 0b101, 12U, 18446744073709551615, -9223372036854775808}";
    assert_eq!(values("[8]", text), [0, 15, 31, 15, 5, 12, -1, i64::MIN]);
    let parsed = variable(
        ".global .f64 x[9] = {0f3F800000, -0F3F800000, 0d3FF0000000000000, 1.5, -2.5e-1, 1E3, 5., 00.5, +3e+2};",
    );
    let double = |value: f64| Immediate::F64(value.to_bits());
    let expected = [
        Immediate::F32(1_f32.to_bits()),
        Immediate::F32((-1_f32).to_bits()),
        double(1.0),
        double(1.5),
        double(-0.25),
        double(1000.0),
        double(5.0),
        double(0.5),
        double(300.0),
    ];
    assert_eq!(parsed.init, expected.map(Initializer::Value));
}

#[test]
fn constant_expressions_are_evaluated() {
    let cases = [
        ("(1+2)*3", 9),
        ("1+2*3", 7),
        ("10-4-3", 3),
        ("-7/2", -3),
        ("-7 % 4", -3),
        ("1<<4|3", 19),
        ("6^5&4", 2),
        ("~0", -1),
        ("!5", 0),
        ("!0", 1),
        ("- -5", 5),
        ("-16>>2", -4),
        ("0xfffffffffffffff0>>60", 15),
        ("-1/2", 0),
        ("-1/2U", i64::MAX),
        ("-1 % 2U", 1),
        ("9223372036854775807+1", i64::MIN),
        ("(-9223372036854775807-1)/-1", i64::MIN),
    ];
    for (text, value) in cases {
        assert_eq!(values("", text), [value], "{text}");
    }
}

#[test]
fn addresses_of_symbols_are_parsed() {
    let parsed = variable(".global .u64 x[5] = {y, y+4, y-4, generic(y), generic(y)+8};");
    let address = |addend, generic| Initializer::Address {
        symbol: "y",
        addend,
        generic,
        mask: None,
    };
    let expected = [
        address(0, false),
        address(4, false),
        address(-4, false),
        address(0, true),
        address(8, true),
    ];
    assert_eq!(parsed.init, expected);
}
