//! The time model: the resource that limits a kernel, its duration, and the number of resident blocks.
//!
//! Each kernel uses mainly one resource, so that its expected time follows from one or two rates of the
//! GPU.

use crate::harness::{Machine, kernel_of, module_of};
use crate::params;
use cuda_sim::device::{DeviceSpec, PRESETS};
use cuda_sim::model::{Modelled, OccupancyLimit, Resource};

/// Resident warps per SM of an H200 in [`busy`].
const BUSY_WARPS: u32 = 64;

/// Returns the modelled time of a launch that fills an H200: two blocks of 1024 threads on each SM.
fn busy(ptx: &str) -> Modelled {
    modelled(ptx, 2 * DeviceSpec::h200().multiprocessors, 1024)
}

/// Returns the modelled time of a launch on an H200, for a kernel of [`kernel_of`] that reads and writes
/// little.
fn modelled(ptx: &str, grid: u32, block: u32) -> Modelled {
    let mut machine = Machine::new(ptx);
    let out = machine.out::<u32>(block as usize);
    machine.run("k", grid, block, params![out]).time
}

fn part(time: &Modelled, resource: Resource) -> f64 {
    let parts = time.parts.iter();
    let mut found = parts.filter(|part| part.resource == resource);
    let part = found.next().expect("every resource has a part");
    assert!(found.next().is_none(), "{resource} is there twice");
    part.milliseconds
}

/// Returns the milliseconds of `count` cycles of an H200.
fn cycles(count: f64) -> f64 {
    count / f64::from(DeviceSpec::h200().clock_khz)
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    let off = (found / expected - 1.0).abs();
    assert!(off <= tolerance, "{found} is not near {expected}");
}

/// Returns a loop of `rounds` iterations with `body` unrolled `times` times.
fn repeated(body: &str, times: usize, rounds: u32) -> String {
    format!(
        "mov.u32 %r30, 0;
        LOOP: {}
        add.u32 %r30, %r30, 1;
        setp.lt.u32 %p9, %r30, {rounds};
        @%p9 bra LOOP;",
        body.repeat(times)
    )
}

/// Returns a kernel in which each thread copies 16 bytes from `out` to an address `bytes` bytes later.
fn copy_of(bytes: u32) -> String {
    kernel_of(&format!(
        "mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mad.lo.u32 %r1, %r1, %r2, %t;
        mad.wide.u32 %d1, %r1, 16, %out;
        ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d1];
        st.global.v4.u32 [%d1+{bytes}], {{%r4, %r5, %r6, %r7}};"
    ))
}

fn copied(device: DeviceSpec, bytes: u32) -> Modelled {
    let mut machine = Machine {
        device,
        ..Machine::new(&copy_of(bytes))
    };
    let out = machine.out::<u8>(2 * bytes as usize);
    machine.run("k", bytes / 16 / 256, 256, params![out]).time
}

#[test]
fn an_empty_kernel_takes_its_launch() {
    for (name, device) in PRESETS.clone() {
        let launch = device.rates.launch_seconds * 1e3;
        let machine = Machine {
            device,
            ..Machine::new(".version 7.0 .target sm_52 .address_size 64 .entry k() { ret; }")
        };
        let time = machine.run("k", 1, 32, params![]).time;
        assert_eq!(time.milliseconds, launch, "{name}");
        assert_eq!(time.binding, Resource::Launch, "{name}");
        assert_eq!(time.gpu, machine.device.models, "{name}");
    }
}

#[test]
fn integers_are_bound_by_arithmetic() {
    let (times, rounds) = (200, 4);
    let time = busy(&kernel_of(&repeated(
        "mad.lo.u32 %r1, %r1, %r2, %r3;",
        times,
        rounds,
    )));
    assert_eq!(time.binding, Resource::Arithmetic);
    let warp_cycles = 32.0 / DeviceSpec::h200().rates.integer_lanes;
    let instructions = f64::from(BUSY_WARPS * rounds) * times as f64;
    let expected = cycles(instructions * warp_cycles);
    assert_near(part(&time, Resource::Arithmetic), expected, 0.05);
    assert!(time.milliseconds >= expected);
}

/// The lanes can keep up with the schedulers, so the loop's other instructions make issue the bottleneck.
#[test]
fn multiply_adds_are_bound_by_issue() {
    let (times, rounds) = (200, 4);
    let time = busy(&kernel_of(&repeated(
        "fma.rn.f32 %r1, %r1, %r2, %r3;",
        times,
        rounds,
    )));
    assert_eq!(time.binding, Resource::Issue);
    let instructions = f64::from(BUSY_WARPS * rounds) * times as f64;
    let expected = cycles(instructions / DeviceSpec::h200().rates.issued_per_cycle);
    assert_near(part(&time, Resource::Issue), expected, 0.05);
    assert_near(part(&time, Resource::Arithmetic), expected, 0.05);
}

