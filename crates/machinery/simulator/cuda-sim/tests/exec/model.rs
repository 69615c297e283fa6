//! The time model: the resource that limits a kernel, its duration, and the number of resident blocks.
//!
//! Each kernel uses mainly one resource, so that its expected time follows from one or two rates of the
//! GPU.

use crate::harness::*;
use cuda_sim::device::{DeviceSpec, PRESETS};
use cuda_sim::model::{Modelled, OccupancyLimit, Resource};

/// Resident warps per SM of an H200 in [`saturated_time`].
const BUSY_WARPS: u32 = 64;

/// Returns the modelled time of a launch that fills an H200: two blocks of 1024 threads on each SM.
fn saturated_time(ptx: &str) -> Modelled {
    modelled_time(ptx, 2 * DeviceSpec::h200().multiprocessors, 1024)
}

/// Returns the modelled time of a launch on an H200, for a kernel of [`kernel_of`] that reads and writes
/// little.
fn modelled_time(ptx: &str, grid: u32, block: u32) -> Modelled {
    let mut machine = Machine::new(ptx);
    let out = machine.out::<u32>(block as usize);
    machine.record("k", grid, block, params![out]).time
}

fn resource_time(time: &Modelled, resource: Resource) -> f64 {
    let parts = time.resources.iter();
    let mut matching = parts.filter(|part| part.resource == resource);
    let part = matching.next().expect("a resource has no time");
    assert!(matching.next().is_none(), "{resource} is listed twice");
    part.milliseconds
}

/// Returns the milliseconds of `count` cycles of an H200.
fn cycles(count: f64) -> f64 {
    count / f64::from(DeviceSpec::h200().clock_khz)
}

fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    let error = (actual / expected - 1.0).abs();
    assert!(error <= tolerance, "{actual} is not near {expected}");
}

/// Returns a loop of `rounds` iterations with `body` unrolled `unroll` times.
fn unrolled_loop(body: &str, unroll: usize, rounds: u32) -> String {
    format!(
        "mov.u32 %r30, 0;
        LOOP: {}
        add.u32 %r30, %r30, 1;
        setp.lt.u32 %p9, %r30, {rounds};
        @%p9 bra LOOP;",
        body.repeat(unroll)
    )
}

/// Returns a kernel in which each thread copies 16 bytes from `out` to an address `bytes` bytes later.
fn copy_kernel(bytes: u32) -> String {
    kernel_of(&format!(
        "mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mad.lo.u32 %r1, %r1, %r2, %t;
        mad.wide.u32 %d1, %r1, 16, %out;
        ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d1];
        st.global.v4.u32 [%d1+{bytes}], {{%r4, %r5, %r6, %r7}};"
    ))
}

fn copy_time(device: DeviceSpec, bytes: u32) -> Modelled {
    let mut machine = Machine {
        device,
        ..Machine::new(&copy_kernel(bytes))
    };
    let out = machine.out::<u8>(2 * bytes as usize);
    machine
        .record("k", bytes / 16 / 256, 256, params![out])
        .time
}

#[test]
fn empty_kernel_takes_the_launch_overhead() {
    for (name, device) in PRESETS.clone() {
        let launch_milliseconds = device.rates.launch_seconds * 1e3;
        let machine = Machine {
            device,
            ..Machine::new(".version 7.0 .target sm_52 .address_size 64 .entry k() { ret; }")
        };
        let time = machine.record("k", 1, 32, params![]).time;
        assert_eq!(time.milliseconds, launch_milliseconds, "{name}");
        assert_eq!(time.binding, Resource::Launch, "{name}");
        assert_eq!(time.gpu, machine.device.models, "{name}");
    }
}

