//! Tests with files compiled by clang. Their sources and the commands are next to them in `tests/ptx`.

use super::flatten;
use crate::ptx::ast::{
    AddressBase, Function, Immediate, Initializer, Linkage, Module, Operand, SourceLocation,
    StateSpace, Statement, Type,
};
use crate::ptx::parse;

pub(super) const TABLES: &str = include_str!("../../../tests/ptx/tables.ptx");
pub(super) const CALLS: &str = include_str!("../../../tests/ptx/calls.ptx");
pub(super) const LANES: &str = include_str!("../../../tests/ptx/lanes.ptx");
pub(super) const DEBUG: &str = include_str!("../../../tests/ptx/lanes-debug.ptx");

fn function<'m>(module: &'m Module<'m>, name: &str) -> &'m Function<'m> {
    // clang declares some functions before it defines them.
    let mut functions = module.functions.iter();
    let found = functions.find(|function| function.body.is_some() && function.name == name);
    found.expect(name)
}

#[test]
fn tables_have_values_and_symbols() {
    let module = parse(TABLES).unwrap();
    assert_eq!(module.version, (6, 4));
    assert_eq!((module.target.sm, module.target.name), (52, "sm_52"));
    assert_eq!(module.files[0], (1, "./tables.cu".to_owned()));

    let variable = |name| {
        let mut variables = module.variables.iter();
        variables
            .find(|variable| variable.name == name)
            .expect(name)
    };
    let spheres = variable("spheres");
    assert_eq!(spheres.space, StateSpace::Const);
    assert_eq!(spheres.linkage, Linkage::Visible);
    assert_eq!((spheres.align, spheres.ty), (4, Type::B8));
    assert_eq!(spheres.dims, [40]);
    let bytes: Vec<u8> = spheres.init.iter().map(byte).collect();
    assert_eq!(bytes[4..8], (-2.0_f32).to_le_bytes());

    let links = variable("links");
    let inside = Initializer::Address {
        symbol: "coefficients",
        addend: 24,
        generic: true,
        mask: None,
    };
    assert_eq!(links.init[0], inside);
    let lowest = Initializer::Value(Immediate::Int(i64::MIN));
    assert_eq!(links.init[5], lowest);
    assert_eq!(variable("big").init, [lowest]);
    assert!(variable("empty").init.is_empty());

    let scratch = variable("scratch");
    assert_eq!(scratch.linkage, Linkage::Extern);
    assert_eq!(scratch.space, StateSpace::Shared);
    assert_eq!((scratch.align, &scratch.dims[..]), (16, &[0][..]));

    let gather = function(&module, "gather");
    assert_eq!(gather.max_threads, Some([256, 1, 1]));
    assert_eq!(gather.params[1].dims, [20]);
}

fn byte(value: &Initializer<'_>) -> u8 {
    match value {
        Initializer::Value(Immediate::Int(value)) => u8::try_from(*value).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_have_a_function_or_a_prototype() {
    let module = parse(CALLS).unwrap();
    let table = &module.variables[0];
    let twice = Initializer::Address {
        symbol: "_Z5twicei",
        addend: 0,
        generic: false,
        mask: None,
    };
    assert_eq!(table.init[0], twice);

    let swap = function(&module, "_Z4swap4Pair");
    assert!(!swap.entry);
    let result = &swap.returns[0];
    assert_eq!((result.align, &result.dims[..]), (8, &[16][..]));

    let calls = function(&module, "calls").body.as_deref().unwrap();
    let mut operands = flatten(calls);
    operands.retain(|instruction| instruction.mnemonic == "call");
    let operands = operands.iter();
    let operands = operands.map(|call| (call.modifiers.clone(), call.operands.len()));
    let operands: Vec<_> = operands.collect();
    assert!(operands.contains(&(vec!["uni"], 3)), "{operands:?}");
    assert!(operands.contains(&(vec![], 4)), "{operands:?}");
    let is_prototype = |item: &&Statement<'_>| matches!(item, Statement::CallPrototype { .. });
    let prototypes = |inner: &[Statement<'_>]| inner.iter().filter(is_prototype).count();
    let inner = calls.iter().map(|statement| match statement {
        Statement::Block(inner) => prototypes(inner),
        _ => 0,
    });
    assert_eq!(inner.sum::<usize>(), 1);
}

#[test]
fn instructions_keep_their_source_lines() {
    let module = parse(LANES).unwrap();
    let lanes = function(&module, "lanes").body.as_deref().unwrap();
    let mut all = flatten(lanes).into_iter();
    let load = all.find(|inst| inst.modifiers == ["global", "v4", "f32"]);
    let load = load.unwrap();
    assert!(matches!(&load.operands[0], Operand::Vector(lanes) if lanes.len() == 4));
    let (base, offset) = (AddressBase::Name("%rd9"), 0);
    assert_eq!(load.operands[1], Operand::Address { base, offset });
    let SourceLocation { file, line, column } = load.location.unwrap();
    assert_eq!((file, line, column), (1, 6, 12));
    let line = load.line;
    let text = LANES.lines().nth(line as usize - 1).unwrap();
    assert!(text.contains("ld.global.v4.f32"), "line {line} is {text}");
}

#[test]
fn debug_sections_are_ignored() {
    let module = parse(DEBUG).unwrap();
    assert!(DEBUG.contains(".section"));
    let body = function(&module, "lanes").body.as_ref().unwrap();
    assert!(body.len() > 50);
    assert_eq!(module.files.len(), 2);
}

#[test]
fn windows_line_endings_are_accepted() {
    for source in [TABLES, CALLS, LANES, DEBUG] {
        let windows = source.replace('\n', "\r\n");
        assert_eq!(parse(&windows).unwrap(), parse(source).unwrap());
    }
}
