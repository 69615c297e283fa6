//! Tests of function headers and of declarations in bodies.

use super::{body, module};
use crate::ptx::ast::{Function, StateSpace, Statement, Type};

fn function(text: &str) -> Function<'static> {
    module(text).functions.remove(0)
}

#[test]
fn kernel_parameters_are_parsed() {
    let parsed = function(
        ".visible .entry k(.param .u64 .ptr .global .align 4 a,
            .param .align 8 .b8 b[16], .param .u64 .ptr c, .param .f32 d) { ret; }",
    );
    assert!(parsed.entry);
    assert_eq!((parsed.name, parsed.line), ("k", 4));
    let params: Vec<_> = parsed
        .params
        .iter()
        .map(|p| (p.name, p.align, p.ty, p.dims.len()))
        .collect();
    let expected = [
        ("a", 8, Type::U64, 0),
        ("b", 8, Type::B8, 1),
        ("c", 8, Type::U64, 0),
        ("d", 4, Type::F32, 0),
    ];
    assert_eq!(params, expected);
    assert!(function(".entry k { ret; }").params.is_empty());
}

#[test]
fn function_results_are_parsed() {
    let parsed = function(".func (.reg .pred r, .param .b32 s) f (.reg .u32 a) { ret; }");
    assert!(!parsed.entry);
    let returns: Vec<_> = parsed
        .returns
        .iter()
        .map(|r| (r.name, r.ty, r.space))
        .collect();
    assert_eq!(
        returns,
        [
            ("r", Type::Pred, StateSpace::Param),
            ("s", Type::B32, StateSpace::Param)
        ]
    );
    assert_eq!(
        (parsed.params[0].name, parsed.params[0].space),
        ("a", StateSpace::Param)
    );
}

#[test]
fn declarations_have_no_body() {
    let parsed =
        function(".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b)\n;");
    assert_eq!(
        (parsed.body, parsed.params.len(), parsed.noreturn),
        (None, 2, false)
    );
    assert!(function(".extern .func stop() .noreturn;").noreturn);
    assert_eq!(function(".entry k;").body, None);
    assert_eq!(function(".entry k() {}").body, Some(vec![]));
}

#[test]
fn performance_directives_are_parsed() {
    let parsed = function(
        ".entry k() .maxntid 16, 8 .reqntid 32 .minnctapersm 2 .maxnctapersm 4 .maxnreg 64
            .reqnctapercluster 2, 1, 1 .maxclusterrank 8 .explicitcluster .blocksareclusters
            .abi_preserve 4 { }",
    );
    assert_eq!(parsed.max_threads, Some([16, 8, 1]));
    assert_eq!(parsed.required_threads, Some([32, 1, 1]));
    assert_eq!(
        (parsed.min_blocks_per_sm, parsed.max_registers),
        (Some(2), Some(64))
    );
    assert!(parsed.body.is_some());
}

#[test]
fn registers_are_parsed() {
    let parsed = body(".reg .b32 %r<10>, x; .reg .pred %p<4294967295>; .reg .f16x2 $y;");
    let register = |name, count, ty| Statement::Register {
        name,
        count,
        ty,
        vector: 1,
    };
    let expected = [
        register("%r", Some(10), Type::B32),
        register("x", None, Type::B32),
        register("%p", Some(u32::MAX), Type::Pred),
        register("$y", None, Type::F16x2),
    ];
    assert_eq!(parsed, expected);
}

#[test]
fn function_variables_are_parsed() {
    let parsed = body(".local .align 8 .b8 depot[32]; .shared .f32 a, b[4]; .param .b64 p;");
    let names: Vec<_> = parsed
        .iter()
        .map(|statement| match statement {
            Statement::Variable(variable) => (variable.name, variable.space),
            other => panic!("{other:?}"),
        })
        .collect();
    let (local, shared, param) = (StateSpace::Local, StateSpace::Shared, StateSpace::Param);
    assert_eq!(
        names,
        [("depot", local), ("a", shared), ("b", shared), ("p", param)]
    );
}

#[test]
fn scopes_and_labels_are_parsed() {
    let parsed = body("a: { $L__1: { } ret; } _b$2:");
    let [
        Statement::Label("a"),
        Statement::Block(inner),
        Statement::Label("_b$2"),
    ] = &parsed[..]
    else {
        panic!("{parsed:?}");
    };
    let expected = matches!(
        &inner[..],
        [Statement::Label("$L__1"), Statement::Block(none), Statement::Instruction(_)] if none.is_empty()
    );
    assert!(expected, "{inner:?}");
}

#[test]
fn up_to_64_scopes_may_nest() {
    // The function's body is the outermost scope.
    let nested = |count: usize| format!("{}{}", "{".repeat(count), "}".repeat(count));
    assert_eq!(body(&nested(63)).len(), 1);
    let message = super::refusal(&format!(".entry k() {}", nested(65)));
    assert_eq!(
        message,
        "line 4, column 76: cannot read `{`: nesting is limited to 64 levels"
    );
}

#[test]
fn target_lists_and_prototypes_are_parsed() {
    let parsed = body(
        "t: .branchtargets a, b; u: .calltargets f; p : .callprototype (.param .b32 _) _ (.param .b64 _);
         q: .callprototype _ () .noreturn .abi_preserve 3;",
    );
    assert_eq!(
        parsed[0],
        Statement::BranchTargets {
            name: "t",
            labels: vec!["a", "b"]
        }
    );
    assert_eq!(
        parsed[1],
        Statement::CallTargets {
            name: "u",
            functions: vec!["f"]
        }
    );
    let Statement::CallPrototype {
        name: "p",
        returns,
        params,
    } = &parsed[2]
    else {
        panic!("{parsed:?}");
    };
    assert_eq!((returns[0].ty, params[0].ty), (Type::B32, Type::B64));
    let none = Statement::CallPrototype {
        name: "q",
        returns: vec![],
        params: vec![],
    };
    assert_eq!(parsed[3], none);
}
