//! Loads and stores of every width and state space, and all kinds of addresses.

use crate::harness::*;
use std::collections::BTreeSet;

use cuda_sim::isa::AccessClass;

const PTX: &str = include_str!("../../kernels/ptx/memory.ptx");

/// Copies `n` elements of `size` bytes through shared memory, reversed within each block and back. The last
/// block is partial.
#[test]
fn every_width_and_vector_is_copied() {
    const KERNELS: [(&str, usize); 16] = [
        ("copy_u8", 1),
        ("copy_u16", 2),
        ("copy_u32", 4),
        ("copy_f32", 4),
        ("copy_u64", 8),
        ("copy_f64", 8),
        ("copy_uchar2", 2),
        ("copy_uchar4", 4),
        ("copy_ushort2", 4),
        ("copy_ushort4", 8),
        ("copy_uint2", 8),
        ("copy_uint4", 16),
        ("copy_float2", 8),
        ("copy_float4", 16),
        ("copy_ulonglong2", 16),
        ("copy_double2", 16),
    ];
    for (kernel, size) in KERNELS {
        for block in BLOCK_SIZES {
            let n = (3 * block - block / 2) as usize;
            // All byte values occur, so the floats include signalling NaNs.
            let input = noise(n * size).into_iter().map(|x| (x >> 7) as u8);
            let input: Vec<u8> = input.collect();
            let mut machine = Machine::new(PTX);
            let (out, source) = (machine.out::<u8>(n * size), machine.buffer(&input));
            machine.run(kernel, 3, block, params![out, source, n as u32]);
            // Thread t of a block loads the element at its index and stores the element that
            // its mirror image loaded: both have the same index.
            assert_eq!(
                machine.read::<u8>(out, n * size),
                input,
                "{kernel}, blocks of {block}"
            );
        }
    }
}

#[test]
fn narrow_loads_are_extended_by_type() {
    let threads = 64;
    let bits = noise(threads);
    let mut machine = Machine::new(PTX);
    let a: Vec<i8> = bits.iter().map(|&x| x as i8).collect();
    let b: Vec<i16> = bits.iter().map(|&x| (x >> 3) as i16).collect();
    let c: Vec<i32> = bits.iter().map(|&x| (x << 1) as i32).collect();
    let d: Vec<u8> = bits.iter().map(|&x| (x >> 9) as u8).collect();
    let e: Vec<u16> = bits.iter().map(|&x| (x >> 5) as u16).collect();
    let out = machine.out::<i64>(5 * threads);
    let (a_buffer, b_buffer, c_buffer) =
        (machine.buffer(&a), machine.buffer(&b), machine.buffer(&c));
    let (d_buffer, e_buffer) = (machine.buffer(&d), machine.buffer(&e));
    let params = params![out, a_buffer, b_buffer, c_buffer, d_buffer, e_buffer];
    machine.run("widen", 1, threads as u32, params);
    let signed = |i: usize| [i64::from(a[i]), b[i].into(), c[i].into()];
    let unsigned = |i: usize| [i64::from(d[i]), e[i].into()];
    let expected: Vec<i64> = (0..threads)
        .flat_map(|i| signed(i).into_iter().chain(unsigned(i)))
        .collect();
    assert_eq!(machine.read::<i64>(out, 5 * threads), expected);
}

/// Returns index patterns: uniform, contiguous, backwards, and scattered.
fn patterns(n: u32) -> Vec<(&'static str, Vec<u32>)> {
    let words = noise(n as usize);
    vec![
        ("broadcast", vec![n / 2; n as usize]),
        ("in order", (0..n).collect()),
        ("backwards", (0..n).rev().collect()),
        ("pairs", (0..n).map(|i| (i ^ 1).min(n - 1)).collect()),
        ("by warp", (0..n).map(|i| i / 32).collect()),
        ("scattered", words.into_iter().map(|x| x % n).collect()),
    ]
}

/// In a block that is 8 or 16 threads wide, a warp's lanes form rows. Each row reads one element or
/// contiguous elements.
#[test]
fn rows_of_a_block_are_gathered() {
    let input = noise(4096);
    for rows in [
        [3, 700, 701, 4088],
        [9, 9, 500, 500],
        [8, 0, 24, 16],
        [40, 44, 48, 52],
    ] {
        for step in [0, 1] {
            let index_of = |lane: usize| rows[lane / 8] + lane as u32 % 8 * step;
            let index: Vec<u32> = (0..32).map(index_of).collect();
            let mut machine = Machine::profiling(PTX);
            let (out, source) = (machine.out::<u32>(32), machine.buffer(&input));
            let indices = machine.buffer(&index);
            let report = machine.run("gather", 1, 32, params![out, source, indices, 32u32]);
            let expected: Vec<u32> = index.iter().map(|&i| input[i as usize]).collect();
            assert_memory(&machine, out, &expected, format!("{rows:?}, {step}"));

            // The sectors of `in`, and the four of `index`.
            let sectors: BTreeSet<u32> = index.iter().map(|i| i / 8).collect();
            let expected = sectors.len() as u64 + 4;
            let actual = global_loads(&total(&report)).sectors;
            assert_eq!(actual, expected, "{rows:?}, {step}");
        }
    }
}