#[test]
fn integer_loop_is_bound_by_arithmetic() {
    let (unroll, rounds) = (200, 4);
    let time = saturated_time(&kernel_of(&unrolled_loop(
        "mad.lo.u32 %r1, %r1, %r2, %r3;",
        unroll,
        rounds,
    )));
    assert_eq!(time.binding, Resource::Arithmetic);
    let warp_cycles = 32.0 / DeviceSpec::h200().rates.integer_lanes;
    let instructions = f64::from(BUSY_WARPS * rounds) * unroll as f64;
    let expected = cycles(instructions * warp_cycles);
    assert_near(resource_time(&time, Resource::Arithmetic), expected, 0.05);
    assert!(time.milliseconds >= expected);
}

/// The lanes can keep up with the schedulers, so the loop's other instructions make issue the bottleneck.
#[test]
fn multiply_add_loop_is_bound_by_issue() {
    let (unroll, rounds) = (200, 4);
    let time = saturated_time(&kernel_of(&unrolled_loop(
        "fma.rn.f32 %r1, %r1, %r2, %r3;",
        unroll,
        rounds,
    )));
    assert_eq!(time.binding, Resource::Issue);
    let instructions = f64::from(BUSY_WARPS * rounds) * unroll as f64;
    let expected = cycles(instructions / DeviceSpec::h200().rates.issued_per_cycle);
    assert_near(resource_time(&time, Resource::Issue), expected, 0.05);
    assert_near(resource_time(&time, Resource::Arithmetic), expected, 0.05);
}

#[test]
fn doubles_are_slow_on_gpus_with_few_fp64_lanes() {
    let ptx = kernel_of(&unrolled_loop("fma.rn.f64 %d1, %d2, %d3, %d1;", 100, 4));
    let run_on = |device: DeviceSpec| {
        let mut machine = Machine {
            device,
            ..Machine::new(&ptx)
        };
        let out = machine.out::<u32>(1);
        machine.record("k", 528, 256, params![out]).time
    };
    let (h200, rtx3090) = (run_on(DeviceSpec::h200()), run_on(DeviceSpec::rtx3090()));
    assert_eq!(rtx3090.binding, Resource::Arithmetic);
    assert!(
        resource_time(&rtx3090, Resource::Arithmetic)
            > 30.0 * resource_time(&h200, Resource::Arithmetic)
    );
}

#[test]
fn each_bank_conflict_takes_a_wavefront() {
    let mut lone_time = 0.0;
    for stride in [1, 2, 4, 8, 16, 32] {
        let loads = unrolled_loop("ld.shared.u32 %r2, [%r1];", 100, 2);
        let time = saturated_time(&module_of(
            ".shared .b32 tile[1024];",
            &format!(
                "mov.u32 %r1, tile;
                and.b32 %r3, %t, 31;
                mad.lo.u32 %r1, %r3, {}, %r1;
                {loads}",
                4 * stride
            ),
        ));
        let actual = resource_time(&time, Resource::L1Shared);
        if stride == 1 {
            lone_time = actual;
            let wavefronts = f64::from(BUSY_WARPS) * 200.0;
            let rate = DeviceSpec::h200().rates.load_store_wavefronts;
            assert_near(lone_time, cycles(wavefronts / rate), 0.001);
        }
        assert_near(actual, f64::from(stride) * lone_time, 1e-9);
        assert_eq!(time.binding, Resource::L1Shared, "stride {stride}");
    }
}

#[test]
fn distinct_constant_addresses_are_bound_by_the_constant_cache() {
    let read = |index: &str, rounds: u32| {
        let loads = unrolled_loop("ld.const.u32 %r2, [%d1];", 100, rounds);
        saturated_time(&module_of(
            ".const .b32 table[64];",
            &format!(
                "and.b32 %r1, %t, {index};
                mov.u64 %d1, table;
                mad.wide.u32 %d1, %r1, 4, %d1;
                {loads}"
            ),
        ))
    };
    let (uniform, distinct) = (read("0", 2), read("31", 2));
    assert_eq!(distinct.binding, Resource::ConstantCache);
    let ratio = resource_time(&distinct, Resource::ConstantCache)
        / resource_time(&uniform, Resource::ConstantCache);
    assert_near(ratio, 32.0, 0.05);
    let hits = f64::from(BUSY_WARPS) * 200.0 * 32.0;
    let hit_cycles = DeviceSpec::h200().rates.constant_hit_cycles;
    assert_near(
        resource_time(&distinct, Resource::ConstantCache),
        cycles(hits * hit_cycles),
        0.05,
    );
}

