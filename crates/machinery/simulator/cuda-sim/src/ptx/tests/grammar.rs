//! Tests of modules, variables, functions, and instructions with their operands.

use super::{HEAD, body, flatten, instruction, module};
use crate::ptx::ast::Linkage::*;
use crate::ptx::ast::Operand::{List, Pair, Sink, TextureCoordinates, Vector};
use crate::ptx::ast::StateSpace::*;
use crate::ptx::ast::Statement::{Block, BranchTargets, CallPrototype, CallTargets, Label};
use crate::ptx::ast::Type::*;
use crate::ptx::ast::{
    AddressBase, Function, Guard, Immediate, Initializer, Operand, Statement, Target, Variable,
};
use crate::ptx::parse;

#[test]
fn module_headers_are_parsed() {
    let parsed = parse(".version 8.0 .target sm_90a, texmode_independent, debug").unwrap();
    assert_eq!(parsed.version, (8, 0));
    let target = |sm, name| Target { sm, name };
    assert_eq!(parsed.target, target(90, "sm_90a"));
    let parsed = parse(".version 8.8\n.target sm_100f\n.address_size 64").unwrap();
    assert_eq!(parsed.target, target(100, "sm_100f"));
}

#[test]
fn trailing_zero_bytes_are_ignored() {
    assert_eq!(parse(&format!("{HEAD}\0\0")).unwrap(), module(""));
}

#[test]
fn comments_are_allowed_anywhere() {
    let text = "/* é { \" */ .global // é \" {\n.u32 /**/ x /* // */ ; // the end";
    assert_eq!(module(text).variables[0].name, "x");
}

#[test]
fn files_have_an_index_and_a_path() {
    let text = r#".file 1 "a b/k.cu" .file 2 "h.cuh", 1700000000, 99"#;
    let files = [(1, "a b/k.cu".into()), (2, "h.cuh".into())];
    assert_eq!(module(text).files, files);
    // Escaped as by LLVM's assembly writer.
    let text = r#".file 7 "C:\\k \"1\"\303\251.cu""#;
    assert_eq!(module(text).files, [(7, "C:\\k \"1\"é.cu".into())]);
    assert_eq!(module(r#".file 3 """#).files, [(3, String::new())]);
}

#[test]
fn sections_are_skipped_to_their_closing_brace() {
    let text = ".section .debug_info\n{\n.b8 1 // a }\n.b32 a-b { .b64 $L } \n}\n\
                .section .debug_str { s: .b8 97,0 }\n.global .u32 x;";
    let parsed = module(text);
    assert_eq!(parsed.variables.len(), 1);
    assert_eq!(parsed.variables[0].line, 10);
}

#[test]
fn linkage_applies_to_the_next_declaration() {
    let parsed = module(
        ".visible .global .u32 a; .extern .const .u32 b; .weak .global .u32 c;
         .common .global .u32 d; .global .u32 e;
         .visible .entry f() {} .extern .func g; .weak .func h() {} .func i() {}",
    );
    let variables = parsed.variables.iter().map(|variable| variable.linkage);
    assert!(variables.eq([Visible, Extern, Weak, Common, Internal]));
    let functions = parsed.functions.iter().map(|function| function.linkage);
    assert!(functions.eq([Visible, Extern, Weak, Internal]));
}

#[test]
fn pragmas_are_skipped() {
    let text = r#".pragma "a", "b"; .entry k() .pragma "c"; { .pragma "nounroll"; ret; }"#;
    let body = module(text).functions.remove(0).body;
    assert_eq!(body.map(|body| body.len()), Some(1));
}

#[test]
fn inlined_code_has_its_own_location() {
    let text = ".loc 2 66 3, function_name $L__info_string0, inlined_at 1 14 9 ret;";
    let inlined = instruction(text).location.unwrap();
    assert_eq!((inlined.file, inlined.line, inlined.column), (2, 66, 3));
    let text = ".loc 2 67 4, function_name info_string0+50, inlined_at 1 14 9 ret;";
    assert_eq!(instruction(text).location.unwrap().line, 67);
}

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
        ("const", Const),
        ("global", Global),
        ("local", Local),
        ("shared", Shared),
        ("shared::cta", Shared),
    ];
    for (name, space) in spaces {
        assert_eq!(variable(&format!(".{name} .u32 x;")).space, space);
    }
    let types = [
        ("b8", B8, 1),
        ("u16", U16, 2),
        ("s32", S32, 4),
        ("f64", F64, 8),
        ("b128", B128, 16),
        ("f16", F16, 2),
        ("f16x2", F16x2, 4),
        ("bf16", BF16, 2),
        ("bf16x2", BF16x2, 4),
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
    let parsed = parsed.iter();
    let names = parsed.map(|item| (item.name, item.dims.len(), item.init.len()));
    assert!(names.eq([("a", 0, 0), ("b", 1, 2), ("c", 0, 0)]));
}

#[test]
fn array_sizes_are_not_limited() {
    for (declaration, dims) in [
        (".global .b8 x[99999999999999];", &[99_999_999_999_999][..]),
        (".global .b8 x[0xffffffffffffffff][2];", &[u64::MAX, 2]),
        (".global .b8 x[2*(3+1)];", &[8]),
        (".extern .shared .b8 x[];", &[0]),
    ] {
        assert_eq!(variable(declaration).dims, dims, "{declaration}");
    }
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
    let rows = variable(".global .u32 x[][2] = {{1, 2}, {3}};");
    assert_eq!(rows.dims, [2, 2]);
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
    let params = parsed.params.iter();
    let params = params.map(|p| (p.name, p.align, p.ty, p.dims.len()));
    let expected = [
        ("a", 8, U64, 0),
        ("b", 8, B8, 1),
        ("c", 8, U64, 0),
        ("d", 4, F32, 0),
    ];
    assert!(params.eq(expected), "{:?}", parsed.params);
    assert!(function(".entry k { ret; }").params.is_empty());
}

#[test]
fn function_results_are_parsed() {
    let parsed = function(".func (.reg .pred r, .param .b32 s) f (.reg .u32 a) { ret; }");
    assert!(!parsed.entry);
    let returns = parsed.returns.iter().map(|r| (r.name, r.ty, r.space));
    assert!(returns.eq([("r", Pred, Param), ("s", B32, Param)]));
    let param = &parsed.params[0];
    assert_eq!((param.name, param.space), ("a", Param));
}

#[test]
fn declarations_have_no_body() {
    let parsed =
        function(".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b)\n;");
    assert_eq!((parsed.body, parsed.params.len()), (None, 2));
    assert!(!parsed.noreturn);
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
    assert_eq!(parsed.min_blocks_per_sm, Some(2));
    assert_eq!(parsed.max_registers, Some(64));
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
        register("%r", Some(10), B32),
        register("x", None, B32),
        register("%p", Some(u32::MAX), Pred),
        register("$y", None, F16x2),
    ];
    assert_eq!(parsed, expected);
}

