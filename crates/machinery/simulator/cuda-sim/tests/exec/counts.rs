//! Counters of the memory system: requests, 32-byte sectors, distinct constant addresses.

use crate::harness::*;
use cuda_sim::isa::AccessClass::*;
use cuda_sim::launch::LaunchReport;
use cuda_sim::profile::{Counters, Tally};

const PTX: &str = include_str!("../../kernels/ptx/memory.ptx");

/// Asserts that loads and stores each make one request for this many sectors.
#[track_caller]
fn assert_sectors(counts: &Tally, loads: u64, stores: u64, context: impl std::fmt::Display) {
    for (accesses, sectors) in [(global_loads(counts), loads), (counts[GlobalStore], stores)] {
        let actual = (accesses.requests, accesses.sectors);
        assert_eq!(actual, (1, sectors), "{context}");
    }
}

/// Reads `in[i * stride + offset]` with one warp, and writes in order.
fn strided(threads: u32, stride: u32, offset: u32) -> LaunchReport {
    let mut machine = Machine::profiling(PTX);
    let source = machine.buffer(&vec![1f32; 4096]);
    let out = machine.out::<f32>(threads as usize);
    machine.run("strided", 1, threads, params![out, source, stride, offset])
}

#[test]
fn warp_loads_count_touched_sectors() {
    for (threads, stride, offset, sectors) in [
        (32, 1, 0, 4),
        (32, 1, 1, 5),
        (32, 1, 8, 4),
        (32, 1, 31, 5),
        (32, 2, 0, 8),
        (32, 4, 0, 16),
        (32, 8, 0, 32),
        (32, 8, 7, 32),
        (32, 33, 0, 32),
        (32, 0, 5, 1),
        (1, 1, 0, 1),
        (31, 1, 0, 4),
        (8, 1, 4, 2),
        (17, 1, 0, 3),
    ] {
        let total = total(&strided(threads, stride, offset));
        let context = format!("{threads} threads, stride {stride}, offset {offset}");
        assert_sectors(&total, sectors, threads.div_ceil(8).into(), context);
    }
}

#[test]
fn requests_are_counted_per_warp() {
    let mut machine = Machine::profiling(PTX);
    let source = machine.buffer(&vec![1f32; 1000]);
    let out = machine.out::<f32>(1000);
    let counts = total(&machine.run("strided", 10, 100, params![out, source, 1u32, 0u32]));
    // Blocks of 100 threads: three whole warps of 4 sectors and one of half a sector; blocks
    // begin alternately at a sector boundary and in the middle of a sector.
    let (loads, stores) = (global_loads(&counts), counts[GlobalStore]);
    assert_eq!((loads.requests, stores.requests), (40, 40));
    let sectors: u64 = (0..10u64)
        .flat_map(|block| (0..4u64).map(move |warp| (block * 100 + warp * 32, warp)))
        .map(|(first, warp)| {
            let lanes = if warp == 3 { 4 } else { 32 };
            (first + lanes - 1) / 8 - first / 8 + 1
        })
        .sum();
    assert_eq!((loads.sectors, stores.sectors), (sectors, sectors));
}

/// For every access pattern, which selects the code path: all lanes at one address, contiguous,
/// contiguous with gaps, or random.
#[test]
fn participating_threads_are_counted() {
    let uniform = "mov.u64 %d1, %out;";
    let scattered = "xor.b32 %r3, %t, 21; mad.wide.u32 %d1, %r3, 4, %out;";
    for address in [uniform, "mov.u64 %d1, %mine;", scattered] {
        for (mask, threads) in [("31", 3), ("15", 5), ("1", 35), ("0", 70)] {
            let ptx = kernel_of(&format!(
                "{address}
                and.b32 %r1, %t, {mask};
                setp.eq.u32 %p1, %r1, 0;
                @%p1 ld.global.u32 %r2, [%d1];
                @%p1 st.global.u32 [%d1], %r2;
                @%p1 ld.global.u32 %r2, [%d1];"
            ));
            let mut machine = Machine::profiling(&ptx);
            let out = machine.out::<u32>(96);
            let report = machine.run("k", 1, 70, params![out]);
            let actual = (report.counts.global_loads, report.counts.global_stores);
            let counts = total(&report);
            let (loads, stores) = (global_loads(&counts), counts[GlobalStore]);
            let profiled = (loads.threads, stores.threads);
            assert_eq!(actual, profiled, "{address} {mask}");
            assert_eq!(actual, (2 * threads, threads), "{address} {mask}");
        }
    }
}