/// Reads one line after another, so that a cache smaller than the table holds none of them when they are read
/// again.
#[test]
fn constant_cache_misses_take_longer() {
    let walk_table = |bytes: u32| {
        let ptx = module_of(
            ".const .align 64 .b8 table[65536];",
            &format!(
                "mov.u32 %r1, 0;
                mov.u64 %d1, table;
                mov.u64 %d3, table;
                {}",
                unrolled_loop(
                    &format!(
                        "ld.const.u32 %r2, [%d1];
                        add.u32 %r1, %r1, 64;
                        and.b32 %r1, %r1, {};
                        cvt.u64.u32 %d2, %r1;
                        add.u64 %d1, %d3, %d2;",
                        bytes - 1
                    ),
                    16,
                    64
                )
            ),
        );
        // A single warp: a second one would hit the lines that the first has fetched.
        modelled_time(&ptx, 132, 32)
    };
    let rates = DeviceSpec::h200().rates;
    let [fits_l1, fits_l15, beyond] = [1 << 10, 16 << 10, 64 << 10]
        .map(walk_table)
        .map(|time| resource_time(&time, Resource::ConstantCache));
    let (hit, miss) = (rates.constant_hit_cycles, rates.constant_l15_cycles);
    assert_near(fits_l15 / fits_l1, miss / hit, 0.2);
    assert_near(beyond / fits_l1, rates.constant_l2_cycles / hit, 0.2);
}

#[test]
fn copy_larger_than_l2_is_bound_by_memory() {
    let bytes = 32 << 20;
    let device = DeviceSpec::h200();
    let time = copy_time(device.clone(), bytes);
    assert_eq!(time.binding, Resource::Memory);
    let moved = 2.0 * f64::from(bytes);
    let expected = moved / device.rates.achieved_memory_bandwidth * 1e3;
    assert_near(resource_time(&time, Resource::Memory), expected, 1e-6);
    assert_near(time.milliseconds, expected, 0.5);
    assert_eq!(
        (time.roofline.bytes, time.roofline.operations),
        (moved, 0.0)
    );
}

#[test]
fn copy_that_fits_in_l2_needs_no_memory() {
    let time = copy_time(DeviceSpec::h200(), 8 << 20);
    assert_eq!(resource_time(&time, Resource::Memory), 0.0);
    assert!(resource_time(&time, Resource::L2) > 0.0);
    assert!(
        matches!(time.binding, Resource::L2 | Resource::Latency),
        "{}",
        time.binding
    );
}

#[test]
fn dependent_loads_are_bound_by_latency() {
    let ptx = kernel_of(&format!(
        "mov.u64 %d1, %out; {}",
        unrolled_loop("ld.global.u64 %d1, [%d1];", 1, 1000)
    ));
    let mut machine = Machine::new(&ptx);
    let cell = machine.buffer(&[0u64]);
    machine.write(cell, &cell.to_le_bytes());
    let time = machine.record("k", 1, 32, params![cell]).time;
    assert_eq!(time.binding, Resource::Latency);
    // All loads after the first hit the L1 cache.
    let expected = cycles(1000.0 * DeviceSpec::h200().rates.latency.l1);
    assert_near(resource_time(&time, Resource::Latency), expected, 0.1);
}

#[test]
fn latency_is_hidden_by_other_warps() {
    let ptx = kernel_of(&unrolled_loop("fma.rn.f32 %r1, %r1, %r2, %r3;", 100, 100));
    let (few, many) = (modelled_time(&ptx, 132, 32), modelled_time(&ptx, 132, 1024));
    assert_eq!(few.binding, Resource::Latency);
    assert_eq!(many.binding, Resource::Issue);
    // 32 times the work.
    assert!(many.milliseconds < 3.0 * few.milliseconds);
}