#[test]
fn doubles_are_slow_where_few_lanes_compute_them() {
    let ptx = kernel_of(&repeated("fma.rn.f64 %d1, %d2, %d3, %d1;", 100, 4));
    let on = |device: DeviceSpec| {
        let mut machine = Machine {
            device,
            ..Machine::new(&ptx)
        };
        let out = machine.out::<u32>(1);
        machine.run("k", 528, 256, params![out]).time
    };
    let (h200, rtx3090) = (on(DeviceSpec::h200()), on(DeviceSpec::rtx3090()));
    assert_eq!(rtx3090.binding, Resource::Arithmetic);
    assert!(part(&rtx3090, Resource::Arithmetic) > 30.0 * part(&h200, Resource::Arithmetic));
}

#[test]
fn bank_conflicts_take_a_wavefront_each() {
    let mut one = 0.0;
    for stride in [1, 2, 4, 8, 16, 32] {
        let loads = repeated("ld.shared.u32 %r2, [%r1];", 100, 2);
        let time = busy(&module_of(
            ".shared .b32 tile[1024];",
            &format!(
                "mov.u32 %r1, tile;
                and.b32 %r3, %t, 31;
                mad.lo.u32 %r1, %r3, {}, %r1;
                {loads}",
                4 * stride
            ),
        ));
        let found = part(&time, Resource::L1Shared);
        if stride == 1 {
            one = found;
            let wavefronts = f64::from(BUSY_WARPS) * 200.0;
            let rate = DeviceSpec::h200().rates.load_store_wavefronts;
            assert_near(one, cycles(wavefronts / rate), 0.001);
        }
        assert_near(found, f64::from(stride) * one, 1e-9);
        assert_eq!(time.binding, Resource::L1Shared, "stride {stride}");
    }
}

#[test]
fn distinct_constant_addresses_bind_to_the_constant_cache() {
    let read = |index: &str, rounds: u32| {
        let loads = repeated("ld.const.u32 %r2, [%d1];", 100, rounds);
        busy(&module_of(
            ".const .b32 table[64];",
            &format!(
                "and.b32 %r1, %t, {index};
                mov.u64 %d1, table;
                mad.wide.u32 %d1, %r1, 4, %d1;
                {loads}"
            ),
        ))
    };
    let (same, apart) = (read("0", 2), read("31", 2));
    assert_eq!(apart.binding, Resource::ConstantCache);
    let ratio = part(&apart, Resource::ConstantCache) / part(&same, Resource::ConstantCache);
    assert_near(ratio, 32.0, 0.05);
    let hits = f64::from(BUSY_WARPS) * 200.0 * 32.0;
    let hit_cycles = DeviceSpec::h200().rates.constant_hit_cycles;
    assert_near(
        part(&apart, Resource::ConstantCache),
        cycles(hits * hit_cycles),
        0.05,
    );
}

