//! Effects of a GPU's assembler that counters show: the lowering of atomics, the merging of adjacent stores,
//! and predication of branches. The expected figures were measured on an H200 (`scripts/held-out`, and small
//! kernels next to it).

use crate::harness::{Machine, kernel_of, module_of, total};
use crate::params;
use cuda_sim::isa::AccessClass::{self, GlobalAtomic, GlobalReduction, SharedAtomic, SharedLoad};
use cuda_sim::profile::{AccessCounts, Tally};

/// Returns the counts of a kernel with this body, run by one warp.
fn counted(ptx: &str) -> Tally {
    let mut machine = Machine::profiling(ptx);
    let out = machine.buffer(&[0u32; 4096]);
    total(&machine.run("k", 1, 32, params![out]))
}

/// Counts an atomic of one warp on global memory, `form` with `value`, where each lane's address is that of
/// element `index` of 4 or 8 bytes.
fn on_global(form: &str, index: &str, value: &str) -> Tally {
    let bytes = if form.contains("64") { 8 } else { 4 };
    counted(&kernel_of(&format!(
        "{index}
        mad.wide.u32 %d1, %r1, {bytes}, %out;
        cvt.u64.u32 %d2, %t;
        cvt.rn.f32.u32 %r2, %t;
        {form} [%d1], {value};"
    )))
}