#[test]
fn function_variables_are_parsed() {
    let parsed = body(".local .align 8 .b8 depot[32]; .shared .f32 a, b[4]; .param .b64 p;");
    let names = parsed.iter().map(|statement| match statement {
        Statement::Variable(variable) => (variable.name, variable.space),
        other => panic!("{other:?}"),
    });
    assert!(names.eq([("depot", Local), ("a", Shared), ("b", Shared), ("p", Param)]));
}

#[test]
fn scopes_and_labels_are_parsed() {
    let parsed = body("a: { $L__1: { } ret; } _b$2:");
    let [Label("a"), Block(inner), Label("_b$2")] = &parsed[..] else {
        panic!("{parsed:?}");
    };
    let [Label("$L__1"), Block(none), Statement::Instruction(_)] = &inner[..] else {
        panic!("{inner:?}");
    };
    assert!(none.is_empty());
}

#[test]
fn up_to_64_scopes_may_nest() {
    // The function's body is the outermost scope.
    let nested = |count: usize| format!("{}{}", "{".repeat(count), "}".repeat(count));
    assert_eq!(body(&nested(63)).len(), 1);
    let message = super::refusal(&format!(".entry k() {}", nested(65)));
    let expected = "line 4, column 76: cannot read `{`: nesting is limited to 64 levels";
    assert_eq!(message, expected);
}

#[test]
fn target_lists_and_prototypes_are_parsed() {
    let parsed = body(
        "t: .branchtargets a, b; u: .calltargets f; p : .callprototype (.param .b32 _) _ (.param .b64 _);
         q: .callprototype _ () .noreturn .abi_preserve 3;",
    );
    let (name, labels) = ("t", vec!["a", "b"]);
    assert_eq!(parsed[0], BranchTargets { name, labels });
    let (name, functions) = ("u", vec!["f"]);
    assert_eq!(parsed[1], CallTargets { name, functions });
    let prototype = |statement: &Statement<'static>| match statement {
        CallPrototype {
            name,
            returns,
            params,
        } => {
            let types = |variables: &[Variable]| variables.iter().map(|v| v.ty).collect::<Vec<_>>();
            (*name, types(returns), types(params))
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(prototype(&parsed[2]), ("p", vec![B32], vec![B64]));
    assert_eq!(prototype(&parsed[3]), ("q", vec![], vec![]));
}

fn name(name: &'static str) -> Operand<'static> {
    Operand::Name { name, offset: 0 }
}

fn int(value: i64) -> Operand<'static> {
    Operand::Immediate(Immediate::Int(value))
}

fn operands(text: &str) -> Vec<Operand<'static>> {
    instruction(&format!("op {text};")).operands
}

