//! Gangs must give the results, counters, cache hits and faults of warps that run one by one.
//!
//! A kernel that reads the clock runs warp by warp, because the order of its warps is observable. Each kernel
//! here therefore runs twice: unchanged, and with a read of the clock. The first block, whose warps always
//! run one by one, does nothing.

use crate::harness::*;
use cuda_sim::exec::Fault;
use cuda_sim::launch::LaunchReport;
use cuda_sim::profile::{Counters, Tally};

/// Words of input after the output, more than an L1 cache holds.
const INPUT: u32 = 1 << 17;
/// Words of output, one per thread.
const OUTPUT: u32 = 1024;

const CONSTANTS: &str = ".const .align 4 .u32 table[4096];";

/// Threads per block: a partial warp, warps of one gang and of several, with and without a partial
/// last warp.
const BLOCKS: [u32; 8] = [1, 20, 64, 96, 250, 256, 700, 1024];

/// The outcome of a kernel: its output and its counts, or a fault.
#[derive(Debug, PartialEq)]
enum Outcome {
    Success(Vec<u32>, Box<(Counters, Tally)>),
    Fault(String),
}

/// Runs `body`, in which `%d9` is the input's address, after a read of the special register.
fn outcome(body: &str, special: &str, profile: bool, block: u32, threads: usize) -> Outcome {
    let before = format!(
        "mov.u32 %r31, %ctaid.x; setp.eq.u32 %p15, %r31, 0; @%p15 ret;
    mov.u32 %r31, {special}; add.s64 %d9, %out, {};",
        OUTPUT * 4
    );
    let ptx = module_of(CONSTANTS, &format!("{before} {body}"));
    let mut machine = match profile {
        true => Machine::profiling(&ptx),
        false => Machine::new(&ptx),
    };
    machine.use_threads(threads);
    let mut words = vec![u32::MAX; OUTPUT as usize];
    words.extend(noise(INPUT as usize));
    let out = machine.buffer(&words);
    match machine.launch(&Launch::new("k", 3, block, params![out])) {
        Ok(report) => Outcome::Success(
            machine.read(out, OUTPUT as usize),
            Box::new((
                report.counts.counters(&machine.program.listing),
                tally(&report),
            )),
        ),
        Err(fault) => Outcome::Fault(describe(&fault)),
    }
}

fn tally(report: &LaunchReport) -> Tally {
    let profile = record(report).profile.as_ref();
    profile.map_or_else(Tally::default, |profile| profile.total)
}

/// Formats a fault with its location.
fn describe(fault: &Fault) -> String {
    format!("{:?} at {:?}", fault.kind, fault.location)
}

/// Runs a kernel as gangs and warp by warp, with every block size, with and without profiling, on one thread
/// and on two, and asserts that the outcomes are equal. Returns the outcome with the largest blocks.
fn assert_same_outcome(body: &str) -> Outcome {
    let mut last_outcome = None;
    for block in BLOCKS {
        for profile in [false, true] {
            for threads in [1, 2] {
                let warp_outcome = outcome(body, "%clock", profile, block, threads);
                let gang_outcome = outcome(body, "%tid.x", profile, block, threads);
                assert_eq!(
                    gang_outcome, warp_outcome,
                    "{block} threads a block, on {threads}, counted: {profile}\n{body}"
                );
                last_outcome = Some(gang_outcome);
            }
        }
    }
    last_outcome.expect("no launch")
}

/// Runs [`assert_same_outcome`] on a kernel that must succeed and write something.
fn assert_succeeds(body: &str) {
    match assert_same_outcome(body) {
        Outcome::Success(words, _) => assert!(words.iter().any(|&word| word != u32::MAX)),
        Outcome::Fault(fault) => panic!("{fault}\n{body}"),
    }
}

/// Each warp reads a part of the input of its own and a common part, for longer than a time slice. The
/// contents of the L1 cache then depend on the order of the slices.
#[test]
fn cache_accesses_follow_slice_order() {
    for (own_step, common_step) in [(128, 4), (1024, 128), (4, 4096), (40, 36)] {
        assert_succeeds(&format!(
            "shr.u32 %r1, %t, 5; mul.wide.u32 %d1, %r1, 8192; add.s64 %d1, %d1, %d9;
    and.b32 %r2, %t, 31; mul.wide.u32 %d2, %r2, 4; add.s64 %d1, %d1, %d2;
    mov.u64 %d3, %d9; mov.u32 %r3, 0; mov.u32 %r4, 0;
LOOP:
    ld.global.u32 %r5, [%d1]; ld.global.u32 %r6, [%d3+64]; ld.global.u32 %r7, [%d1+4];
    add.u32 %r4, %r4, %r5; xor.b32 %r4, %r4, %r6; add.u32 %r4, %r4, %r7;
    add.s64 %d1, %d1, {own_step}; add.s64 %d3, %d3, {common_step};
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 60; @%p1 bra LOOP;
    st.global.u32 [%mine], %r4;"
        ));
    }
}

