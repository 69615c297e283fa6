//! Atomic operations: the final values, the returned old values, and the order.

use crate::harness::*;
use bytemuck::Pod;

const PTX: &str = include_str!("../../kernels/ptx/atomics.ptx");

/// Folds the six operations whose result does not depend on the order over `input`.
macro_rules! fold_operations {
    ($t:ty, $initial:expr, $input:expr) => {
        $input
            .iter()
            .fold($initial, |[a, b, c, d, e, f]: [$t; 6], &x| {
                [a.wrapping_add(x), b & !x, c | x, d ^ x, e.min(x), f.max(x)]
            })
    };
}

fn run<T: Pod>(kernel: &str, grid: u32, block: u32, initial: [T; 6], input: &[T]) -> Vec<T> {
    let mut machine = Machine::new(PTX);
    let (address, source) = (machine.buffer(&initial), machine.buffer(input));
    machine.run(kernel, grid, block, params![address, source]);
    machine.read(address, 6)
}

#[test]
fn commutative_operations_on_global_memory_match_a_fold() {
    for block in BLOCK_SIZES {
        let bits = noise(3 * block as usize);
        let input: Vec<i32> = bits.iter().map(|&x| (x << 1) as i32).collect();
        let initial = [7, -1, 1, 5, 100, 100];
        let expected = fold_operations!(i32, initial, input);
        let actual = run("operations_i32", 3, block, initial, &input);
        assert_eq!(actual, expected, "blocks of {block}");

        let input: Vec<u32> = bits.iter().map(|&x| x << 1).collect();
        let initial = [7, u32::MAX, 1, 5, 1 << 31, 1 << 31];
        let expected = fold_operations!(u32, initial, input);
        let actual = run("operations_u32", 3, block, initial, &input);
        assert_eq!(actual, expected, "blocks of {block}");

        let input: Vec<u64> = bits
            .iter()
            .map(|&x| u64::from(x).wrapping_mul(0x9_0000_0005_0003))
            .collect();
        let initial = [7, u64::MAX, 1, 5, 1 << 63, 1 << 63];
        let expected = fold_operations!(u64, initial, input);
        let actual = run("operations_u64", 3, block, initial, &input);
        assert_eq!(actual, expected, "blocks of {block}");
    }
}

#[test]
fn commutative_operations_on_shared_memory_match_a_fold() {
    for block in BLOCK_SIZES.into_iter().filter(|&block| block >= 6) {
        let input = noise(block as usize);
        let initial = [7, u32::MAX, 1, 5, 1 << 31, 1];
        let expected = fold_operations!(u32, initial, input);
        let actual = run("operations_shared", 1, block, initial, &input);
        assert_eq!(actual, expected, "blocks of {block}");
    }
}

/// Returns the old values if threads run in order: block by block, lane by lane.
fn old_values_in_order(threads: u32) -> Vec<u32> {
    let (mut exchanged, mut swapped, mut up, mut down, mut sum) = (0, 0, 0, 0, 0);
    (0..threads)
        .flat_map(|i| {
            let old_values = [exchanged, swapped, up, down, sum];
            exchanged = i;
            swapped = if swapped == i { i + 1 } else { swapped };
            up = if up >= 6 { 0 } else { up + 1 };
            down = if down == 0 || down > 4 { 4 } else { down - 1 };
            sum += i;
            old_values
        })
        .collect()
}

#[test]
fn old_values_follow_thread_order() {
    for block in BLOCK_SIZES {
        for threads in [1, 4] {
            let mut machine = Machine::new(PTX);
            machine.use_threads(threads);
            let count = 4 * block;
            let address = machine.buffer(&[0u32; 5]);
            let old = machine.out::<u32>(5 * count as usize);
            machine.run("ordered", 4, block, params![address, old]);
            let actual = machine.read::<u32>(old, 5 * count as usize);
            // Within a block, warps switch only where they must, so the order is that of the threads.
            assert_eq!(actual, old_values_in_order(count), "blocks of {block}");
        }
        let mut machine = Machine::new(PTX);
        let old = machine.out::<u32>(5 * block as usize);
        if block >= 5 {
            machine.run("ordered_shared", 1, block, params![old]);
            let actual = machine.read::<u32>(old, 5 * block as usize);
            assert_eq!(actual, old_values_in_order(block), "blocks of {block}");
        }
    }
}

