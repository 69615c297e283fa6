//! Array elements as operands, and `.extern` arrays in shared memory.

use crate::harness::*;

/// Runs `body` on one thread and returns the word that it leaves in `%r1`.
fn run_word(before: &str, body: &str) -> u32 {
    let ptx = module_of(before, &format!("{body} st.global.u32 [%mine], %r1;"));
    words(&ptx, 1).unwrap_or_else(|fault| panic!("{body}: {fault}"))[0]
}

#[test]
fn array_element_is_address_for_mov_and_memory_otherwise() {
    let tables = ".global .u32 g[4] = {1, 2, 3, 4}; .const .u16 c[3] = {5, 6, 7};
        .global .v2 .b32 pairs[2] = {1, 2, 3, 4};";
    for (body, expected) in [
        ("ld.global.u32 %r1, g[2];", 3),
        ("ld.global.u32 %r1, g[1+2];", 4),
        ("ld.const.u16 %r1, c[2];", 7),
        ("ld.global.u32 %r1, pairs[1];", 3),
        ("mov.u64 %d1, g[1]; ld.global.u32 %r1, [%d1];", 2),
        ("mov.u64 %d1, g[0]; ld.global.u32 %r1, [%d1+4];", 2),
        ("st.global.u32 g[3], 9; ld.global.u32 %r1, [g+12];", 9),
        (
            "atom.global.add.u32 %r2, g[0], 4; ld.global.u32 %r1, g[0];",
            5,
        ),
        ("cvta.global.u64 %d1, g[3]; ld.u32 %r1, [%d1];", 4),
        (
            "{ .shared .f64 g[4]; mov.u32 %r1, g[3]; mov.u32 %r2, g; sub.u32 %r1, %r1, %r2; }",
            24,
        ),
        (
            "{ .local .b8 l[8]; st.local.u8 l[5], 3; ld.local.u8 %r1, [l+5]; }",
            3,
        ),
    ] {
        assert_eq!(run_word(tables, body), expected, "{body}");
    }
}

#[test]
fn invalid_array_indices_are_rejected() {
    let before = ".global .u32 one; .global .u32 square[2][2]; .global .u32 row[2];";
    for (body, expected) in cases(
        r"
        ld.global.u32 %r1, one[0]; => not a one-dimensional array
        ld.global.u32 %r1, square[0]; => not a one-dimensional array
        ld.global.u32 %r1, none[0]; => not a one-dimensional array
        ld.global.u32 %r1, %r2[0]; => not a one-dimensional array
        ld.global.u32 %r1, row[%h2]; => a register of 32 or 64 bits is required
        ld.global.u32 %r1, row[[%r2]]; => an array index is a constant, a register, or a register plus a constant
        ld.global.u32 %r1, square[0f00000000]; => an array index must be an integer
        ld.global.u32 %r1, square[0 => `]`
    ",
    ) {
        assert_load_error(&module_of(before, body), expected);
    }
}

/// An `.extern` array with a size is laid out with the kernel's variables; one without a size follows them.
#[test]
fn extern_array_with_size_is_laid_out_with_variables() {
    let before = ".extern .shared .align 16 .b8 a[512]; .shared .align 16 .b8 b[16];
        .extern .shared .align 16 .b8 rest[];";
    let distance = "mov.u32 %r1, a; mov.u32 %r2, b; sub.s32 %r1, %r2, %r1; abs.s32 %r1, %r1;";
    assert!(run_word(before, distance) >= 16);
    let rest_offset = "mov.u32 %r1, a; mov.u32 %r1, b; mov.u32 %r1, rest;";
    assert_eq!(run_word(before, rest_offset), 528);
}