#[test]
fn divergence_and_reconvergence_match() {
    // Odd lanes, some warps, and varying lanes; each path has its own length.
    for condition in [
        "and.b32 %r1, %t, 1;",
        "and.b32 %r1, %t, 64;",
        "and.b32 %r1, %r3, 7;",
    ] {
        assert_succeeds(&format!(
            "mov.u32 %r3, 0; mov.u32 %r4, %t; mov.u64 %d3, %d9;
LOOP:
    {condition}
    setp.ne.u32 %p1, %r1, 0; @%p1 bra ODD;
    ld.global.u32 %r5, [%d3]; add.u32 %r4, %r4, %r5; bra.uni MEET;
ODD:
    mul.wide.u32 %d1, %t, 4; add.s64 %d1, %d1, %d3; ld.global.u32 %r5, [%d1];
    xor.b32 %r4, %r4, %r5; add.u32 %r4, %r4, 7; shl.b32 %r6, %r4, 3; add.u32 %r4, %r4, %r6;
MEET:
    add.s64 %d3, %d3, 132; add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, 90; @%p2 bra LOOP;
    st.global.u32 [%mine], %r4;"
        ));
    }
}

#[test]
fn loops_of_different_lengths_match() {
    for trips in ["and.b32 %r1, %t, 63;", "shr.u32 %r1, %t, 3;"] {
        assert_succeeds(&format!(
            "{trips} mov.u32 %r4, 0; mov.u64 %d3, %d9;
    mul.wide.u32 %d1, %t, 4;
LOOP:
    add.s64 %d2, %d3, %d1; ld.global.u32 %r5, [%d2]; add.u32 %r4, %r4, %r5; add.s64 %d3, %d3, 64;
    setp.eq.u32 %p1, %r1, 0; sub.u32 %r1, %r1, 1; @!%p1 bra LOOP;
    ld.global.u32 %r5, [%d9+256]; add.u32 %r4, %r4, %r5;
    st.global.u32 [%mine], %r4;"
        ));
    }
}

#[test]
fn early_exits_match() {
    // Whole warps, parts of each warp, and all threads above a number.
    for ends in [
        "and.b32 %r1, %t, 32; setp.ne.u32 %p1, %r1, 0;",
        "and.b32 %r1, %t, 5; setp.eq.u32 %p1, %r1, 5;",
        "setp.gt.u32 %p1, %t, 77;",
    ] {
        assert_succeeds(&format!(
            "{ends} @%p1 bra END;
    mul.wide.u32 %d1, %t, 4; add.s64 %d1, %d1, %d9; mov.u32 %r3, 0; mov.u32 %r4, 0;
LOOP:
    ld.global.u32 %r5, [%d1]; add.u32 %r4, %r4, %r5; add.s64 %d1, %d1, 516;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 70; @%p2 bra LOOP;
    st.global.u32 [%mine], %r4;
END:"
        ));
    }
}

#[test]
fn barriers_and_shared_memory_match() {
    assert_succeeds(
        ".shared .align 4 .b8 tile[4096];
    mov.u32 %r9, tile; shl.b32 %r1, %t, 2; add.u32 %r2, %r9, %r1; mov.u32 %r3, 0; mov.u32 %r4, 0;
    mov.u32 %r10, %ntid.x;
LOOP:
    mad.lo.u32 %r5, %r3, 1024, %t; mul.wide.u32 %d1, %r5, 4; add.s64 %d1, %d1, %d9;
    ld.global.u32 %r6, [%d1]; st.shared.u32 [%r2], %r6; bar.sync 0;
    add.u32 %r7, %t, 33; rem.u32 %r7, %r7, %r10; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r9;
    ld.shared.u32 %r8, [%r7]; add.u32 %r4, %r4, %r8; ld.shared.u32 %r8, [%r9]; xor.b32 %r4, %r4, %r8;
    bar.sync 0;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 40; @%p2 bra LOOP;
    st.global.u32 [%mine], %r4;",
    );
}