#[test]
fn vector_access_counts_once_per_thread() {
    let mut machine = Machine::profiling(PTX);
    let (out, source) = (machine.out::<u8>(1600), machine.out::<u8>(1600));
    let report = machine.run("copy_uint4", 2, 50, params![out, source, 99u32]);
    let counts = &report.counts;
    assert_eq!((counts.global_loads, counts.global_stores), (99, 99));
    let counts = total(&report);
    assert_eq!(global_loads(&counts).requests, 4);
    assert_eq!(counts[GlobalStore].requests, 4);
}

#[test]
fn launch_counters_match_the_profile() {
    let ptx = module_of(
        ".const .b32 table[64]; .shared .b32 tile[64];",
        "mov.u32 %r1, tile;
        mad.lo.u32 %r1, %t, 4, %r1;
        st.shared.u32 [%r1], %t;
        st.shared.u32 [%r1], %t;
        bar.sync 0;
        ld.shared.u32 %r2, [%r1];
        ld.shared.u32 %r2, [%r1];
        ld.shared.u32 %r2, [%r1];
        mov.u64 %d1, table;
        mad.wide.u32 %d1, %t, 4, %d1;
        ld.const.u32 %r3, [%d1];
        red.global.add.u32 [%out], 1;
        setp.lt.u32 %p1, %t, 5;
        @%p1 bra A;
        ld.global.u32 %r2, [%mine];
        A: st.global.u32 [%mine], %r2;",
    );
    let mut machine = Machine::profiling(&ptx);
    let out = machine.out::<u32>(40);
    let report = machine.run("k", 1, 40, params![out]);
    let expected = Counters {
        global_loads: 35,
        global_stores: 40,
        barriers: 2,
        atomics: 2,
        divergent_branches: 1,
        // Three before the body, its 16, and `ret`; 5 threads jump over the load.
        thread_instructions: 40 * 20 - 5,
    };
    assert_eq!(report.counts.counters(&machine.program.listing), expected);
    let counts = total(&report);
    // Lanes 5 to 31, and 8 of the second warp.
    let (loads, stores) = (global_loads(&counts), counts[GlobalStore]);
    assert_eq!((loads.requests, loads.sectors), (2, 5));
    assert_eq!((stores.requests, stores.sectors), (2, 5));
    let (reductions, constants) = (counts[GlobalReduction], counts[ConstantLoad]);
    assert_eq!((reductions.requests, reductions.threads), (2, 40));
    assert_eq!((constants.requests, constants.addresses), (2, 40));
    assert_eq!(counts[SharedLoad].requests, 6);
    assert_eq!(counts[SharedStore].requests, 4);
    // A GPU guards the load instead of going round it.
    let branches = (counts.branches, counts.divergent_branches);
    assert_eq!((counts.barriers, branches), (2, (2, 0)));
    assert_eq!(counts.thread_instructions, expected.thread_instructions);
}

/// Instructions that the simulator adds (for a guard, for a special register) do not count, and an
/// instruction whose guard is false does.
#[test]
fn thread_instructions_count_ptx_instructions() {
    for (body, instructions) in [
        ("", 0),
        ("mov.u32 %r1, %clock; add.u32 %r1, %ntid.x, 77;", 2),
        ("setp.eq.u32 %p1, %t, 99; @%p1 st.global.u32 [%mine], 1;", 2),
        (
            "setp.eq.u32 %p1, %t, 99; @%p1 bar.sync 0; @!%p1 bra A; A:",
            3,
        ),
        (
            "setp.eq.u32 %p1, %t, 0; @!%p1 ret; st.global.u32 [%mine], %laneid;",
            2,
        ),
    ] {
        let mut machine = Machine::new(&kernel_of(body));
        let out = machine.out::<u32>(37);
        let counts = machine.run("k", 1, 37, params![out]).counts;
        // With the three before and `ret`; in the last kernel only one thread reaches the end.
        let expected = match body.contains("ret;") {
            true => 37 * 5 + 2,
            false => 37 * (4 + instructions),
        };
        let actual = counts.thread_instructions(&machine.program.listing);
        assert_eq!(actual, expected, "{body}");
    }
}

