//! What the memory system counts: requests, sectors of 32 bytes, distinct constant addresses.

use crate::harness::{Machine, kernel_of};
use crate::params;
use cuda_sim::exec::Report;

const PTX: &str = include_str!("../../kernels/ptx/memory.ptx");

/// One warp reads `in[i * stride + offset]` and writes in order.
fn strided(threads: u32, stride: u32, offset: u32) -> Report {
    let mut machine = Machine::new(PTX);
    let from = machine.buffer(&vec![1f32; 4096]);
    let out = machine.out::<f32>(threads as usize);
    machine.run("strided", 1, threads, params![out, from, stride, offset])
}

#[test]
fn sectors_of_a_warps_load() {
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
        let global = strided(threads, stride, offset).counts.global;
        let found = (global.load_requests, global.load_sectors);
        assert_eq!(
            found,
            (1, sectors),
            "{threads} threads, stride {stride}, offset {offset}"
        );
        let stored = (global.store_requests, global.store_sectors);
        assert_eq!(stored, (1, u64::from(threads.div_ceil(8))));
    }
}

#[test]
fn requests_are_counted_by_warp() {
    let mut machine = Machine::new(PTX);
    let from = machine.buffer(&vec![1f32; 1000]);
    let out = machine.out::<f32>(1000);
    let counts = machine
        .run("strided", 10, 100, params![out, from, 1u32, 0u32])
        .counts;
    // Blocks of 100 threads: three whole warps of 4 sectors and one of half a sector; every
    // block begins in the middle of a sector or not, alternately.
    assert_eq!(
        (counts.global.load_requests, counts.global.store_requests),
        (40, 40)
    );
    let sectors: u64 = (0..10u64)
        .flat_map(|block| (0..4u64).map(move |warp| (block * 100 + warp * 32, warp)))
        .map(|(first, warp)| {
            let lanes = if warp == 3 { 4 } else { 32 };
            (first + lanes - 1) / 8 - first / 8 + 1
        })
        .sum();
    assert_eq!(
        (counts.global.load_sectors, counts.global.store_sectors),
        (sectors, sectors)
    );
}

#[test]
fn lanes_that_do_not_run_fetch_nothing() {
    for (keep, sectors) in [("31", 1), ("15", 2), ("7", 4), ("3", 4), ("0", 4)] {
        // Lanes whose low bits are all zero read in order.
        let ptx = kernel_of(&format!(
            "and.b32 %r1, %t, {keep};
            setp.eq.u32 %p1, %r1, 0;
            @%p1 ld.global.u32 %r2, [%mine];
            @%p1 st.global.u32 [%mine], %r2;"
        ));
        let mut machine = Machine::new(&ptx);
        let out = machine.out::<u32>(32);
        let global = machine.run("k", 1, 32, params![out]).counts.global;
        assert_eq!(
            (global.load_requests, global.load_sectors),
            (1, sectors),
            "loads, {keep}"
        );
        assert_eq!(
            (global.store_requests, global.store_sectors),
            (1, sectors),
            "stores, {keep}"
        );
    }
    // Nobody runs: no request.
    let ptx = kernel_of("setp.gt.u32 %p1, %t, 99; @%p1 ld.global.u32 %r2, [%mine];");
    let mut machine = Machine::new(&ptx);
    let out = machine.out::<u32>(32);
    assert_eq!(
        machine
            .run("k", 1, 32, params![out])
            .counts
            .global
            .load_requests,
        0
    );
}

#[test]
fn sectors_of_wide_elements() {
    for (kernel, sectors) in [
        ("copy_u8", 1),
        ("copy_u16", 2),
        ("copy_u32", 4),
        ("copy_u64", 8),
        ("copy_uchar4", 4),
        ("copy_float2", 8),
    ] {
        let mut machine = Machine::new(PTX);
        let (out, from) = (machine.out::<u8>(512), machine.out::<u8>(512));
        let counts = machine.run(kernel, 1, 32, params![out, from, 32u32]).counts;
        let global = counts.global;
        assert_eq!(
            (global.load_requests, global.load_sectors),
            (1, sectors),
            "{kernel}"
        );
        assert_eq!(
            (global.store_requests, global.store_sectors),
            (1, sectors),
            "{kernel}"
        );
        assert_eq!(
            (counts.shared.loads, counts.shared.stores),
            (1, 1),
            "{kernel}"
        );
        assert_eq!(counts.barriers, 1, "{kernel}");
    }
}

