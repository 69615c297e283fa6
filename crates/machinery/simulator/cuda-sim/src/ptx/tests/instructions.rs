//! Tests of instructions and operands.

use super::{body, flatten, instruction};
use crate::ptx::ast::{AddressBase, Guard, Immediate, Operand};

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