#[test]
fn inactive_lanes_touch_no_sectors() {
    for (mask, sectors) in [("31", 1), ("15", 2), ("7", 4), ("3", 4), ("0", 4)] {
        // Lanes whose low bits are all zero read contiguous words.
        let ptx = kernel_of(&format!(
            "and.b32 %r1, %t, {mask};
            setp.eq.u32 %p1, %r1, 0;
            @%p1 ld.global.u32 %r2, [%mine];
            @%p1 st.global.u32 [%mine], %r2;"
        ));
        let counts = profiled(&ptx, 32);
        assert_sectors(&counts, sectors, sectors, mask);
    }
    // No lane runs, so there is no request.
    let ptx = kernel_of("setp.gt.u32 %p1, %t, 99; @%p1 ld.global.u32 %r2, [%mine];");
    let counts = profiled(&ptx, 32);
    assert_eq!(global_loads(&counts).requests, 0);
}

#[test]
fn wide_elements_touch_more_sectors() {
    for (kernel, sectors) in [
        ("copy_u8", 1),
        ("copy_u16", 2),
        ("copy_u32", 4),
        ("copy_u64", 8),
        ("copy_uchar4", 4),
        ("copy_float2", 8),
        // The header makes these move in one instruction, as nvcc does.
        ("copy_uint4", 16),
        ("copy_float4", 16),
        ("copy_double2", 16),
    ] {
        let mut machine = Machine::profiling(PTX);
        let (out, source) = (machine.out::<u8>(512), machine.out::<u8>(512));
        let counts = total(&machine.run(kernel, 1, 32, params![out, source, 32u32]));
        assert_sectors(&counts, sectors, sectors, kernel);
        let shared = [SharedLoad, SharedStore].map(|class| counts[class].requests);
        assert_eq!(shared, [1, 1], "{kernel}");
        assert_eq!(counts.barriers, 1, "{kernel}");
    }
}

#[test]
fn vector_access_is_one_request() {
    for (form, registers) in [
        ("v4.f32", "{%r1, %r2, %r3, %r4}"),
        ("v4.b32", "{%r1, _, %r3, %r4}"),
        ("v2.f64", "{%d1, %d2}"),
        ("v2.u64", "{%d1, %d2}"),
    ] {
        let stored_values = registers.replace('_', "5");
        let ptx = kernel_of(&format!(
            "mad.wide.u32 %d3, %t, 16, %out;
            ld.global.{form} {registers}, [%d3];
            st.global.{form} [%d3+512], {stored_values};"
        ));
        let mut machine = Machine::profiling(&ptx);
        let input: Vec<u32> = noise(128);
        let out = machine.buffer(&[input.clone(), vec![0; 128]].concat());
        let counts = total(&machine.run("k", 1, 32, params![out]));
        assert_sectors(&counts, 16, 16, form);
        let mut expected = input;
        if registers.contains('_') {
            let replaced = expected.iter_mut().skip(1).step_by(4);
            replaced.for_each(|word| *word = 5);
        }
        assert_eq!(machine.read::<u32>(out + 512, 128), expected, "{form}");
    }
}

#[test]
fn scattered_lanes_share_only_common_sectors() {
    for (index, sectors) in [
        ((0..32).map(|i| i * 100).collect::<Vec<u32>>(), 32),
        ((0..32).map(|i| i % 4 * 100).collect(), 4),
        ((0..32).rev().collect(), 4),
        ((0..32).map(|i| i / 2).collect(), 2),
        ((0..32).map(|i| (i * 7) % 32).collect(), 4),
        ((0..32).map(|i| i + i / 16 * 800).collect(), 4),
    ] {
        let mut machine = Machine::profiling(PTX);
        let source = machine.buffer(&[0u32; 4000]);
        let indices = machine.buffer(&index);
        let out = machine.out::<u32>(32);
        let report = machine.run("gather", 1, 32, params![out, source, indices, 32u32]);
        let loads = global_loads(&total(&report));
        // The indices themselves take four more sectors.
        assert_eq!(loads.sectors, sectors + 4, "{index:?}");
        assert_eq!(loads.requests, 2);
    }
}

