//! Tests of each rule, and comparisons with the code that NVIDIA's assembler generates for the chapters'
//! kernels.

use crate::device::DeviceSpec;
use crate::memory::global::Global;

/// Returns the non-empty predicated blocks, each with the block that issues it.
fn pairs(text: &str) -> Vec<(usize, usize)> {
    let mut global = Global::new(1 << 20);
    let program =
        crate::lower::load(text, &DeviceSpec::h200(), &mut global).expect("the module loads");
    let blocks = program.listing.blocks.iter().enumerate();
    blocks
        .filter(|(_, info)| info.ptx_instructions > 0)
        .filter_map(|(block, info)| Some((block, info.issued_by?)))
        .collect()
}

/// Returns the predicated blocks of a kernel whose block 0 is the code before the first label or branch of
/// `body`.
fn predicated(body: &str) -> Vec<(usize, usize)> {
    pairs(&format!(
        ".version 6.4\n.target sm_52\n.address_size 64\n\
         .global .align 16 .b8 data[512];\n\
         .func helper() {{ ret; }}\n\
         .entry kernel(.param .u32 count) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>;\n\
         mov.u64 %rd1, data; setp.eq.u64 %p1, %rd1, 0;\n\
         {body}\nst.global.u32 [%rd1], %r1; ret; }}"
    ))
    .into_iter()
    // The three blocks of the helper function come first.
    .map(|(block, by)| (block - 3, by - 3))
    .collect()
}

/// Returns the predicated blocks of a branch around `inside`, which is block 1.
fn around(inside: &str) -> Vec<(usize, usize)> {
    predicated(&format!("@%p1 bra after; {inside} after:"))
}

#[test]
fn short_blocks_are_predicated() {
    assert_eq!(around("add.u32 %r1, %r1, 1;"), [(1, 0)]);
    assert_eq!(
        around("ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+4], %r1;"),
        [(1, 0)]
    );
    assert_eq!(around("@%p2 add.u32 %r1, %r1, 1;"), [(1, 0)]);
    assert_eq!(around("add.u32 %r1, %r1, 1; bra.uni after;"), [(1, 0)]);
    // A jump splits the block in two, both issued with the branch.
    assert_eq!(
        around("add.u32 %r1, %r1, 1; bra.uni on; on: add.u32 %r1, %r1, 2;"),
        [(1, 0), (3, 0)]
    );
}

#[test]
fn both_sides_of_a_branch_are_predicated() {
    let sides = "@%p1 bra other; add.u32 %r1, %r1, 1; bra.uni after; \
                 other: add.u32 %r1, %r1, 2; after:";
    assert_eq!(predicated(sides)[..2], [(1, 0), (3, 0)]);
}

#[test]
fn long_blocks_are_branched_around() {
    let long = |count| "add.u32 %r1, %r1, 1;".repeat(count);
    assert_eq!(around(&long(17)), [(1, 0)]);
    assert_eq!(around(&long(18)), []);
    let sides = format!(
        "@%p1 bra other; {} bra.uni after; other: add.u32 %r1, %r1, 2; after:",
        long(18)
    );
    assert_eq!(predicated(&sides), []);
}

#[test]
fn blocks_that_cannot_be_predicated_are_branched_around() {
    for inside in [
        "bar.sync 0;",
        "call helper;",
        "membar.gl;",
        "red.global.add.u32 [%rd1], 1;",
        "sqrt.rn.f32 %f1, %f1;",
        "div.rn.f32 %f1, %f1, %f2;",
        "exit;",
        "@%p2 bra after; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1; bar.sync 0;",
        "again: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 9; @%p2 bra again;",
    ] {
        assert_eq!(around(inside), [], "{inside}");
    }
}

#[test]
fn blocks_with_several_predecessors_are_not_predicated() {
    let entered = "@%p2 bra inside; @%p1 bra after; inside: add.u32 %r1, %r1, 1; after:";
    assert_eq!(predicated(entered), []);
}