/// Some warps of a gang jump directly to a point that the others reach later; in blocks of one gang no warp has
/// to stop at the barriers.
#[test]
fn warps_that_skip_ahead_match() {
    assert_succeeds(
        ".shared .align 4 .b8 tile[8192];
    mov.u32 %r9, tile; shl.b32 %r1, %t, 2; add.u32 %r2, %r9, %r1; mov.u32 %r3, 0; mov.u32 %r4, 0;
    mul.wide.u32 %d1, %t, 4; add.s64 %d1, %d1, %d9;
LOOP:
    ld.global.u32 %r6, [%d1]; st.shared.u32 [%r2+4], %r6;
    setp.gt.u32 %p1, %t, 3; @%p1 bra MEET;
    ld.global.u32 %r6, [%d1+4096]; st.shared.u32 [%r2], %r6;
MEET:
    bar.sync 0;
    ld.shared.u32 %r6, [%r2+4]; ld.shared.u32 %r7, [%r2]; sub.u32 %r6, %r6, %r7;
    add.u32 %r4, %r4, %r6; bar.sync 1;
    add.s64 %d1, %d1, 516; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 20; @%p2 bra LOOP;
    st.global.u32 [%mine], %r4;",
    );
}

/// Warps arrive at one barrier and continue while others have yet to arrive, and wait at the next.
#[test]
fn barriers_with_arrive_match() {
    assert_succeeds(
        ".shared .align 4 .b8 tile[4096]; .reg .u32 %all;
    mov.u32 %r9, tile; shl.b32 %r1, %t, 2; add.u32 %r2, %r9, %r1;
    mov.u32 %all, %ntid.x; add.u32 %all, %all, 31; and.b32 %all, %all, 4064; shl.b32 %all, %all, 1;
    mov.u32 %r3, 0; mov.u32 %r4, 0;
LOOP:
    bar.arrive 3, %all; st.shared.u32 [%r2], %r3; bar.sync 0;
    ld.shared.u32 %r5, [%r9]; add.u32 %r4, %r4, %r5; bar.sync 3, %all;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;
    st.global.u32 [%mine], %r4;",
    );
}

/// Loads and stores that share an address register, and some that do not. The register is written
/// in between, the access pattern changes from pass to pass and from warp to warp, and at a barrier in
/// the middle the other gangs of the block run.
#[test]
fn shared_address_registers_match() {
    for step in [
        // Uniform, contiguous and scattered addresses.
        "mov.u32 %r1, %r3;",
        "add.u32 %r1, %t, %r3;",
        "mul.lo.u32 %r1, %t, %r3; and.b32 %r1, %r1, 4095;",
        // A different pattern in each gang.
        "shr.u32 %r1, %t, 8; add.u32 %r1, %r1, %r3; and.b32 %r1, %r1, 3; mul.lo.u32 %r1, %r1, %t;
    and.b32 %r1, %r1, 4095;",
    ] {
        assert_succeeds(&format!(
            "mov.u32 %r3, 0; mov.u32 %r4, 0; setp.ne.u32 %p3, %t, 5;
LOOP:
    {step} mul.wide.u32 %d1, %r1, 8; add.s64 %d1, %d1, %d9;
    ld.global.u32 %r5, [%d1]; ld.global.u32 %r6, [%d1+4]; ld.global.u64 %d2, [%d1+8];
    bar.sync 0;
    ld.global.u32 %r7, [%d1+16]; cvt.u32.u64 %r8, %d2;
    ld.global.u32 %r10, [%d1+24]; add.s64 %d1, %d1, 4; ld.global.u32 %r11, [%d1+24];
    mul.wide.u32 %d3, %t, 4; add.s64 %d1, %d3, %d1; ld.global.u32 %r12, [%d1]; ld.global.u32 %r13, [%d1+4];
    @%p3 ld.global.u32 %r12, [%d1+8]; ld.global.u32 %r14, [%d1+12];
    xor.b32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; xor.b32 %r4, %r4, %r7; add.u32 %r4, %r4, %r8;
    xor.b32 %r4, %r4, %r10; add.u32 %r4, %r4, %r11; xor.b32 %r4, %r4, %r12;
    add.u32 %r4, %r4, %r13; xor.b32 %r4, %r4, %r14;
    st.global.u32 [%mine], %r4; st.global.u32 [%mine], %r5;
    setp.ne.u32 %p3, %r3, 4;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;
    st.global.u32 [%mine], %r4;"
        ));
    }
}