/// Counts an atomic on shared memory. The kernel has no other shared accesses that would count for the atomic.
fn on_shared(form: &str, index: &str, value: &str) -> Tally {
    let bytes = if form.contains("64") { 8 } else { 4 };
    counted(&module_of(
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

const OWN: &str = "mov.u32 %r1, %t;";
const TWO: &str = "shr.u32 %r1, %t, 1;";
const FOUR_PLACES: &str = "and.b32 %r1, %t, 3;";
/// All lanes use one address, which the assembler cannot prove.
const ONE_PLACE: &str = "shr.u32 %r1, %t, 5;";
/// All lanes use one address, which the assembler can prove.
const SAME: &str = "mov.u32 %r1, %ctaid.x;";
const APART: &str = "shl.b32 %r1, %t, 3;";

#[track_caller]
fn assert_global(counts: Tally, class: AccessClass, requests: u64, sectors: u64, turns: u64) {
    let AccessCounts { .. } = counts[class];
    let found = counts[class];
    assert_eq!(
        (found.requests, found.sectors, found.turns),
        (requests, sectors, turns)
    );
    let other = match class {
        GlobalAtomic => GlobalReduction,
        _ => GlobalAtomic,
    };
    assert_eq!(counts[other], AccessCounts::default());
}

#[test]
fn on_global_memory_who_asks_for_the_old_value_is_counted_apart() {
    let red = "red.global.add.f32";
    for (form, class) in [
        (red, GlobalReduction),
        // The old value is never used.
        ("atom.global.add.f32 %r9,", GlobalReduction),
        (
            "st.global.u32 [%mine], %r9; atom.global.add.f32 %r9,",
            GlobalAtomic,
        ),
    ] {
        for (index, sectors, turns) in [
            (OWN, 4, 1),
            (TWO, 4, 2),
            (FOUR_PLACES, 8, 8),
            (ONE_PLACE, 32, 32),
            (APART, 32, 2),
        ] {
            assert_global(on_global(form, index, "%r2"), class, 1, sectors, turns);
        }
    }
    // An exchange, compare-and-swap or increment always needs the old value.
    for form in ["atom.global.exch.b32 %r9,", "atom.global.inc.u32 %r9,"] {
        assert_global(on_global(form, OWN, "%t"), GlobalAtomic, 1, 4, 1);
    }
    let swap = on_global("atom.global.cas.b32 %r9,", OWN, "%t, 5");
    assert_global(swap, GlobalAtomic, 1, 4, 2);
    assert_global(
        on_global("red.global.add.u64", APART, "%d2"),
        GlobalReduction,
        1,
        32,
        4,
    );
}

#[test]
fn lanes_put_their_values_together_where_all_are_seen_to_go_to_one_place() {
    let of = |form: &str, index: &str, value: &str| on_global(form, index, value)[GlobalReduction];
    for form in [
        "red.global.add.u32",
        "red.global.max.s32",
        "red.global.or.b32",
    ] {
        let [same, one] = [SAME, ONE_PLACE].map(|index| of(form, index, "%t"));
        assert_eq!((same.sectors, same.turns), (1, 1), "{form}");
        assert_eq!((one.sectors, one.turns), (32, 32), "{form}");
    }
    // Sums of 64 bits are combined only if the value is uniform, too; floating-point sums never are.
    assert_eq!(of("red.global.add.u64", SAME, "3").sectors, 1);
    assert_eq!(of("red.global.add.u64", SAME, "%d2").sectors, 32);
    assert_eq!(of("red.global.add.f32", SAME, "%r2").sectors, 32);
    // If the old value is used, only sums are combined: the old value then follows from the lane's position.
    let used = |operation: &str| {
        let form = format!("st.global.u32 [%mine], %r9; atom.global.{operation} %r9,");
        on_global(&form, SAME, "%t")[GlobalAtomic].sectors
    };
    assert_eq!((used("add.u32"), used("max.u32")), (1, 32));
}

#[track_caller]
fn assert_shared(counts: Tally, requests: u64, wavefronts: u64, conflicts: u64) {
    let found = counts[SharedAtomic];
    assert_eq!(
        (found.requests, found.wavefronts, found.conflicts),
        (requests, wavefronts, conflicts)
    );
}

#[test]
fn on_shared_memory_a_bank_serves_one_lane_at_a_time() {
    for (index, turns) in [(OWN, 1), (TWO, 2), (FOUR_PLACES, 8), (ONE_PLACE, 32)] {
        assert_shared(
            on_shared("red.shared.add.u32", index, "%t"),
            1,
            turns,
            turns - 1,
        );
        assert_shared(
            on_shared("red.shared.max.s32", index, "%t"),
            1,
            turns,
            turns - 1,
        );
        // Additions of a constant 1 are combined per word, for all lanes at once.
        assert_shared(on_shared("red.shared.add.u32", index, "1"), 1, 1, 0);
        let used = "st.global.u32 [%mine], %r9; atom.shared.add.u32 %r9,";
        assert_shared(on_shared(used, index, "1"), 1, turns, turns - 1);
        // A compare-and-swap sends two values.
        let swap = on_shared("atom.shared.cas.b32 %r9,", index, "0, %t");
        assert_shared(swap, 1, 2 * turns, turns - 1);
    }
    assert_shared(on_shared("red.shared.add.u32", SAME, "%t"), 1, 1, 0);
    let exchange = "atom.shared.exch.b64 %d9,";
    for (index, wavefronts, conflicts) in [(OWN, 2, 0), (TWO, 4, 2), (ONE_PLACE, 32, 30)] {
        assert_shared(on_shared(exchange, index, "%d2"), 1, wavefronts, conflicts);
        let swap = on_shared("atom.shared.cas.b64 %d9,", index, "0, %d2");
        assert_shared(swap, 1, 2 * wavefronts, conflicts);
    }
}

/// Returns the requests and wavefronts of the loop's loads, and the number of divergent branches.
fn looped(counts: Tally) -> (u64, u64, u64) {
    let loads = counts[SharedLoad];
    (loads.requests, loads.wavefronts, counts.divergent_branches)
}

#[test]
fn what_shared_memory_has_no_instruction_for_is_a_loop() {
    for (index, rounds) in [(OWN, 1), (TWO, 2), (FOUR_PLACES, 8), (ONE_PLACE, 32)] {
        let sum = on_shared("red.shared.add.f32", index, "%r2");
        assert_shared(sum, rounds, 2 * rounds, 0);
        assert_eq!(looped(sum), (rounds, rounds, rounds - 1));
    }
    for form in [
        "red.shared.add.u64",
        "red.shared.xor.b64",
        "red.shared.or.b64",
    ] {
        for (index, rounds, wavefronts, of_loads) in
            [(OWN, 1, 4, 2), (TWO, 2, 8, 2), (ONE_PLACE, 32, 96, 32)]
        {
            let counts = on_shared(form, index, "%d2");
            assert_shared(counts, rounds, wavefronts, 0);
            assert_eq!(looped(counts), (rounds, of_loads, rounds - 1), "{form}");
        }
    }
}

#[test]
fn a_minimum_of_64_bits_swaps_only_what_is_better() {
    let up = "red.shared.max.u64";
    // Lane 0 swaps first; then each next lane has a larger value.
    let rising = on_shared(up, ONE_PLACE, "%d2");
    // Lane 0's value does not exceed the initial zero, so it leaves the loop in the first iteration with lane
    // 1.
    assert_eq!(looped(rising).0, 31);
    assert_eq!(rising[SharedAtomic].requests, 31);
    let falling = on_shared(up, &format!("{ONE_PLACE} sub.u32 %t, 40, %t;"), "%d2");
    assert_shared(falling, 1, 4, 0);
    assert_eq!(looped(falling), (2, 2, 1));
    let none = on_shared("red.shared.min.u64", OWN, "%d2");
    assert_shared(none, 0, 0, 0);
    assert_eq!(looped(none), (1, 2, 0));
    let signed = on_shared("red.shared.min.s64", OWN, "-5");
    assert_shared(signed, 1, 4, 0);
}

#[test]
fn stores_side_by_side_become_one() {
    let stores = |body: &str| {
        let counts = counted(&module_of(".shared .align 16 .b8 s[4096];", body));
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
    assert_eq!(stores(&pair("", 4)), (1, 2));
    assert_eq!(
        stores(&pair("add.u32 %r5, %t, 1; ld.global.u32 %r6, [%mine];", 4)),
        (1, 2)
    );
    // A load or a barrier in between, a gap, or a first address that is not a multiple of 8 prevents merging.
    for apart in [
        pair("ld.shared.u32 %r6, [s+96];", 4),
        pair("bar.sync 0;", 4),
        pair("", 8),
    ] {
        assert_eq!(stores(&apart), (2, 4), "{apart}");
    }
    let odd = pair("", 4).replace("mov.u64 %d1, s;", "mov.u64 %d1, s+4;");
    assert_eq!(stores(&odd).0, 2);
}

#[test]
fn a_branch_that_becomes_a_predicate_parts_nobody() {
    let parted = |body: &str| counted(&kernel_of(body)).divergent_branches;
    let around = |work: &str| {
        format!(
            "setp.lt.u32 %p1, %t, 7;
        @%p1 bra past;
        {work}
    past:
        st.global.u32 [%mine+128], %t;"
        )
    };
    assert_eq!(parted(&around("st.global.u32 [%mine], %t;")), 0);
    assert_eq!(parted(&around(&"add.u32 %t, %t, 3; ".repeat(40))), 1);
    // Lanes that only exit need no branch.
    assert_eq!(
        parted("setp.lt.u32 %p1, %t, 7; @%p1 bra end; st.global.u32 [%mine], %t; end:"),
        0
    );
    let counted_loop = "mov.u32 %r1, 0;
    again:
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, %t;
        @%p1 bra again;
        st.global.u32 [%mine], %r1;";
    assert_eq!(parted(counted_loop), 30);
}