#[test]
fn many_tiny_blocks_are_bound_by_launching() {
    let blocks = 1 << 18;
    let time = modelled_time(&kernel_of(""), blocks, 32);
    assert_eq!(time.binding, Resource::Launch);
    let expected = cycles(f64::from(blocks) * DeviceSpec::h200().rates.block_interval_cycles);
    assert_near(resource_time(&time, Resource::Launch), expected, 1e-9);
    assert_near(time.milliseconds, expected, 0.1);
}

/// One block more than the SMs take evenly makes one SM work for twice as long.
#[test]
fn one_block_too_many_takes_another_wave() {
    let ptx = kernel_of(&unrolled_loop("mad.lo.u32 %r1, %r1, %r2, %r3;", 100, 4));
    let arithmetic =
        |blocks| resource_time(&modelled_time(&ptx, blocks, 1024), Resource::Arithmetic);
    let full = arithmetic(132);
    assert_near(arithmetic(1), full, 1e-9);
    assert_near(arithmetic(131), full, 1e-9);
    assert_near(arithmetic(133), 2.0 * full, 1e-9);
    assert_near(arithmetic(264), 2.0 * full, 1e-9);
}

/// A block that is not resident with the others waits for them: two blocks of 1024 threads are resident at
/// once.
#[test]
fn non_resident_blocks_wait_for_a_whole_wave() {
    let ptx = kernel_of(&unrolled_loop("mad.lo.u32 %r1, %r1, %r2, %r3;", 100, 4));
    let latency = |blocks| resource_time(&modelled_time(&ptx, blocks, 1024), Resource::Latency);
    let one_wave = latency(1);
    assert_near(latency(264), one_wave, 1e-9);
    assert_near(latency(265), 2.0 * one_wave, 1e-9);
    assert_near(latency(528), 2.0 * one_wave, 1e-9);
}

/// A launch ends with its longest block, however short the others are.
#[test]
fn launch_waits_for_the_longest_block() {
    let work = unrolled_loop("fma.rn.f32 %r1, %r1, %r2, %r3;", 100, 100);
    let lone_block = kernel_of(&format!(
        "mov.u32 %r31, %ctaid.x; setp.ne.u32 %p8, %r31, 0; @%p8 exit; {work}"
    ));
    let latency =
        |ptx: &str, blocks| resource_time(&modelled_time(ptx, blocks, 32), Resource::Latency);
    let lone_time = latency(&lone_block, 1);
    // Never less than one block alone, and a little more, because work is counted in instructions and the
    // other blocks' few instructions wait longer.
    for (blocks, max_slowdown) in [(132, 1.1), (1000, 1.3)] {
        let slowdown = latency(&lone_block, blocks) / lone_time;
        assert!(
            (1.0..max_slowdown).contains(&slowdown),
            "{blocks}: {slowdown}"
        );
    }
    // Also if the other blocks look busy, because they never stall.
    let loads = unrolled_loop("ld.global.u32 %r1, [%out];", 1, 500);
    let spins = unrolled_loop("fma.rn.f32 %r1, %r1, %r2, %r3;", 10, 500).replace("LOOP", "SPIN");
    let mixed = kernel_of(&format!(
        "mov.u32 %r31, %ctaid.x; setp.ne.u32 %p8, %r31, 0; @%p8 bra ELSE; {loads} exit; ELSE: {spins}"
    ));
    let lone_block = latency(&kernel_of(&loads), 1);
    assert!(latency(&mixed, 64) > 0.9 * lone_block);
    // If all blocks do the work, they do it in parallel.
    assert_near(latency(&kernel_of(&work), 132), lone_time, 0.02);
}