#[test]
fn every_space_and_width_matches() {
    assert_succeeds(
        ".local .align 8 .b8 own[64];
    mov.u64 %d4, table; mov.u64 %d5, own; mov.u32 %r3, 0; mov.u32 %r4, 0;
LOOP:
    mad.lo.u32 %r1, %r3, 37, %t; and.b32 %r1, %r1, 1023; mul.wide.u32 %d1, %r1, 4;
    add.s64 %d2, %d4, %d1; ld.const.u32 %r5, [%d2]; add.u32 %r4, %r4, %r5;
    and.b32 %r6, %r3, 15; mul.wide.u32 %d2, %r6, 4; add.s64 %d2, %d2, %d5;
    st.local.u32 [%d2], %r4; ld.local.u32 %r5, [%d5+4]; and.b32 %r5, %r5, 1; add.u32 %r4, %r4, %r5;
    mul.wide.u32 %d2, %r1, 16; add.s64 %d2, %d2, %d9;
    ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d2]; add.u32 %r4, %r4, %r11; xor.b32 %r4, %r4, %r13;
    mul.wide.u32 %d2, %r1, 8; add.s64 %d2, %d2, %d9; ld.global.u64 %d6, [%d2+8192];
    cvt.u32.u64 %r14, %d6; add.u32 %r4, %r4, %r14;
    mul.wide.u32 %d2, %r1, 1; add.s64 %d2, %d2, %d9; ld.global.nc.u8 %r15, [%d2];
    add.u32 %r4, %r4, %r15;
    mul.lo.u32 %r1, %r4, 2654435761; shr.u32 %r1, %r1, 16; mul.wide.u32 %d2, %r1, 4;
    add.s64 %d2, %d2, %d9; ld.global.u32 %r16, [%d2]; add.u32 %r4, %r4, %r16;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 50; @%p2 bra LOOP;
    st.global.u32 [%mine], %r4;",
    );
}

/// A loop longer than a warp's time slice, with divergent paths in the middle.
#[test]
fn long_loops_match() {
    assert_succeeds(
        "mov.u32 %r3, 0; mov.u32 %r4, %t; and.b32 %r8, %t, 3;
LOOP:
    and.b32 %r1, %r3, 4095; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %d1, %d9;
    ld.global.u32 %r5, [%d1]; add.u32 %r4, %r4, %r5;
    setp.ne.u32 %p1, %r1, 4000; @%p1 bra MEET;
    setp.eq.u32 %p3, %r8, 2; @%p3 bra MEET;
    add.u32 %r4, %r4, 3; mul.lo.u32 %r4, %r4, 5;
MEET:
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9000; @%p2 bra LOOP;
    st.global.u32 [%mine], %r4;",
    );
}

/// Thread 70 of a gang faults, and thread 33 a little later. Warps that run one by one reach the
/// second fault first.
#[test]
fn first_faulting_warp_is_reported() {
    let fault = assert_same_outcome(
        "mov.u64 %d1, %mine; setp.eq.u32 %p1, %t, 70; selp.b64 %d1, 64, %d1, %p1;
    st.global.u32 [%d1], %t; setp.eq.u32 %p1, %t, 33; selp.b64 %d1, 66, %mine, %p1;
    st.global.u32 [%d1], %t;",
    );
    match fault {
        Outcome::Fault(fault) => assert!(fault.contains("[33, 0, 0]"), "{fault}"),
        Outcome::Success(..) => panic!("the kernel did not fault"),
    }
}

/// Thread 0 reads a word that thread 32 writes, without the barrier that it needs. In gangs the result
/// happens to be correct, so some blocks run warp by warp to expose the bug.
#[test]
fn missing_barrier_is_exposed_in_every_sixteenth_block() {
    let ptx = module_of(
        "",
        ".shared .align 4 .b32 word; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 4;
    add.s64 %d1, %out, %d1; setp.eq.u32 %p1, %t, 32; mov.u32 %r2, 7; @%p1 st.shared.u32 [word], %r2;
    ld.shared.u32 %r3, [word]; setp.eq.u32 %p2, %t, 0; @%p2 st.global.u32 [%d1], %r3;",
    );
    let mut machine = Machine::new(&ptx);
    let out = machine.buffer(&[9_u32; 34]);
    machine.run("k", 34, 64, params![out]);
    let words = machine.read::<u32>(out, 34);
    for block in [0, 16, 32] {
        assert_eq!(words[block], 0, "{words:?}");
    }
}
