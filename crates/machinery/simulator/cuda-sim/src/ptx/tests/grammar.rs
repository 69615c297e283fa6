//! Tests of modules, variables, functions, and instructions with their operands.

use super::{HEAD, body, flatten, instruction, module};
use crate::ptx::ast::{
    AddressBase, Function, Guard, Immediate, Initializer, Linkage, Operand, StateSpace, Statement,
    Target, Type, Variable,
};
use crate::ptx::parse;

#[test]
fn module_headers_are_parsed() {
    let parsed = parse(".version 8.0 .target sm_90a, texmode_independent, debug").unwrap();
    assert_eq!(parsed.version, (8, 0));
    assert_eq!(
        parsed.target,
        Target {
            sm: 90,
            name: "sm_90a"
        }
    );
    let parsed = parse(".version 8.8\n.target sm_100f\n.address_size 64").unwrap();
    assert_eq!(
        parsed.target,
        Target {
            sm: 100,
            name: "sm_100f"
        }
    );
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
    assert_eq!(
        module(text).files,
        [(1, "a b/k.cu".into()), (2, "h.cuh".into())]
    );
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
    let linkages: Vec<_> = parsed
        .variables
        .iter()
        .map(|variable| variable.linkage)
        .collect();
    let all = [
        Linkage::Visible,
        Linkage::Extern,
        Linkage::Weak,
        Linkage::Common,
    ];
    assert_eq!(linkages, [&all[..], &[Linkage::Internal]].concat());
    let linkages: Vec<_> = parsed
        .functions
        .iter()
        .map(|function| function.linkage)
        .collect();
    assert_eq!(linkages, [&all[..3], &[Linkage::Internal]].concat());
}

#[test]
fn pragmas_are_skipped() {
    let text = r#".pragma "a", "b"; .entry k() .pragma "c"; { .pragma "nounroll"; ret; }"#;
    assert_eq!(
        module(text).functions[0].body.as_ref().map(Vec::len),
        Some(1)
    );
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
    assert_eq!(
        parsed.guard,
        Some(Guard {
            register: "%p1",
            negated: true
        })
    );
    assert_eq!(parsed.mnemonic, "ld");
    assert_eq!(parsed.modifiers, ["global", "L1::evict_last", "v2", "f32"]);
    assert_eq!(
        instruction("@p bra L;").guard,
        Some(Guard {
            register: "p",
            negated: false
        })
    );
    let parsed = instruction("ret;");
    assert_eq!(
        (parsed.guard, parsed.modifiers.len(), parsed.operands.len()),
        (None, 0, 0)
    );
    assert_eq!(
        instruction("st.shared::cta.b32 [a], 5;").modifiers,
        ["shared::cta", "b32"]
    );
}

#[test]
fn names() {
    assert_eq!(
        operands("%tid.x, %r1, $L__BB0_1, _x"),
        ["%tid.x", "%r1", "$L__BB0_1", "_x"].map(name)
    );
    assert_eq!(
        operands("%clock64, WARP_SZ"),
        ["%clock64", "WARP_SZ"].map(name)
    );
    assert_eq!(
        operands("table+4"),
        [Operand::Name {
            name: "table",
            offset: 4
        }]
    );
    assert_eq!(operands("_, !%p1"), [Operand::Sink, Operand::Not("%p1")]);
}

#[test]
fn immediates_are_parsed() {
    let one = Operand::Immediate(Immediate::F32(0x3F80_0000));
    assert_eq!(
        operands("-5, 0xFFFF, 0f3F800000, (1+2)*3"),
        [int(-5), int(0xFFFF), one, int(9)]
    );
    let half = Operand::Immediate(Immediate::F64(0.5_f64.to_bits()));
    assert_eq!(operands("0d3FE0000000000000, 0.5"), [half.clone(), half]);
}

#[test]
fn addresses_are_parsed() {
    let cases = [
        ("[a]", AddressBase::Name("a"), 0),
        ("[%rd1+8]", AddressBase::Name("%rd1"), 8),
        ("[%rd1 + 0x10]", AddressBase::Name("%rd1"), 16),
        ("[a+-8]", AddressBase::Name("a"), -8),
        ("[a-8]", AddressBase::Name("a"), -8),
        ("[a+4*2-1]", AddressBase::Name("a"), 7),
        ("[16]", AddressBase::Absolute, 16),
    ];
    for (text, base, offset) in cases {
        assert_eq!(
            operands(text),
            [Operand::Address { base, offset }],
            "{text}"
        );
    }
}

#[test]
fn texture_coordinates_are_parsed() {
    for (text, coordinates) in [
        ("[%rd1, {%f1, 5}]", vec![name("%f1"), int(5)]),
        ("[%rd1, %f1]", vec![name("%f1")]),
    ] {
        let image = "%rd1";
        assert_eq!(
            operands(text),
            [Operand::TextureCoordinates { image, coordinates }],
            "{text}"
        );
    }
}

#[test]
fn vectors_and_pairs_are_parsed() {
    assert_eq!(
        operands("{%r1, _, 5}"),
        [Operand::Vector(vec![name("%r1"), Operand::Sink, int(5)])]
    );
    assert_eq!(
        operands("%p1|%p2, a"),
        [Operand::Pair("%p1", "%p2"), name("a")]
    );
    assert_eq!(
        operands("%p1|_, _|%p2"),
        [Operand::Pair("%p1", "_"), Operand::Pair("_", "%p2")]
    );
}

#[test]
fn calls() {
    let list =
        |names: &[&'static str]| Operand::List(names.iter().map(|&text| name(text)).collect());
    let parsed = instruction("call.uni (ret), f, (a, b);");
    assert_eq!(
        parsed.operands,
        [list(&["ret"]), name("f"), list(&["a", "b"])]
    );
    let parsed = instruction("call (ret), %rd1, (a), prototype_0;");
    assert_eq!(
        parsed.operands,
        [
            list(&["ret"]),
            name("%rd1"),
            list(&["a"]),
            name("prototype_0")
        ]
    );
    assert_eq!(instruction("call.uni f;").operands, [name("f")]);
    assert_eq!(instruction("call f, ();").operands, [name("f"), list(&[])]);
    assert_eq!(
        instruction("call f, (-5, (1+1));").operands[1],
        Operand::List(vec![int(-5), int(2)])
    );
}

#[test]
fn ptx_and_source_lines_are_recorded() {
    let statements = body("nop;\n/* \n */ nop; .loc 1 7 3\n{ nop; .loc 2 8 4\n}\n@p\nnop;");
    let lines: Vec<_> = flatten(&statements)
        .iter()
        .map(|inst| {
            (
                inst.line,
                inst.location
                    .map(|location| (location.file, location.line, location.column)),
            )
        })
        .collect();
    let expected = [
        (4, None),
        (6, None),
        (7, Some((1, 7, 3))),
        (10, Some((2, 8, 4))),
    ];
    assert_eq!(lines, expected);
}