#[test]
fn operations_are_counted_for_the_roofline() {
    let ptx = kernel_of(&unrolled_loop("fma.rn.f32 %r1, %r1, %r2, %r3;", 10, 5));
    let time = modelled_time(&ptx, 7, 100);
    assert_eq!(time.roofline.operations, 2.0 * 50.0 * 700.0);
    // 132 SMs, 128 lanes, 1.98 GHz, two operations.
    assert_near(time.roofline.peak_operations, 66.9e12, 0.001);
    assert_eq!(time.roofline.peak_bandwidth, 4.8e12);
}

#[test]
fn occupancy_is_limited_by_the_scarcest_resource() {
    let empty = kernel_of("");
    let shared = module_of(".shared .b32 tile[10000];", "mov.u32 %r1, tile;");
    // All loaded values are live until the last store.
    let names: Vec<String> = (0..200).map(|i| format!("%f{i}")).collect();
    let loads = names.iter().map(|r| format!("ld.global.f32 {r}, [%out];"));
    let stores = names.iter().map(|r| format!("st.global.f32 [%out], {r};"));
    let registers = kernel_of(&format!(
        ".reg .f32 %f<200>; {} {}",
        loads.collect::<String>(),
        stores.collect::<String>()
    ));
    use OccupancyLimit::{Blocks, Grid, Registers, SharedMemory, Threads};
    for (name, ptx, grid, block, limit, blocks) in [
        ("one block", &empty, 1, 1024, Grid, 1),
        ("a block each", &empty, 132, 64, Grid, 1),
        ("large blocks", &empty, 10_000, 1024, Threads, 2),
        ("odd blocks", &empty, 10_000, 700, Threads, 2),
        ("small blocks", &empty, 10_000, 32, Blocks, 32),
        // 228 KB per SM, and each block takes 40 000 bytes and 1 KB.
        ("shared memory", &shared, 10_000, 64, SharedMemory, 5),
        // Half of the 200 and the address: 104 registers after rounding up to the allocation unit, so 19 warps.
        ("registers", &registers, 10_000, 256, Registers, 2),
    ] {
        let actual = modelled_time(ptx, grid, block).occupancy;
        assert_eq!((actual.limit, actual.blocks), (limit, blocks), "{name}");
        assert_eq!(actual.warps, blocks * block.div_ceil(32), "{name}");
        assert_eq!(actual.max_warps, 64, "{name}");
    }
}

#[test]
fn copy_takes_longer_on_each_older_gpu() {
    let times: Vec<(&str, f64)> = PRESETS
        .clone()
        .into_iter()
        .map(|(name, device)| (name, copy_time(device, 32 << 20).milliseconds))
        .collect();
    assert!(
        times.windows(2).all(|two| 1.2 * two[0].1 < two[1].1),
        "{times:?}"
    );
}

/// Calls `check` for kernels that use different resources, on all GPUs.
fn for_each_kernel_and_gpu(check: impl Fn(&str, &DeviceSpec, &mut Machine)) {
    for (kernel, body) in [
        ("nothing", String::new()),
        (
            "arithmetic",
            unrolled_loop("mad.lo.u32 %r1, %r1, %r1, %t;", 50, 4),
        ),
        ("chain", unrolled_loop("ld.global.u32 %r1, [%mine];", 50, 4)),
        ("stores", unrolled_loop("st.global.u32 [%mine], %t;", 20, 4)),
        (
            "atomics",
            unrolled_loop("red.global.add.u32 [%out], 1;", 20, 2),
        ),
        ("barriers", unrolled_loop("bar.sync 0;", 20, 2)),
    ] {
        for (name, device) in PRESETS.clone() {
            let mut machine = Machine {
                device,
                ..Machine::new(&kernel_of(&body))
            };
            let device = machine.device.clone();
            check(&format!("{kernel} on {name}"), &device, &mut machine);
        }
    }
}