/// The fault names the lane that is out of bounds, not the first lane of its row.
#[test]
fn partly_out_of_bounds_row_faults_at_its_first_bad_lane() {
    let mut machine = Machine::new(PTX);
    let (out, source) = (machine.out::<u32>(32), machine.buffer(&noise(64)));
    let index: Vec<u32> = (0..32).map(|lane| lane / 8 * 20 + lane % 8).collect();
    let indices = machine.buffer(&index);
    let fault = machine.fault("gather", 1, 32, params![out, source, indices, 32u32]);
    assert_eq!(illegal(&fault).1, source + 64 * 4);
    assert_eq!(fault.location.unwrap().thread, [28, 0, 0]);
}

#[test]
fn gathers_are_correct() {
    for block in BLOCK_SIZES {
        let n = 2 * block - block / 3;
        let input = noise(n as usize);
        for (name, index) in patterns(n) {
            let mut machine = Machine::new(PTX);
            let out = machine.out::<u32>(n as usize);
            let (source, indices) = (machine.buffer(&input), machine.buffer(&index));
            machine.run("gather", 2, block, params![out, source, indices, n]);
            let expected: Vec<u32> = index.iter().map(|&i| input[i as usize]).collect();
            assert_memory(
                &machine,
                out,
                &expected,
                format!("{name}, blocks of {block}"),
            );
        }
    }
}