#[test]
fn guards_mnemonics_and_modifiers_are_parsed() {
    let parsed = instruction("@!%p1 ld.global.L1::evict_last.v2.f32 {%f1, %f2}, [%rd1+8];");
    let guard = |register, negated| Some(Guard { register, negated });
    assert_eq!(parsed.guard, guard("%p1", true));
    assert_eq!(parsed.mnemonic, "ld");
    assert_eq!(parsed.modifiers, ["global", "L1::evict_last", "v2", "f32"]);
    assert_eq!(instruction("@p bra L;").guard, guard("p", false));
    let parsed = instruction("ret;");
    assert_eq!(parsed.guard, None);
    assert_eq!((parsed.modifiers.len(), parsed.operands.len()), (0, 0));
    let parsed = instruction("st.shared::cta.b32 [a], 5;");
    assert_eq!(parsed.modifiers, ["shared::cta", "b32"]);
}

#[test]
fn names() {
    for text in ["%tid.x, %r1, $L__BB0_1, _x", "%clock64, WARP_SZ"] {
        let names: Vec<_> = text.split(", ").map(name).collect();
        assert_eq!(operands(text), names);
    }
    let (name, offset) = ("table", 4);
    assert_eq!(operands("table+4"), [Operand::Name { name, offset }]);
    assert_eq!(operands("_, !%p1"), [Sink, Operand::Not("%p1")]);
}

#[test]
fn immediates_are_parsed() {
    let one = Operand::Immediate(Immediate::F32(0x3F80_0000));
    let parsed = operands("-5, 0xFFFF, 0f3F800000, (1+2)*3");
    assert_eq!(parsed, [int(-5), int(0xFFFF), one, int(9)]);
    let half = Operand::Immediate(Immediate::F64(0.5_f64.to_bits()));
    assert_eq!(operands("0d3FE0000000000000, 0.5"), [half.clone(), half]);
}

#[test]
fn addresses_are_parsed() {
    let (a, rd1) = (AddressBase::Name("a"), AddressBase::Name("%rd1"));
    for (text, base, offset) in [
        ("[a]", a, 0),
        ("[%rd1+8]", rd1, 8),
        ("[%rd1 + 0x10]", rd1, 16),
        ("[a+-8]", a, -8),
        ("[a-8]", a, -8),
        ("[a+4*2-1]", a, 7),
        ("[16]", AddressBase::Absolute, 16),
    ] {
        let address = Operand::Address { base, offset };
        assert_eq!(operands(text), [address], "{text}");
    }
}

#[test]
fn texture_coordinates_are_parsed() {
    for (text, coordinates) in [
        ("[%rd1, {%f1, 5}]", vec![name("%f1"), int(5)]),
        ("[%rd1, %f1]", vec![name("%f1")]),
    ] {
        let image = "%rd1";
        let expected = TextureCoordinates { image, coordinates };
        assert_eq!(operands(text), [expected], "{text}");
    }
}

#[test]
fn vectors_and_pairs_are_parsed() {
    let vector = Vector(vec![name("%r1"), Sink, int(5)]);
    assert_eq!(operands("{%r1, _, 5}"), [vector]);
    assert_eq!(operands("%p1|%p2, a"), [Pair("%p1", "%p2"), name("a")]);
    let pairs = [Pair("%p1", "_"), Pair("_", "%p2")];
    assert_eq!(operands("%p1|_, _|%p2"), pairs);
}

#[test]
fn calls() {
    let list = |names: &[&'static str]| List(names.iter().map(|&text| name(text)).collect());
    for (text, operands) in [
        (
            "call.uni (ret), f, (a, b);",
            vec![list(&["ret"]), name("f"), list(&["a", "b"])],
        ),
        (
            "call (ret), %rd1, (a), prototype_0;",
            vec![
                list(&["ret"]),
                name("%rd1"),
                list(&["a"]),
                name("prototype_0"),
            ],
        ),
        ("call.uni f;", vec![name("f")]),
        ("call f, ();", vec![name("f"), list(&[])]),
        (
            "call f, (-5, (1+1));",
            vec![name("f"), List(vec![int(-5), int(2)])],
        ),
    ] {
        assert_eq!(instruction(text).operands, operands, "{text}");
    }
}

#[test]
fn ptx_and_source_lines_are_recorded() {
    let statements = body("nop;\n/* \n */ nop; .loc 1 7 3\n{ nop; .loc 2 8 4\n}\n@p\nnop;");
    let lines = flatten(&statements).into_iter().map(|inst| {
        let location = inst.location;
        (inst.line, location.map(|at| (at.file, at.line, at.column)))
    });
    let expected = [
        (4, None),
        (6, None),
        (7, Some((1, 7, 3))),
        (10, Some((2, 8, 4))),
    ];
    assert!(lines.eq(expected));
}
