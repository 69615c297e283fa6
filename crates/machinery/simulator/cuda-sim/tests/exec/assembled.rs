//! Effects of a GPU's assembler that counters show: the lowering of atomics, the merging of adjacent stores,
//! and predication of branches. The expected figures were measured on an H200 (`scripts/held-out`, and small
//! kernels next to it).

use crate::harness::*;
use cuda_sim::isa::AccessClass::{self, GlobalAtomic, GlobalReduction, SharedAtomic, SharedLoad};
use cuda_sim::profile::{AccessCounts, Tally};

/// Returns the counts of a kernel with this body, run by one warp.
fn count_warp(ptx: &str) -> Tally {
    let mut machine = Machine::profiling(ptx);
    let out = machine.buffer(&[0u32; 4096]);
    total(&machine.run("k", 1, 32, params![out]))
}

/// Counts an atomic of one warp on global memory, `form` with `value`, where each lane's address is that of
/// element `index` of 4 or 8 bytes.
fn global_atomic(form: &str, index: &str, value: &str) -> Tally {
    let bytes = if form.contains("64") { 8 } else { 4 };
    count_warp(&kernel_of(&format!(
        "{index}
        mad.wide.u32 %d1, %r1, {bytes}, %out;
        cvt.u64.u32 %d2, %t;
        cvt.rn.f32.u32 %r2, %t;
        {form} [%d1], {value};"
    )))
}

/// Counts an atomic on shared memory. The kernel has no other shared accesses that would count for the atomic.
fn shared_atomic(form: &str, index: &str, value: &str) -> Tally {
    let bytes = if form.contains("64") { 8 } else { 4 };
    count_warp(&module_of(
        ".shared .align 8 .b8 s[2048];",
        &format!(
            "{index}
        mov.u32 %r3, s;
        mad.lo.u32 %r3, %r1, {bytes}, %r3;
        cvt.u64.u32 %d2, %t;
        cvt.rn.f32.u32 %r2, %t;
        {form} [%r3], {value};"
        ),
    ))
}

const DISTINCT: &str = "mov.u32 %r1, %t;";
const PAIRS: &str = "shr.u32 %r1, %t, 1;";
const FOUR_ADDRESSES: &str = "and.b32 %r1, %t, 3;";
/// All lanes use one address, which the assembler cannot prove.
const ONE_ADDRESS: &str = "shr.u32 %r1, %t, 5;";
/// All lanes use one address, which the assembler can prove.
const UNIFORM: &str = "mov.u32 %r1, %ctaid.x;";
/// The largest number of lanes at one address, for each of these.
const PASSES: [(&str, u64); 4] = [
    (DISTINCT, 1),
    (PAIRS, 2),
    (FOUR_ADDRESSES, 8),
    (ONE_ADDRESS, 32),
];
const STRIDED: &str = "shl.b32 %r1, %t, 3;";

#[track_caller]
fn assert_global(counts: Tally, class: AccessClass, requests: u64, sectors: u64, passes: u64) {
    let actual = counts[class];
    let actual = (actual.requests, actual.sectors, actual.output_wavefronts);
    assert_eq!(actual, (requests, sectors, passes));
    let other = match class {
        GlobalAtomic => GlobalReduction,
        _ => GlobalAtomic,
    };
    assert_eq!(counts[other], AccessCounts::default());
}

#[test]
fn global_atomics_and_reductions_are_counted_separately() {
    let old_value_used = "st.global.u32 [%mine], %r9; atom.global.add.f32 %r9,";
    for (form, class) in [
        ("red.global.add.f32", GlobalReduction),
        // The old value is never used.
        ("atom.global.add.f32 %r9,", GlobalReduction),
        (old_value_used, GlobalAtomic),
    ] {
        for (index, sectors, passes) in [
            (DISTINCT, 4, 1),
            (PAIRS, 4, 2),
            (FOUR_ADDRESSES, 8, 8),
            (ONE_ADDRESS, 32, 32),
            (STRIDED, 32, 2),
        ] {
            assert_global(global_atomic(form, index, "%r2"), class, 1, sectors, passes);
        }
    }
    // An exchange, compare-and-swap or increment always needs the old value.
    for form in ["atom.global.exch.b32 %r9,", "atom.global.inc.u32 %r9,"] {
        assert_global(global_atomic(form, DISTINCT, "%t"), GlobalAtomic, 1, 4, 1);
    }
    let swap = global_atomic("atom.global.cas.b32 %r9,", DISTINCT, "%t, 5");
    assert_global(swap, GlobalAtomic, 1, 4, 2);
    let wide = global_atomic("red.global.add.u64", STRIDED, "%d2");
    assert_global(wide, GlobalReduction, 1, 32, 4);
}