#[test]
fn resource_times_explain_the_total() {
    for_each_kernel_and_gpu(|name, _, machine| {
        let out = machine.out::<u32>(256);
        for grid in [1, 200] {
            let time = machine.record("k", grid, 256, params![out]).time;
            assert_eq!(time.resources.len(), 8, "{name}");
            assert_eq!(time.binding, time.resources[0].resource, "{name}");
            let parts: Vec<f64> = time
                .resources
                .iter()
                .map(|part| part.milliseconds)
                .collect();
            assert!(parts.is_sorted_by(|a, b| a >= b), "{name}: {parts:?}");
            assert!(parts.iter().all(|part| part.is_finite() && *part >= 0.0));
            // The parts overlap, but not completely; a launch takes a microsecond more.
            assert!(time.milliseconds >= parts[0], "{name}: {time:?}");
            let sum = parts.iter().sum::<f64>() + 1e-3;
            assert!(time.milliseconds <= sum, "{name}: {time:?}");
        }
    });
}

#[test]
fn times_are_deterministic_and_independent_of_profiling() {
    for_each_kernel_and_gpu(|name, _, machine| {
        let out = machine.out::<u32>(256);
        let unprofiled = machine.record("k", 300, 256, params![out]).time;
        machine.options.profile = true;
        let profiled = machine.record("k", 300, 256, params![out]).time;
        machine.use_threads(1);
        let single_threaded = machine.record("k", 300, 256, params![out]).time;
        assert_eq!(unprofiled, profiled, "{name}");
        assert_eq!(unprofiled, single_threaded, "{name}");
    });
}

#[test]
fn more_blocks_never_take_less_time() {
    for_each_kernel_and_gpu(|name, device, machine| {
        let out = machine.out::<u32>(256);
        let sm_count = device.multiprocessors;
        let times = [1, sm_count, sm_count + 1, 3 * sm_count, 10 * sm_count].map(|grid| {
            machine
                .record("k", grid, 256, params![out])
                .time
                .milliseconds
        });
        assert!(times.is_sorted(), "{name}: {times:?}");
    });
}

#[test]
fn delay_loops_take_the_time_that_they_wait() {
    let ptx = kernel_of(
        "mov.u64 %d1, %clock64;
        L: mov.u64 %d2, %clock64;
        sub.u64 %d2, %d2, %d1;
        setp.lt.u64 %p1, %d2, 10000000;
        @%p1 bra L;
        st.global.u64 [%out], %d2;",
    );
    // One wave, and two waves of blocks that fill an SM each.
    let time = |blocks| modelled_time(&ptx, blocks, 1024).milliseconds;
    let resident = 2 * DeviceSpec::h200().multiprocessors;
    assert_near(time(1), cycles(1.03e7), 0.04);
    assert_near(time(resident), cycles(1.03e7), 0.04);
    assert_near(time(resident + 1), cycles(2.06e7), 0.04);
}

#[test]
fn a_busy_block_multiplies_its_work_and_not_the_delay() {
    let kernel = |wait: u32| {
        kernel_of(&format!(
            "mov.u64 %d1, %clock64;
            L: mov.u64 %d2, %clock64;
            sub.u64 %d2, %d2, %d1;
            setp.lt.u64 %p1, %d2, {wait};
            @%p1 bra L;
            st.global.u64 [%out], %d2;
            mov.u32 %r1, %ctaid.x;
            setp.ne.u32 %p2, %r1, 0;
            @%p2 ret;
            {}",
            unrolled_loop("mul.lo.u32 %r2, %r2, %r2;", 8, 50_000)
        ))
    };
    let time = |wait| modelled_time(&kernel(wait), 100, 32).milliseconds;
    // The iterations of the wait are instructions, too, and so are multiplied.
    let extra = time(1_000_000) - time(0);
    assert!((cycles(1e6)..cycles(2e6)).contains(&extra), "{extra}");
}