/// Reads one line after another, so that a cache smaller than the table holds none of them when they are read
/// again.
#[test]
fn constants_beyond_the_first_cache_take_longer() {
    let walk = |bytes: u32| {
        let ptx = module_of(
            ".const .align 64 .b8 table[65536];",
            &format!(
                "mov.u32 %r1, 0;
                mov.u64 %d1, table;
                mov.u64 %d3, table;
                {}",
                repeated(
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
        modelled(&ptx, 132, 32)
    };
    let rates = DeviceSpec::h200().rates;
    let [near, behind, far] = [1 << 10, 16 << 10, 64 << 10]
        .map(walk)
        .map(|time| part(&time, Resource::ConstantCache));
    let (hit, miss) = (rates.constant_hit_cycles, rates.constant_l15_cycles);
    assert_near(behind / near, miss / hit, 0.2);
    assert_near(far / near, rates.constant_l2_cycles / hit, 0.2);
}

#[test]
fn what_the_second_cache_does_not_hold_is_bound_by_memory() {
    let bytes = 32 << 20;
    let device = DeviceSpec::h200();
    let time = copied(device.clone(), bytes);
    assert_eq!(time.binding, Resource::Memory);
    let moved = 2.0 * f64::from(bytes);
    let expected = moved / device.rates.achieved_memory_bandwidth * 1e3;
    assert_near(part(&time, Resource::Memory), expected, 1e-6);
    assert_near(time.milliseconds, expected, 0.5);
    assert_eq!(
        (time.roofline.bytes, time.roofline.operations),
        (moved, 0.0)
    );
}

#[test]
fn what_the_second_cache_holds_does_not_go_to_memory() {
    let time = copied(DeviceSpec::h200(), 8 << 20);
    assert_eq!(part(&time, Resource::Memory), 0.0);
    assert!(part(&time, Resource::L2) > 0.0);
    assert!(
        matches!(time.binding, Resource::L2 | Resource::Latency),
        "{}",
        time.binding
    );
}

#[test]
fn a_chain_of_loads_is_bound_by_latency() {
    let ptx = kernel_of(&format!(
        "mov.u64 %d1, %out; {}",
        repeated("ld.global.u64 %d1, [%d1];", 1, 1000)
    ));
    let mut machine = Machine::new(&ptx);
    let cell = machine.buffer(&[0u64]);
    machine.write(cell, &cell.to_le_bytes());
    let time = machine.run("k", 1, 32, params![cell]).time;
    assert_eq!(time.binding, Resource::Latency);
    // All loads after the first hit the L1 cache.
    let expected = cycles(1000.0 * DeviceSpec::h200().rates.latency.l1);
    assert_near(part(&time, Resource::Latency), expected, 0.1);
}

#[test]
fn latency_is_hidden_by_other_warps() {
    let ptx = kernel_of(&repeated("fma.rn.f32 %r1, %r1, %r2, %r3;", 100, 100));
    let (few, many) = (modelled(&ptx, 132, 32), modelled(&ptx, 132, 1024));
    assert_eq!(few.binding, Resource::Latency);
    assert_eq!(many.binding, Resource::Issue);
    // 32 times the work.
    assert!(many.milliseconds < 3.0 * few.milliseconds);
}

#[test]
fn many_blocks_of_little_are_bound_by_launching() {
    let blocks = 1 << 18;
    let time = modelled(&kernel_of(""), blocks, 32);
    assert_eq!(time.binding, Resource::Launch);
    let expected = cycles(f64::from(blocks) * DeviceSpec::h200().rates.block_interval_cycles);
    assert_near(part(&time, Resource::Launch), expected, 1e-9);
    assert_near(time.milliseconds, expected, 0.1);
}

/// One block more than the SMs take evenly makes one SM work for twice as long.
#[test]
fn a_block_too_many_takes_a_round_of_its_own() {
    let ptx = kernel_of(&repeated("mad.lo.u32 %r1, %r1, %r2, %r3;", 100, 4));
    let arithmetic = |blocks| part(&modelled(&ptx, blocks, 1024), Resource::Arithmetic);
    let full = arithmetic(132);
    assert_near(arithmetic(1), full, 1e-9);
    assert_near(arithmetic(131), full, 1e-9);
    assert_near(arithmetic(133), 2.0 * full, 1e-9);
    assert_near(arithmetic(264), 2.0 * full, 1e-9);
}

/// A block that is not resident with the others waits for them: two blocks of 1024 threads are resident at
/// once.
#[test]
fn blocks_that_find_no_place_wait_for_a_whole_round() {
    let ptx = kernel_of(&repeated("mad.lo.u32 %r1, %r1, %r2, %r3;", 100, 4));
    let latency = |blocks| part(&modelled(&ptx, blocks, 1024), Resource::Latency);
    let round = latency(1);
    assert_near(latency(264), round, 1e-9);
    assert_near(latency(265), 2.0 * round, 1e-9);
    assert_near(latency(528), 2.0 * round, 1e-9);
}

/// A launch ends with its longest block, however short the others are.
#[test]
fn all_wait_for_the_block_that_does_most() {
    let work = repeated("fma.rn.f32 %r1, %r1, %r2, %r3;", 100, 100);
    let alone = kernel_of(&format!(
        "mov.u32 %r31, %ctaid.x; setp.ne.u32 %p8, %r31, 0; @%p8 exit; {work}"
    ));
    let latency = |ptx: &str, blocks| part(&modelled(ptx, blocks, 32), Resource::Latency);
    let one = latency(&alone, 1);
    // Never less than one block alone, and a little more, because work is counted in instructions and the
    // other blocks' few instructions wait longer.
    for (blocks, at_most) in [(132, 1.1), (1000, 1.3)] {
        let times = latency(&alone, blocks) / one;
        assert!((1.0..at_most).contains(&times), "{blocks}: {times}");
    }
    // Also if the other blocks look busy, because they never stall.
    let loads = repeated("ld.global.u32 %r1, [%out];", 1, 500);
    let spins = repeated("fma.rn.f32 %r1, %r1, %r2, %r3;", 10, 500).replace("LOOP", "SPIN");
    let busy = kernel_of(&format!(
        "mov.u32 %r31, %ctaid.x; setp.ne.u32 %p8, %r31, 0; @%p8 bra ELSE; {loads} exit; ELSE: {spins}"
    ));
    let alone = latency(&kernel_of(&loads), 1);
    assert!(latency(&busy, 64) > 0.9 * alone);
    // If all blocks do the work, they do it in parallel.
    assert_near(latency(&kernel_of(&work), 132), one, 0.02);
}

#[test]
fn operations_are_counted_for_the_roofline() {
    let ptx = kernel_of(&repeated("fma.rn.f32 %r1, %r1, %r2, %r3;", 10, 5));
    let time = modelled(&ptx, 7, 100);
    assert_eq!(time.roofline.operations, 2.0 * 50.0 * 700.0);
    // 132 SMs, 128 lanes, 1.98 GHz, two operations.
    assert_near(time.roofline.peak_operations, 66.9e12, 0.001);
    assert_eq!(time.roofline.peak_bandwidth, 4.8e12);
}

#[test]
fn occupancy_is_limited_by_what_runs_out_first() {
    let plain = kernel_of("");
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
        ("one block", &plain, 1, 1024, Grid, 1),
        ("a block each", &plain, 132, 64, Grid, 1),
        ("large blocks", &plain, 10_000, 1024, Threads, 2),
        ("odd blocks", &plain, 10_000, 700, Threads, 2),
        ("small blocks", &plain, 10_000, 32, Blocks, 32),
        // 228 KB per SM, and each block takes 40 000 bytes and 1 KB.
        ("shared memory", &shared, 10_000, 64, SharedMemory, 5),
        // Half of the 200 and the address: 104 registers after rounding up to the allocation unit, so 19 warps.
        ("registers", &registers, 10_000, 256, Registers, 2),
    ] {
        let found = modelled(ptx, grid, block).occupancy;
        assert_eq!((found.limit, found.blocks), (limit, blocks), "{name}");
        assert_eq!(found.warps, blocks * block.div_ceil(32), "{name}");
        assert_eq!(found.most_warps, 64, "{name}");
    }
}

#[test]
fn a_copy_takes_longer_on_each_older_gpu() {
    let times: Vec<(&str, f64)> = PRESETS
        .clone()
        .into_iter()
        .map(|(name, device)| (name, copied(device, 32 << 20).milliseconds))
        .collect();
    assert!(
        times.windows(2).all(|two| 1.2 * two[0].1 < two[1].1),
        "{times:?}"
    );
}

/// Calls `check` for kernels that use different resources, on all GPUs.
fn everywhere(check: impl Fn(&str, &DeviceSpec, &mut Machine)) {
    for (kernel, body) in [
        ("nothing", String::new()),
        (
            "arithmetic",
            repeated("mad.lo.u32 %r1, %r1, %r1, %t;", 50, 4),
        ),
        ("chain", repeated("ld.global.u32 %r1, [%mine];", 50, 4)),
        ("stores", repeated("st.global.u32 [%mine], %t;", 20, 4)),
        ("atomics", repeated("red.global.add.u32 [%out], 1;", 20, 2)),
        ("barriers", repeated("bar.sync 0;", 20, 2)),
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
fn parts_explain_the_time() {
    everywhere(|name, _, machine| {
        let out = machine.out::<u32>(256);
        for grid in [1, 200] {
            let time = machine.run("k", grid, 256, params![out]).time;
            assert_eq!(time.parts.len(), 8, "{name}");
            assert_eq!(time.binding, time.parts[0].resource, "{name}");
            let parts: Vec<f64> = time.parts.iter().map(|part| part.milliseconds).collect();
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
fn times_are_the_same_again_and_profiled() {
    everywhere(|name, _, machine| {
        let out = machine.out::<u32>(256);
        let plain = machine.run("k", 300, 256, params![out]).time;
        machine.profile = true;
        let profiled = machine.run("k", 300, 256, params![out]).time;
        machine.use_threads(1);
        let alone = machine.run("k", 300, 256, params![out]).time;
        assert_eq!(plain, profiled, "{name}");
        assert_eq!(plain, alone, "{name}");
    });
}

#[test]
fn more_blocks_never_take_less() {
    everywhere(|name, device, machine| {
        let out = machine.out::<u32>(256);
        let few = device.multiprocessors;
        let times = [1, few, few + 1, 3 * few, 10 * few]
            .map(|grid| machine.run("k", grid, 256, params![out]).time.milliseconds);
        assert!(times.is_sorted(), "{name}: {times:?}");
    });
}