#[test]
fn reductions_to_a_provably_uniform_address_are_combined() {
    let reduction_counts =
        |form: &str, index: &str, value: &str| global_atomic(form, index, value)[GlobalReduction];
    for form in [
        "red.global.add.u32",
        "red.global.max.s32",
        "red.global.or.b32",
    ] {
        for (index, expected) in [(UNIFORM, 1), (ONE_ADDRESS, 32)] {
            let actual = reduction_counts(form, index, "%t");
            assert_eq!(actual.sectors, expected, "{form} {index}");
            assert_eq!(actual.output_wavefronts, expected, "{form} {index}");
        }
    }
    // Sums of 64 bits are combined only if the value is uniform, too; floating-point sums never are.
    for (form, value, sectors) in [
        ("red.global.add.u64", "3", 1),
        ("red.global.add.u64", "%d2", 32),
        ("red.global.add.f32", "%r2", 32),
    ] {
        let actual = reduction_counts(form, UNIFORM, value).sectors;
        assert_eq!(actual, sectors, "{form} {value}");
    }
    // If the old value is used, only sums are combined: the old value then follows from the lane's position.
    let used_old_value = |operation: &str| {
        let form = format!("st.global.u32 [%mine], %r9; atom.global.{operation} %r9,");
        global_atomic(&form, UNIFORM, "%t")[GlobalAtomic].sectors
    };
    assert_eq!(used_old_value("add.u32"), 1);
    assert_eq!(used_old_value("max.u32"), 32);
}

#[track_caller]
fn assert_shared(counts: Tally, requests: u64, wavefronts: u64, conflicts: u64) {
    let counts = counts[SharedAtomic];
    let actual = (counts.requests, counts.wavefronts, counts.conflicts);
    assert_eq!(actual, (requests, wavefronts, conflicts));
}

#[test]
fn shared_atomics_serialize_lanes_of_one_bank() {
    let used_old_value = "st.global.u32 [%mine], %r9; atom.shared.add.u32 %r9,";
    for (index, passes) in PASSES {
        for (form, value) in [
            ("red.shared.add.u32", "%t"),
            ("red.shared.max.s32", "%t"),
            (used_old_value, "1"),
        ] {
            assert_shared(shared_atomic(form, index, value), 1, passes, passes - 1);
        }
        // Additions of a constant 1 are combined per word, for all lanes at once.
        assert_shared(shared_atomic("red.shared.add.u32", index, "1"), 1, 1, 0);
        // A compare-and-swap sends two values.
        let swap = shared_atomic("atom.shared.cas.b32 %r9,", index, "0, %t");
        assert_shared(swap, 1, 2 * passes, passes - 1);
    }
    assert_shared(shared_atomic("red.shared.add.u32", UNIFORM, "%t"), 1, 1, 0);
    let exchange = "atom.shared.exch.b64 %d9,";
    for (index, wavefronts, conflicts) in [(DISTINCT, 2, 0), (PAIRS, 4, 2), (ONE_ADDRESS, 32, 30)] {
        let counts = shared_atomic(exchange, index, "%d2");
        assert_shared(counts, 1, wavefronts, conflicts);
        let swap = shared_atomic("atom.shared.cas.b64 %d9,", index, "0, %d2");
        assert_shared(swap, 1, 2 * wavefronts, conflicts);
    }
}

/// Returns the requests and wavefronts of the loop's loads, and the number of divergent branches.
fn loop_counts(counts: Tally) -> (u64, u64, u64) {
    let loads = counts[SharedLoad];
    (loads.requests, loads.wavefronts, counts.divergent_branches)
}