#[test]
fn exit_only_sides_are_not_predicated() {
    let text = ".version 6.4\n.target sm_52\n.address_size 64\n\
                .entry kernel() { .reg .pred %p<2>; .reg .b32 %r<2>;\n\
                @%p1 bra end; add.u32 %r1, %r1, 1; line: end: ret; }";
    assert_eq!(pairs(text), []);
}

/// Returns the blocks that issue a predicated load while loads of another block are in flight, with that block.
fn overlaps(inside: &str, middle: &str) -> Vec<(usize, usize)> {
    let text = format!(
        ".version 6.4\n.target sm_52\n.address_size 64\n.entry kernel(.param .u64 p) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n\
         .local .b32 array[4]; ld.param.u64 %rd1, [p]; setp.eq.u64 %p1, %rd1, 0;\n\
         @%p1 bra one; ld.global.u32 %r1, [%rd1]; {inside}\n\
         one: {middle} setp.eq.u64 %p2, %rd1, 8;\n\
         @%p2 bra two; ld.global.u32 %r2, [%rd1+4];\n\
         two: add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret; }}"
    );
    let mut global = Global::new(1 << 20);
    let program =
        crate::lower::load(&text, &DeviceSpec::h200(), &mut global).expect("the module loads");
    let blocks = program.listing.blocks.iter().enumerate();
    blocks
        .filter_map(|(block, info)| Some((block, info.overlaps?)))
        .collect()
}

#[test]
fn loads_overlap_until_a_value_is_used() {
    assert_eq!(overlaps("", ""), [(2, 1)]);
    assert_eq!(overlaps("", "add.u32 %r3, %r3, 1;"), [(2, 1)]);
    // The assembler delays a store to local memory, but not one that later loads could read.
    assert_eq!(overlaps("", "st.local.u32 [array], %r1;"), [(2, 1)]);
    assert_eq!(overlaps("", "st.global.u32 [%rd1+8], %r1;"), []);
    assert_eq!(overlaps("st.global.u32 [%rd1+8], %r1;", ""), []);
    assert_eq!(overlaps("", "add.u32 %r3, %r1, 1;"), []);
    assert_eq!(overlaps("", "bar.sync 0;"), []);
}

#[test]
fn loads_at_the_end_of_a_loop_are_branched_around() {
    let loop_with = |inside: &str, rest: &str| {
        predicated(&format!(
            "again: setp.eq.u32 %p1, %r1, 5; @%p1 bra after; {inside} after: {rest}\
             add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 9; @%p2 bra again;"
        ))
    };
    assert_eq!(loop_with("add.u32 %r2, %r2, 1;", ""), [(2, 1)]);
    assert_eq!(loop_with("ld.global.u32 %r2, [%rd1];", ""), []);
    // With more work after the load, the block is predicated.
    let more = "setp.eq.u32 %p3, %r1, 7; @%p3 bra more; bar.sync 0; more:";
    assert_eq!(loop_with("ld.global.u32 %r2, [%rd1];", more), [(2, 1)]);
}

/// The expected predicated blocks are those in the machine code that ptxas 13.0 generates for sm_90.
#[test]
fn predicated_blocks_of_the_chapters_match_ptxas() {
    // Three in raytrace_global, and five in each of the others, one per sphere.
    let raytrace = pairs(include_str!(
        "../../../../../../../../kernels/ptx/raytrace-const.ptx"
    ));
    assert_eq!(raytrace.len(), 3 + 5 + 5, "{raytrace:?}");
    // The halo of each of the three kernels; two of them also have code on the other side.
    let stencil = pairs(include_str!(
        "../../../../../../../../kernels/ptx/stencil-readonly.ptx"
    ));
    let branches: std::collections::BTreeSet<_> = stencil.iter().map(|&(_, by)| by).collect();
    assert_eq!(branches.len(), 3, "{stencil:?}");
    let symbols = pairs(include_str!(
        "../../../../../../../../kernels/ptx/device-symbols.ptx"
    ));
    assert_eq!(symbols.len(), 1, "{symbols:?}");
    for none in [
        include_str!("../../../../../../../../kernels/ptx/matmul-pitched.ptx"),
        include_str!("../../../../../../../../kernels/ptx/vector-add.ptx"),
    ] {
        assert_eq!(pairs(none), []);
    }
}