#[test]
fn a_vector_is_one_request() {
    for (form, registers) in [
        ("v4.f32", "{%r1, %r2, %r3, %r4}"),
        ("v4.b32", "{%r1, _, %r3, %r4}"),
        ("v2.f64", "{%d1, %d2}"),
        ("v2.u64", "{%d1, %d2}"),
    ] {
        let stored = registers.replace('_', "5");
        let ptx = kernel_of(&format!(
            "mad.wide.u32 %d3, %t, 16, %out;
            ld.global.{form} {registers}, [%d3];
            st.global.{form} [%d3+512], {stored};"
        ));
        let mut machine = Machine::new(&ptx);
        let input: Vec<u32> = crate::harness::noise(128);
        let out = machine.buffer(&[input.clone(), vec![0; 128]].concat());
        let global = machine.run("k", 1, 32, params![out]).counts.global;
        assert_eq!(
            (global.load_requests, global.load_sectors),
            (1, 16),
            "{form}"
        );
        assert_eq!(
            (global.store_requests, global.store_sectors),
            (1, 16),
            "{form}"
        );
        let mut expected = input;
        if registers.contains('_') {
            expected
                .iter_mut()
                .skip(1)
                .step_by(4)
                .for_each(|word| *word = 5);
        }
        assert_eq!(machine.read::<u32>(out + 512, 128), expected, "{form}");
    }
}

#[test]
fn scattered_lanes_share_sectors_only_where_they_meet() {
    for (index, sectors) in [
        ((0..32).map(|i| i * 100).collect::<Vec<u32>>(), 32),
        ((0..32).map(|i| i % 4 * 100).collect(), 4),
        ((0..32).rev().collect(), 4),
        ((0..32).map(|i| i / 2).collect(), 2),
        ((0..32).map(|i| (i * 7) % 32).collect(), 4),
        (
            (0..32).map(|i| if i < 16 { i } else { 800 + i }).collect(),
            4,
        ),
    ] {
        let mut machine = Machine::new(PTX);
        let (from, at) = (machine.buffer(&[0u32; 4000]), machine.buffer(&index));
        let out = machine.out::<u32>(32);
        let counts = machine
            .run("gather", 1, 32, params![out, from, at, 32u32])
            .counts;
        // The indices themselves are four sectors more.
        assert_eq!(counts.global.load_sectors, sectors + 4, "{index:?}");
        assert_eq!(counts.global.load_requests, 2);
    }
}

#[test]
fn constant_addresses_are_counted_once_a_warp() {
    let uniform = vec![5u32; 64];
    let each: Vec<u32> = (0..64).collect();
    let four: Vec<u32> = (0..64).map(|i| i / 8 % 4).collect();
    let scattered: Vec<u32> = (0..64).map(|i| i * 37 % 64).collect();
    for (index, addresses) in [(uniform, 2), (each, 64), (four, 8), (scattered, 64)] {
        let mut machine = Machine::new(PTX);
        let (out, at) = (machine.out::<u32>(64), machine.buffer(&index));
        let constant = machine
            .run("constants", 1, 64, params![out, at])
            .counts
            .constant;
        assert_eq!(
            (constant.loads, constant.addresses),
            (2, addresses),
            "{index:?}"
        );
    }
}

#[test]
fn branches_that_part_a_warp_are_counted() {
    for (split, divergent) in [("0", 0), ("5", 1), ("32", 0), ("40", 1), ("99", 0)] {
        let ptx = kernel_of(&format!(
            "setp.lt.u32 %p1, %t, {split};
            @%p1 bra A;
            st.global.u32 [%mine], 1;
            bra B;
            A: st.global.u32 [%mine], 2;
            B: st.global.u32 [%mine], 3;"
        ));
        let mut machine = Machine::new(&ptx);
        let out = machine.out::<u32>(64);
        let counts = machine.run("k", 1, 64, params![out]).counts;
        assert_eq!(counts.divergent_branches, divergent, "split at {split}");
        // Two warps: each stores once a side it has lanes on, and once together.
        assert_eq!(
            counts.global.store_requests,
            4 + divergent,
            "split at {split}"
        );
    }
}

#[test]
fn calls_do_not_count_as_local_memory() {
    let mut machine = Machine::new(include_str!("../../kernels/ptx/divergence.ptx"));
    let (out, from) = (
        machine.out::<u32>(32),
        machine.buffer(&(0..32).collect::<Vec<u32>>()),
    );
    let counts = machine
        .run("in_functions", 1, 32, params![out, from])
        .counts;
    assert_eq!((counts.local.loads, counts.local.stores), (0, 0));
}