/// A block ends with its busiest warp, so work that one of four warps does takes four times as long.
#[test]
fn a_block_waits_for_its_busiest_warp() {
    let work = |condition: &str| {
        let body = unrolled_loop("fma.rn.f32 %r1, %r1, %r2, %r3;", 100, 100);
        let ptx = kernel_of(&format!(
            "setp.ge.u32 %p1, %t, {condition}; @%p1 ret; {body}"
        ));
        modelled_time(&ptx, 132, 128)
    };
    let (all, one) = (work("128"), work("32"));
    // The loop is one basic block, which each warp that works executes 100 times.
    let per_warp = resource_time(&all, Resource::Latency);
    assert_near(resource_time(&one, Resource::Latency), per_warp, 0.05);
    let four_rounds = unrolled_loop("fma.rn.f32 %r1, %r1, %r2, %r3;", 100, 400);
    let ptx = kernel_of(&format!("setp.ge.u32 %p1, %t, 32; @%p1 ret; {four_rounds}"));
    let four_times = modelled_time(&ptx, 132, 128);
    assert_near(
        resource_time(&four_times, Resource::Latency),
        4.0 * per_warp,
        0.05,
    );
}

/// Work that one of two blocks does needs the resources of one SM for twice as long.
#[test]
fn a_small_grid_waits_for_its_busiest_block() {
    let work = |busy_blocks: u32, rounds: u32| {
        let body = unrolled_loop("mad.lo.u32 %r1, %r1, %r2, %r3;", 100, rounds);
        let ptx = kernel_of(&format!(
            "mov.u32 %r9, %ctaid.x; setp.ge.u32 %p1, %r9, {busy_blocks}; @%p1 ret; {body}"
        ));
        modelled_time(&ptx, 2, 1024)
    };
    let (both, one) = (work(2, 100), work(1, 200));
    for resource in [Resource::Arithmetic, Resource::Latency] {
        let ratio = resource_time(&one, resource) / resource_time(&both, resource);
        assert_near(ratio, 2.0, 0.05);
    }
}

#[test]
fn sleep_and_fences_take_time() {
    let latency = |body: &str| {
        let time = modelled_time(&kernel_of(body), 132, 128);
        resource_time(&time, Resource::Latency)
    };
    let empty = latency("");
    assert_near(latency("nanosleep.u32 100000;") - empty, 0.1, 1e-6);
    let ten = |fence: &str| latency(&format!("st.global.u32 [%out], %t; {}", fence.repeat(10)));
    let [block, device, system] = ["membar.cta;", "membar.gl;", "membar.sys;"].map(ten);
    assert!(device - block > cycles(4000.0), "{device} {block}");
    assert!(system - device > cycles(10_000.0), "{system} {device}");
}

/// A warp that polls memory waits for another warp, however long it sleeps meanwhile.
#[test]
fn sleep_of_a_polling_warp_takes_no_time() {
    let body = "setp.ne.u32 %p1, %t, 0;
        @%p1 bra WAIT;
        st.release.gpu.global.u32 [%out], 7;
        ret;
        WAIT: ld.acquire.gpu.global.u32 %r1, [%out];
        setp.eq.u32 %p1, %r1, 7;
        @%p1 ret;
        nanosleep.u32 1000000;
        bra WAIT;";
    let time = modelled_time(&kernel_of(body), 1, 64);
    assert!(time.milliseconds < 2.0, "{}", time.milliseconds);
}

/// The device executes one call of its runtime at a time.
#[test]
fn calls_of_the_device_runtime_take_turns() {
    let ptx = "
        .version 7.0 .target sm_70 .address_size 64
        .extern .func (.param .b64 result) malloc (.param .b64 bytes);
        .extern .func free (.param .b64 memory);
        .entry k(.param .u64 out) {
            .reg .b64 %d<2>;
            .param .b64 bytes; .param .b64 result; .param .b64 memory;
            mov.u64 %d0, 16;
            st.param.b64 [bytes], %d0;
            call.uni (result), malloc, (bytes);
            ld.param.b64 %d1, [result];
            st.param.b64 [memory], %d1;
            call.uni free, (memory);
            ret;
        }";
    let latency = |blocks| resource_time(&modelled_time(ptx, blocks, 32), Resource::Latency);
    let (few, many) = (latency(132), latency(1320));
    assert!(few > 0.5, "{few}");
    assert_near(many, 10.0 * few, 1e-6);
}