#[test]
fn histograms_match_the_reference() {
    let input: Vec<u8> = noise(10_000).into_iter().map(|x| (x >> 3) as u8).collect();
    let mut expected = vec![0u32; 256];
    input.iter().for_each(|&byte| expected[byte as usize] += 1);
    for block in BLOCK_SIZES {
        let mut machine = Machine::new(PTX);
        let (bins, source) = (machine.buffer(&[0u32; 256]), machine.buffer(&input));
        machine.run("histogram", 7, block, params![bins, source, 10_000u32]);
        assert_memory(&machine, bins, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn floats_are_added_in_thread_order() {
    let input: Vec<f32> = noise(3200)
        .into_iter()
        .map(|x| x as f32 * 1e-3 - 5e5)
        .collect();
    let expected = input.iter().fold(0f32, |sum, x| sum + x);
    for threads in [1, 2, 4] {
        let mut machine = Machine::new(PTX);
        machine.use_threads(threads);
        let (sum, source) = (machine.buffer(&[0f32]), machine.buffer(&input));
        machine.run("float_sum", 50, 64, params![sum, source]);
        assert_eq!(machine.read::<f32>(sum, 1), [expected], "{threads} threads");
    }
}

/// Blocks need to run in order only if the order is observable: the compiler always requests
/// the old value, but few kernels use it.
#[test]
fn only_kernels_with_observable_order_are_ordered() {
    let machine = Machine::new(PTX);
    for (kernel, ordered) in [
        ("operations_i32", false),
        ("operations_u64", false),
        ("histogram", false),
        ("ordered", true),
        ("float_sum", true),
    ] {
        let listing = &machine.program.listing;
        let number = listing.kernel(kernel).expect("no such kernel");
        assert_eq!(listing.kernels[number].ordered, ordered, "{kernel}");
    }
}

/// Forms that the compiler did not emit: of 64 bits, on doubles and signed integers, and without a result.
#[test]
fn remaining_types_and_operations_are_correct() {
    let ptx = kernel_of(
        "st.global.u32 [%mine], 0;
        bar.sync 0;
        atom.global.add.f64 %d1, [%out], 0d3FF8000000000000;
        red.global.add.f64 [%out], 0d3FF8000000000000;
        atom.global.exch.b64 %d2, [%out+8], 77;
        atom.global.cas.b64 %d3, [%out+8], 77, 78;
        atom.global.min.s64 %d4, [%out+16], -5;
        atom.global.max.s64 %d4, [%out+24], -5;
        atom.global.min.s32 %r1, [%out+32], -5;
        red.global.max.s32 [%out+36], -5;
        red.global.inc.u32 [%out+40], 4;
        red.relaxed.gpu.global.and.b32 [%out+44], 1;
        atom.acq_rel.sys.global.or.b64 %d5, [%out+48], 6;
        atom.xor.b64 %d5, [%out+56], 3;",
    );
    let actual = words(&ptx, 16).expect("the kernel faulted");
    let double = |index: usize| {
        f64::from_bits(u64::from(actual[index]) | u64::from(actual[index + 1]) << 32)
    };
    assert_eq!(double(0), 48.0);
    assert_eq!(actual[2..4], [78, 0]);
    // Zero is greater than -5.
    assert_eq!(actual[4..8], [(-5i32) as u32, u32::MAX, 0, 0]);
    assert_eq!(actual[8..12], [(-5i32) as u32, 0, 16 % 5, 0]);
    assert_eq!(actual[12..16], [6, 0, 0, 0]);
}

/// A vector is as many atomics, one per element. The compiler may write the old values over the addends.
#[test]
fn vector_sums_are_sums_of_the_elements() {
    let ptx = kernel_of(
        "st.global.u32 [%mine], 0;
        bar.sync 0;
        mov.b32 %r1, 0f3F800000;
        mov.b32 %r2, 0f40000000;
        red.global.v4.f32.add [%out], {%r1, %r2, %r1, %r2};
        red.relaxed.gpu.global.add.v2.f32 [%out+8], {%r2, %r2};
        red.global.add.noftz.v2.f16x2 [%out+16], {0x3c003c00, 0x40004000};
        mov.b16 %h1, 0x3c00; mov.b16 %h2, 0xc000;
        red.global.v2.f16.min.noftz [%out+32], {%h1, %h2};
        red.global.v4.bf16.max.noftz [%out+36], {%h2, %h1, %h1, %h2};
        atom.global.v2.f32.add {%r2, %r1}, [%out+24], {%r1, %r2};",
    )
    .replace(".version 7.0", ".version 8.1")
    .replace("sm_80", "sm_90");
    let actual = words(&ptx, 11).expect("the kernel faulted");
    let floats = |range: std::ops::Range<usize>| {
        actual[range]
            .iter()
            .copied()
            .map(f32::from_bits)
            .collect::<Vec<_>>()
    };
    assert_eq!(floats(0..4), [11.0, 22.0, 33.0, 44.0]);
    assert_eq!(actual[4..6], [0x4980_4980, 0x4d80_4d80]);
    assert_eq!(floats(6..8), [11.0, 22.0]);
    assert_eq!(actual[8..11], [0xc000_0000, 0x3c00_0000, 0x0000_3c00]);
}

/// Adds each of `values` to each of them. Returns the old value, the addend, and the sums in global and
/// shared memory.
fn sums<T: Pod + PartialEq + std::fmt::Debug>(ty: &str, values: &[T]) -> Vec<(T, T, T, T)> {
    let bits = &ty[1..];
    let ptx = format!(
        ".version 6.4\n.target sm_60\n.address_size 64
        .shared .align 8 .b8 cell[8];
        .visible .entry k(.param .u64 place, .param .u64 addend, .param .u64 shared) {{
        .reg .b64 %d<5>; .reg .b{bits} %v<4>;
        ld.param.u64 %d1, [place];
        ld.param.u64 %d2, [addend];
        ld.param.u64 %d3, [shared];
        ld.global.b{bits} %v1, [%d1];
        ld.global.b{bits} %v2, [%d2];
        mov.u64 %d4, cell;
        st.shared.b{bits} [%d4], %v1;
        red.global.add.{ty} [%d1], %v2;
        red.shared.add.{ty} [%d4], %v2;
        ld.shared.b{bits} %v3, [%d4];
        st.global.b{bits} [%d3], %v3;
        ret; }}"
    );
    let mut machine = Machine::new(&ptx);
    let mut all = Vec::new();
    for &old in values {
        for &addend in values {
            let address = machine.buffer(&[old]);
            let addend_address = machine.buffer(&[addend]);
            let shared = machine.out::<T>(1);
            machine.run("k", 1, 1, params![address, addend_address, shared]);
            let stored = machine.read::<T>(address, 1)[0];
            all.push((old, addend, stored, machine.read::<T>(shared, 1)[0]));
        }
    }
    all
}

#[test]
fn float_sums_flush_subnormals_in_device_memory_only() {
    const TINY: u32 = 0x0000_0003;
    const SMALLEST_NORMAL: u32 = 0x0080_0000;
    const NAN: u32 = 0xffc1_2345;
    for (old, addend, global, shared) in sums("f32", &[TINY, SMALLEST_NORMAL, NAN]) {
        let expected = match (old, addend) {
            (NAN, _) | (_, NAN) => (0x7fff_ffff, 0x7fff_ffff),
            (TINY, TINY) => (0, 2 * TINY),
            (SMALLEST_NORMAL, SMALLEST_NORMAL) => (0x0100_0000, 0x0100_0000),
            _ => (SMALLEST_NORMAL, SMALLEST_NORMAL + TINY),
        };
        assert_eq!((global, shared), expected, "{old:x} + {addend:x}");
    }
}

#[test]
fn double_sums_in_device_memory_keep_the_last_nan() {
    const SIGNALLING: u64 = 0x7ff4_0000_0000_0001;
    const QUIET: u64 = 0xfff8_0000_0000_1234;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    let quiet = |nan: u64| nan | 1 << 51;
    for (old, addend, global, shared) in sums("f64", &[SIGNALLING, QUIET, ONE]) {
        let expected = match (old, addend) {
            (ONE, ONE) => (0x4000_0000_0000_0000, 0x4000_0000_0000_0000),
            (nan, ONE) | (ONE, nan) => (nan, quiet(nan)),
            (first, last) => (last, quiet(first)),
        };
        assert_eq!((global, shared), expected, "{old:x} + {addend:x}");
    }
}