#[test]
fn unsupported_shared_atomics_become_loops() {
    for (index, rounds) in PASSES {
        let sum = shared_atomic("red.shared.add.f32", index, "%r2");
        assert_shared(sum, rounds, 2 * rounds, 0);
        assert_eq!(loop_counts(sum), (rounds, rounds, rounds - 1));
    }
    for form in [
        "red.shared.add.u64",
        "red.shared.xor.b64",
        "red.shared.or.b64",
    ] {
        for (index, rounds, wavefronts, of_loads) in [
            (DISTINCT, 1, 4, 2),
            (PAIRS, 2, 8, 2),
            (ONE_ADDRESS, 32, 96, 32),
        ] {
            let counts = shared_atomic(form, index, "%d2");
            assert_shared(counts, rounds, wavefronts, 0);
            let expected = (rounds, of_loads, rounds - 1);
            assert_eq!(loop_counts(counts), expected, "{form}");
        }
    }
}

#[test]
fn shared_64_bit_minimum_swaps_only_improvements() {
    let up = "red.shared.max.u64";
    // Lane 0 swaps first; then each next lane has a larger value.
    let rising = shared_atomic(up, ONE_ADDRESS, "%d2");
    // Lane 0's value does not exceed the initial zero, so it leaves the loop in the first iteration with lane
    // 1.
    assert_eq!(loop_counts(rising).0, 31);
    assert_eq!(rising[SharedAtomic].requests, 31);
    let falling = shared_atomic(up, &format!("{ONE_ADDRESS} sub.u32 %t, 40, %t;"), "%d2");
    assert_shared(falling, 1, 4, 0);
    assert_eq!(loop_counts(falling), (2, 2, 1));
    let no_swap = shared_atomic("red.shared.min.u64", DISTINCT, "%d2");
    assert_shared(no_swap, 0, 0, 0);
    assert_eq!(loop_counts(no_swap), (1, 2, 0));
    let signed = shared_atomic("red.shared.min.s64", DISTINCT, "-5");
    assert_shared(signed, 1, 4, 0);
}

#[test]
fn adjacent_shared_stores_are_merged() {
    let count_stores = |body: &str| {
        let counts = count_warp(&module_of(".shared .align 16 .b8 s[4096];", body));
        let stores = counts[AccessClass::SharedStore];
        (stores.requests, stores.wavefronts)
    };
    let pair = |between: &str, offset: u32| {
        format!(
            "mov.u64 %d1, s;
        mad.wide.u32 %d1, %t, 8, %d1;
        st.shared.u32 [%d1], %t;
        {between}
        st.shared.u32 [%d1+{offset}], %t;"
        )
    };
    assert_eq!(count_stores(&pair("", 4)), (1, 2));
    let other_space = pair("add.u32 %r5, %t, 1; ld.global.u32 %r6, [%mine];", 4);
    assert_eq!(count_stores(&other_space), (1, 2));
    // A load or a barrier in between, a gap, or a first address that is not a multiple of 8 prevents merging.
    for not_adjacent in [
        pair("ld.shared.u32 %r6, [s+96];", 4),
        pair("bar.sync 0;", 4),
        pair("", 8),
    ] {
        assert_eq!(count_stores(&not_adjacent), (2, 4), "{not_adjacent}");
    }
    let odd = pair("", 4).replace("mov.u64 %d1, s;", "mov.u64 %d1, s+4;");
    assert_eq!(count_stores(&odd).0, 2);
}

#[test]
fn predicated_branches_do_not_diverge() {
    let divergent_branches = |body: &str| count_warp(&kernel_of(body)).divergent_branches;
    let guarded_by_branch = |work: &str| {
        format!(
            "setp.lt.u32 %p1, %t, 7;
        @%p1 bra past;
        {work}
    past:
        st.global.u32 [%mine+128], %t;"
        )
    };
    let short = guarded_by_branch("st.global.u32 [%mine], %t;");
    assert_eq!(divergent_branches(&short), 0);
    let long = guarded_by_branch(&"add.u32 %t, %t, 3; ".repeat(40));
    assert_eq!(divergent_branches(&long), 1);
    // Lanes that only exit need no branch.
    let exits = "setp.lt.u32 %p1, %t, 7; @%p1 bra end; st.global.u32 [%mine], %t; end:";
    assert_eq!(divergent_branches(exits), 0);
    let counted_loop = "mov.u32 %r1, 0;
    again:
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, %t;
        @%p1 bra again;
        st.global.u32 [%mine], %r1;";
    assert_eq!(divergent_branches(counted_loop), 30);
}