#[test]
fn scatters_write_only_their_words() {
    for block in BLOCK_SIZES {
        let n = 2 * block - block / 3;
        let input = noise(n as usize);
        // Every third word, from the back.
        let index: Vec<u32> = (0..n).map(|i| 3 * (n - 1 - i)).collect();
        let mut machine = Machine::new(PTX);
        let out = machine.out::<u32>(3 * n as usize);
        let (source, to) = (machine.buffer(&input), machine.buffer(&index));
        machine.run("scatter", 2, block, params![out, source, to, n]);
        let mut expected = vec![0xa5a5_a5a5; 3 * n as usize];
        for (&to, &value) in index.iter().zip(&input) {
            expected[to as usize] = value;
        }
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn highest_lane_wins_on_conflicting_stores() {
    let mut machine = Machine::new(PTX);
    let out = machine.out::<u32>(1);
    let (source, to) = (machine.buffer(&noise(32)), machine.buffer(&[0u32; 32]));
    machine.run("scatter", 1, 32, params![out, source, to, 32u32]);
    assert_eq!(machine.read::<u32>(out, 1), [noise(32)[31]]);
}

#[test]
fn local_arrays_are_private_to_threads() {
    for block in BLOCK_SIZES {
        let count = 2 * block as usize;
        let input = noise(count);
        let mut machine = Machine::profiling(PTX);
        let (out, source) = (machine.out::<u32>(count), machine.buffer(&input));
        let report = machine.run("local_array", 2, block, params![out, source]);
        let counts = total(&report);
        assert!(counts[AccessClass::LocalLoad].requests > 0);
        assert!(counts[AccessClass::LocalStore].requests > 0);
        let expected: Vec<u32> = input
            .iter()
            .enumerate()
            .map(|(t, &x)| {
                let mut array: Vec<u32> = (0..16).map(|k| k * 3 + t as u32).collect();
                let mut x = x;
                for _ in 0..40 {
                    x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let increment = array[(x >> 13 & 15) as usize];
                    let element = &mut array[(x >> 28) as usize];
                    *element = element.wrapping_add(increment);
                }
                array
                    .iter()
                    .fold(0u32, |sum, &k| sum.wrapping_mul(31).wrapping_add(k))
            })
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn one_function_reads_every_space() {
    // The tile is filled by eight threads.
    for block in BLOCK_SIZES.into_iter().filter(|&block| block >= 8) {
        let input: Vec<u32> = (0..8).map(|k| 1000 * k).collect();
        let mut machine = Machine::new(PTX);
        let out = machine.out::<u32>(2 * block as usize);
        let source = machine.buffer(&input);
        machine.run("generic_pointers", 1, block, params![out, source]);
        let expected: Vec<u32> = (0..block)
            .flat_map(|t| {
                let local_sum = |n: u32| (0..n).map(|k| t * k + 1000 * k).sum::<u32>();
                let selected_sum = match t & 3 {
                    0 => 28_000,
                    1 => 828,
                    2 => local_sum(8),
                    _ => 2 + 3 + 5 + 7 + 11 + 13 + 17 + 19,
                };
                [selected_sum, local_sum(1 + (t & 7))]
            })
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn linked_lists_are_followed() {
    for block in BLOCK_SIZES {
        // Node k points to node k * 7 / 8, down to 0: lists of many lengths.
        let mut machine = Machine::new(PTX);
        let nodes = machine.out::<[u64; 2]>(block as usize);
        for k in 0..u64::from(block) {
            let next = if k == 0 { 0 } else { nodes + 16 * (k * 7 / 8) };
            machine.write(nodes + 16 * k, &next.to_le_bytes());
            machine.write(nodes + 16 * k + 8, &(k as u32 + 5).to_le_bytes());
        }
        let out = machine.out::<u32>(block as usize);
        machine.run("chase", 1, block, params![out, nodes]);
        let expected: Vec<u32> = (0..block)
            .map(|t| {
                let (mut k, mut sum) = (t, 0u32);
                loop {
                    sum = sum.wrapping_mul(3).wrapping_add(k + 5);
                    if k == 0 {
                        return sum;
                    }
                    k = k * 7 / 8;
                }
            })
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn structs_by_value_are_read_directly_and_by_address() {
    let c = [500u16, 600, 700, 65535, 9];
    let mut mixed = vec![0; 40];
    mixed[0] = 200;
    mixed[8..16].copy_from_slice(&(-3.5f64).to_le_bytes());
    for (k, value) in c.iter().enumerate() {
        mixed[16 + 2 * k..18 + 2 * k].copy_from_slice(&value.to_le_bytes());
    }
    mixed[28..32].copy_from_slice(&0.25f32.to_le_bytes());
    mixed.truncate(32);
    for block in BLOCK_SIZES {
        let mut machine = Machine::new(PTX);
        let out = machine.out::<f64>(2 * block as usize);
        let params = vec![out.to_le_bytes().to_vec(), mixed.clone(), vec![77]];
        machine.run("by_value", 1, block, params);
        let expected: Vec<f64> = (0..block as usize)
            .flat_map(|t| {
                let c = f64::from(c[t % 5]);
                [200.0 - 3.5 + c + 0.25, c + 77.0]
            })
            .collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}

#[test]
fn static_and_dynamic_shared_memory_are_disjoint() {
    for block in [33, 100, 256] {
        for n in [1, 70, 5000] {
            let mut machine = Machine::new(PTX);
            let out = machine.out::<u32>(n as usize);
            let launch = Launch::new("static_and_dynamic", 2, block, params![out, n]);
            machine.launch(&launch.shared(4 * n)).unwrap();
            let expected_word = |k| (n - 1 - k) * (n - 1 - k) + k % 33 * 7;
            let expected: Vec<u32> = (0..n).map(expected_word).collect();
            assert_memory(&machine, out, &expected, format!("{n}, blocks of {block}"));
        }
    }
}

#[test]
fn each_kernel_may_use_all_shared_memory() {
    let mut machine = Machine::new(PTX);
    for (kernel, factor) in [
        ("large_tile_a", 2),
        ("large_tile_b", 3),
        ("large_tile_c", 5),
    ] {
        let listing = &machine.program.listing;
        let number = listing.kernel(kernel).expect("no such kernel");
        assert_eq!(listing.kernels[number].shared_bytes, 40 << 10);
        let out = machine.out::<u32>(100);
        machine.run(kernel, 2, 100, params![out]);
        let expected: Vec<u32> = (0..100).map(|t| (10_239 - t) * factor).collect();
        assert_eq!(machine.read::<u32>(out, 100), expected);
    }
}

#[test]
fn variables_start_with_initial_values() {
    let mut machine = Machine::new(PTX);
    let out = machine.out::<f64>(4 * 64);
    machine.run("variables", 1, 64, params![out]);
    let expected: Vec<f64> = (0..64usize)
        .flat_map(|t| {
            let (name, value, weight): (&str, f64, f64) =
                [("first", 30.0, -1.5), ("second", 11.0, -20.25)][t & 1];
            let letter = f64::from(name.as_bytes()[t % name.len()]);
            [name.len() as f64 * 1000.0 + letter, value, weight, 0.0]
        })
        .collect();
    assert_eq!(machine.read::<f64>(out, expected.len()), expected);
}

#[test]
fn host_finds_variables_by_name_and_writes_them() {
    let mut machine = Machine::new(PTX);
    let counters = machine.program.variable("counters");
    let (counters, bytes) = counters.expect("no such variable");
    assert_eq!(bytes, 12);
    assert_eq!(machine.read::<u32>(counters, 3), [10, 20, 30]);
    assert_eq!(machine.program.variable("nothing"), None);
    let (bank, bytes) = machine.program.variable("bank").expect("no such variable");
    assert_eq!(bytes, 256);
    let values = noise(64);
    machine.write(bank, bytemuck::cast_slice(&values));
    for block in BLOCK_SIZES {
        let index = noise(2 * block as usize);
        let (out, indices) = (machine.out::<u32>(index.len()), machine.buffer(&index));
        machine.run("constants", 2, block, params![out, indices]);
        let expected: Vec<u32> = index.iter().map(|&i| values[i as usize & 63]).collect();
        assert_memory(&machine, out, &expected, format!("blocks of {block}"));
    }
}