#[test]
fn distinct_constant_addresses_are_counted_per_warp() {
    let uniform = vec![5u32; 64];
    let distinct: Vec<u32> = (0..64).collect();
    let four: Vec<u32> = (0..64).map(|i| i / 8 % 4).collect();
    let scattered: Vec<u32> = (0..64).map(|i| i * 37 % 64).collect();
    for (index, addresses) in [(uniform, 2), (distinct, 64), (four, 8), (scattered, 64)] {
        let mut machine = Machine::profiling(PTX);
        let (out, indices) = (machine.out::<u32>(64), machine.buffer(&index));
        let report = machine.run("constants", 1, 64, params![out, indices]);
        let constant = total(&report)[ConstantLoad];
        assert_eq!(constant.requests, 2, "{index:?}");
        assert_eq!(constant.addresses, addresses, "{index:?}");
    }
}

#[test]
fn divergent_branches_are_counted() {
    for (split, divergent) in [("0", 0), ("5", 1), ("32", 0), ("40", 1), ("99", 0)] {
        let ptx = kernel_of(&format!(
            "setp.lt.u32 %p1, %t, {split};
            @%p1 bra A;
            st.global.u32 [%mine], 1;
            bra B;
            A: st.global.u32 [%mine], 2;
            B: st.global.u32 [%mine], 3;"
        ));
        let mut machine = Machine::profiling(&ptx);
        let out = machine.out::<u32>(64);
        let report = machine.run("k", 1, 64, params![out]);
        let counts = total(&report);
        // A GPU guards the stores and has no branch; the simulator has one.
        assert_eq!(counts.divergent_branches, 0, "{split}");
        assert_eq!(report.counts.divergent_branches, divergent, "{split}");
        // Two warps: each stores once per side that has lanes, and once after reconvergence.
        assert_eq!(counts[GlobalStore].requests, 4 + divergent, "{split}");
    }
}

#[test]
fn calls_make_no_local_accesses() {
    let mut machine = Machine::profiling(include_str!("../../kernels/ptx/divergence.ptx"));
    let out = machine.out::<u32>(32);
    let source = machine.buffer(&(0..32).collect::<Vec<u32>>());
    let counts = total(&machine.run("in_functions", 1, 32, params![out, source]));
    let local = [LocalLoad, LocalStore].map(|class| counts[class].requests);
    assert_eq!(local, [0, 0]);
}

/// Local memory is written through the L1 cache, which keeps the lines. An NVIDIA H200 (driver 580.159.04, 2026-11-30)
/// reported hits for all 30,720 sectors that a transposition in a local array loads, and 46,080 sectors written to L2:
/// the 38,400 of its local stores, and 7,680 of its result.
#[test]
fn loads_of_stored_local_memory_hit_the_l1_cache() {
    let ptx = kernel_of(
        "{ .local .b32 l[4]; st.local.u32 [l], %t; ld.local.u32 %r1, [l]; ld.local.u32 %r2, [l+4];
        st.global.u32 [%mine], %r1; }",
    );
    let mut machine = Machine::profiling(&ptx);
    let out = machine.out::<u32>(32);
    let counts = total(&machine.run("k", 1, 32, params![out]));
    let (loads, stores) = (counts[LocalLoad], counts[LocalStore]);
    assert_eq!((loads.sectors, loads.hits), (8, 4));
    assert_eq!((stores.sectors, stores.hits), (4, 0));
}

/// A warp that reads a row backwards hits the lines that it read forwards, although its first lane is
/// in the last of them.
#[test]
fn cache_hits_do_not_depend_on_lane_order() {
    let ptx = kernel_of(
        "add.u64 %d1, %mine, 64;
        ld.global.u32 %r1, [%d1];
        sub.u32 %r2, 31, %t;
        mad.wide.u32 %d2, %r2, 4, %out;
        ld.global.u32 %r3, [%d2+64];
        st.global.u32 [%mine], %r3;",
    );
    let mut machine = Machine::profiling(&ptx);
    let out = machine.out::<u32>(64);
    let loads = global_loads(&total(&machine.run("k", 1, 32, params![out])));
    assert_eq!((loads.sectors, loads.hits), (8, 4));
}
