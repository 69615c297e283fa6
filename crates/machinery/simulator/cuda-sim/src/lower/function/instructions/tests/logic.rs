//! Tests of logic, shifts and permutations against loops over single bits.

use super::harness::{TestForm, check, edges, pairs, singles, triples};
use super::integer::{number, register};
use crate::exec::sm::test_support::random;
use crate::ptx::ast::Type;

#[test]
fn bitwise_operations_match() {
    for ty in [Type::Pred, Type::B16, Type::B32, Type::B64] {
        let width = if ty == Type::Pred { 1 } else { 8 * ty.bytes() };
        let bitwise = |f: &dyn Fn(bool, bool) -> bool, a: u64, b: u64| -> u64 {
            (0..width)
                .filter(|n| f(a >> n & 1 == 1, b >> n & 1 == 1))
                .map(|n| 1 << n)
                .sum()
        };
        let name = |form: &str| format!("{form}.{}", ty.modifier());
        check(name("and"), &pairs(ty, ty), |r| {
            bitwise(&|a, b| a && b, r[0], r[1])
        });
        check(name("or"), &pairs(ty, ty), |r| {
            bitwise(&|a, b| a || b, r[0], r[1])
        });
        check(name("xor"), &pairs(ty, ty), |r| {
            bitwise(&|a, b| a != b, r[0], r[1])
        });
        check(name("not"), &singles(ty), |r| bitwise(&|a, _| !a, r[0], 0));
        if ty != Type::Pred {
            check(name("cnot"), &singles(ty), |r| u64::from(r[0] == 0));
        }
    }
}

#[test]
fn lop3_computes_any_function_of_three_bits() {
    let rows = triples(Type::B32, Type::B32, Type::B32);
    for table in [0x00, 0x80, 0xfe, 0x96, 0xca, 0xe8, 0x1b, 0xff] {
        let written = TestForm {
            literal: table,
            ..TestForm::from("lop3.b32")
        };
        check(written, &rows, |row| {
            (0..32)
                .filter(|n| {
                    let [a, b, c] = [row[0], row[1], row[2]].map(|x| x >> n & 1);
                    table >> (a << 2 | b << 1 | c) & 1 == 1
                })
                .map(|n| 1 << n)
                .sum()
        });
    }
}

#[test]
fn shift_amounts_are_clamped() {
    let amounts = |ty| -> Vec<Vec<u64>> {
        let by = [
            0,
            1,
            15,
            16,
            17,
            31,
            32,
            33,
            63,
            64,
            65,
            1 << 20,
            u64::from(u32::MAX),
        ];
        edges(ty)
            .into_iter()
            .flat_map(|a| by.map(|by| vec![a, by]))
            .collect()
    };
    for ty in [Type::B16, Type::B32, Type::B64] {
        check(format!("shl.{}", ty.modifier()), &amounts(ty), |row| {
            if row[1] > 64 {
                0
            } else {
                register(i128::from(row[0]) << row[1], ty)
            }
        });
    }
    let right = [
        Type::B16,
        Type::B32,
        Type::B64,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::S16,
        Type::S32,
        Type::S64,
    ];
    for ty in right {
        check(format!("shr.{}", ty.modifier()), &amounts(ty), |row| {
            register(number(row[0], ty) >> row[1].min(100), ty)
        });
    }
}

#[test]
fn funnel_shifts_match() {
    let rows = triples(Type::B32, Type::B32, Type::U32);
    for (form, left, wrap) in [
        ("shf.l.clamp.b32", true, false),
        ("shf.l.wrap.b32", true, true),
        ("shf.r.clamp.b32", false, false),
        ("shf.r.wrap.b32", false, true),
    ] {
        check(form, &rows, |row| {
            let by = if wrap { row[2] % 32 } else { row[2].min(32) };
            // Selects bits from the 64 bits of [b, a].
            let start = if left { 32 - by } else { by };
            (0..32)
                .filter(|n| {
                    let position = n + start;
                    let word = if position < 32 { row[0] } else { row[1] };
                    position < 64 && word >> (position % 32) & 1 == 1
                })
                .map(|n| 1 << n)
                .sum()
        });
    }
}

#[test]
fn permutations_match() {
    let rows: Vec<Vec<u64>> = random(3000)
        .zip(random(6000).skip(3000))
        .zip(random(9000).skip(6000))
        .map(|((a, b), c)| [a, b, c].map(|x| x & 0xffff_ffff).to_vec())
        .collect();
    let bytes = |row: &[u64], picks: [u64; 4]| -> u64 {
        let all = [row[0].to_le_bytes(), row[1].to_le_bytes()];
        (0..4)
            .map(|n| {
                let pick = picks[n] as usize;
                let byte = all[pick / 4 % 2][pick % 4];
                let sign = if byte > 127 { 0xff } else { 0 };
                u64::from(if pick & 8 != 0 { sign } else { byte }) << (8 * n)
            })
            .sum()
    };
    check("prmt.b32", &rows, |row| {
        bytes(row, [0, 1, 2, 3].map(|n| row[2] >> (4 * n) & 15))
    });
    // The PTX ISA's table of the special modes, indexed by the low two bits of c, least significant byte first.
    let tables: [(&str, [[u64; 4]; 4]); 6] = [
        (
            "f4e",
            [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
        ),
        (
            "b4e",
            [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
        ),
        ("rc8", [[0; 4], [1; 4], [2; 4], [3; 4]]),
        (
            "ecl",
            [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
        ),
        (
            "ecr",
            [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
        ),
        (
            "rc16",
            [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
        ),
    ];
    for (mode, table) in tables {
        check(format!("prmt.b32.{mode}"), &rows, |row| {
            bytes(row, table[(row[2] & 3) as usize])
        });
    }
}
