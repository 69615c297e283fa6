//! Video instructions, compared with results recorded on a GPU.

use crate::harness::*;

/// Returns the words that the kernel with this instruction stores for each thread's `a`, `b` and `c`.
fn results(instruction: &str, operands: &[[u32; 3]]) -> Vec<u32> {
    let table: Vec<String> = operands.iter().flatten().map(u32::to_string).collect();
    let before = format!(
        ".global .align 4 .u32 table[{}] = {{{}}};",
        table.len(),
        table.join(", ")
    );
    let body = format!(
        "mov.u64 %d1, table; mad.wide.u32 %d1, %t, 12, %d1;
        ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+4]; ld.global.u32 %r3, [%d1+8];
        mov.u32 %r4, 0;
        {instruction}
        st.global.u32 [%mine], %r4;"
    );
    words(&module_of(&before, &body), operands.len() as u32)
        .unwrap_or_else(|fault| panic!("{fault}: {instruction}"))
}

#[test]
fn results_equal_those_of_an_h200() {
    let text = include_str!("video-h200.txt");
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    for row in rows {
        let (instruction, lanes) = row.split_once(" => ").expect("a row has two columns");
        let lanes: Vec<[u32; 4]> = lanes
            .split("; ")
            .map(|lane| {
                let numbers: Vec<u32> = lane
                    .split(' ')
                    .map(|word| u32::from_str_radix(word, 16).expect("a hexadecimal number"))
                    .collect();
                numbers.try_into().expect("four numbers per thread")
            })
            .collect();
        let operands: Vec<[u32; 3]> = lanes.iter().map(|&[a, b, c, _]| [a, b, c]).collect();
        let expected: Vec<u32> = lanes.iter().map(|&[.., d]| d).collect();
        // Blocks of a partial warp, of one warp, and of a warp and one thread.
        for threads in [4, 32, 33] {
            let repeated: Vec<_> = operands.iter().copied().cycle().take(threads).collect();
            let expected: Vec<_> = expected.iter().copied().cycle().take(threads).collect();
            assert_eq!(results(instruction, &repeated), expected, "{instruction}");
        }
    }
}

#[test]
fn intermediate_results_are_exact() {
    let all = u32::MAX;
    for (instruction, operands, expected) in [
        ("vadd.u32.u32.u32.sat %r4, %r1, %r2;", [all, 9, 0], all),
        ("vsub.u32.u32.u32.sat %r4, %r1, %r2;", [3, 9, 0], 0),
        (
            "vshl.s32.s32.u32.sat.clamp %r4, %r1, %r2;",
            [5, 40, 0],
            i32::MAX as u32,
        ),
        ("vshr.s32.s32.u32.clamp %r4, %r1, %r2;", [all, 40, 0], all),
        (
            "vsub.s32.u32.u32.sat %r4.b1, %r1, %r2, %r3;",
            [3, 900, 0x1122_3344],
            0x1122_8044,
        ),
        (
            "vmad.s32.u32.u32.sat %r4, -%r1, %r2, %r3;",
            [all, all, 0],
            1 << 31,
        ),
        (
            "vmad.u32.u32.u32.po.shr15 %r4, %r1, %r2, %r3;",
            [1 << 20, 1 << 10, all],
            0x4_7fff + 0x8001 - 0x2_8000,
        ),
    ] {
        assert_eq!(
            results(instruction, &[operands]),
            [expected],
            "{instruction}"
        );
    }
}

#[test]
fn invalid_forms_are_rejected() {
    for (body, expected) in cases(
        r"
        vadd.u32.u32.u32.add %r4.b0, %r1, %r2, %r3; => a secondary operation cannot be combined
        vadd.s32.s32.s32 %r4, -%r1, %r2; => only `vmad` negates registers
        vadd.u32.u32.u32 %r4, %r1, %r2, %r3; => takes 3 operands
        vadd.u32.u32.u32 %r4, %r1.h10, %r2; => `.h10` is not a selector of this operand
        vadd.u32.u32.u64 %r4, %r1, %r2; => is not simulated
        vmad.s32.s32.s32 %r4, -%r1, %r2, -%r3; => only the product or the third source can be negated
        vmad.s32.s32.s32.po %r4, %r1, -%r2, %r3; => none with `.po`
        vset.u32.u32.eq.sat %r4, %r1, %r2; => is not simulated
        vshl.u32.u32.u32 %r4, %r1, %r2; => is not simulated
        vshl.u32.u32.s32.clamp %r4, %r1, %r2; => is not simulated
        vadd4.u32.u32.u32 %r4.b01, %r1, %r2, %r3; => `.b01` is not a selector of this operand
        vadd2.u32.u32.u32 %r4, %r1.h4, %r2, %r3; => expected
        vadd2.u32.u32.u32 %r4, %r1, %r2, %r3.h1; => `.h1` is not a selector of this operand
        add.u32 %r4, %r1.b0, %r2; => a part of a register cannot be a source here
        add.u32 %r4, -%r1, %r2; => a negated register cannot be a source here
    ",
    ) {
        assert_load_error(&kernel_of(body), expected);
    }
}
