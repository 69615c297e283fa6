//! Random schedules of warps and blocks: correct kernels give correct results in any order, and kernels that
//! depend on the order give wrong results with most seeds.

use crate::harness::*;
use cuda_sim::check::{Checks, FindingKind};
use cuda_sim::exec::{Conditions, FaultKind, TimeLimit};
use std::cell::RefCell;
use std::time::Duration;

const PTX: &str = include_str!("../../kernels/ptx/order.ptx");

/// Launch sizes of a few blocks with a few warps each.
const SIZES: [(u32, u32); 3] = [(4, 128), (6, 64), (3, 256)];

/// Calls `f` with a device that has loaded the kernels, once per thread of the test program.
fn with_machine<T>(seed: Option<u64>, f: impl FnOnce(&mut Machine) -> T) -> T {
    thread_local! {
        static MACHINE: RefCell<Machine> = RefCell::new(Machine::new(PTX));
    }
    MACHINE.with_borrow_mut(|machine| {
        machine.options.conditions = Conditions {
            shuffle: seed,
            ..Conditions::DEFAULT
        };
        f(machine)
    })
}

/// Returns the result of a kernel that counts the threads of its grid.
fn thread_count(seed: Option<u64>, kernel: &str, (grid, block): (u32, u32)) -> u32 {
    with_machine(seed, |machine| {
        let out = machine.buffer(&vec![0u32; 2 + grid as usize]);
        machine.run(kernel, grid, block, params![out]);
        machine.read(out, 1)[0]
    })
}

/// Returns the words that a kernel writes, `words_per_thread` for each of its threads.
fn kernel_words(
    seed: Option<u64>,
    kernel: &str,
    (grid, block): (u32, u32),
    words_per_thread: u32,
) -> Vec<u32> {
    with_machine(seed, |machine| {
        let count = (words_per_thread * grid * block) as usize;
        let out = machine.out::<u32>(count);
        machine.run(kernel, grid, block, params![out]);
        machine.read(out, count)
    })
}

/// Returns true if a kernel that counts the threads of its grid is correct.
fn counts_all(seed: Option<u64>, kernel: &str, size: (u32, u32)) -> bool {
    thread_count(seed, kernel, size) == size.0 * size.1
}

/// Returns true if a kernel writes ones only.
fn writes_ones(seed: Option<u64>, kernel: &str, size: (u32, u32), words_per_thread: u32) -> bool {
    let words = kernel_words(seed, kernel, size, words_per_thread);
    words.iter().all(|&word| word == 1)
}

/// Returns the number of seeds, out of 50, for which `predicate` is true.
fn count_seeds(predicate: impl Fn(Option<u64>) -> bool) -> usize {
    let seeds = (0..50).map(|seed| Some(seed * 0x9e37_79b9));
    seeds.filter(|&seed| predicate(seed)).count()
}

#[test]
fn correct_sums_are_correct_in_every_schedule() {
    let kernels = [
        "add_right",
        "add_locked",
        "add_spinning",
        "add_in_last_block",
        "add_in_a_row",
    ];
    for kernel in kernels {
        for size in SIZES {
            let correct_count = count_seeds(|seed| counts_all(seed, kernel, size));
            assert_eq!(correct_count, 50, "{kernel}, {size:?}");
        }
    }
}

#[test]
fn lost_updates_are_exposed() {
    let kernels = [
        "add_plain",
        "add_volatile",
        "add_by_warp",
        "add_in_halves",
        "add_in_shared",
    ];
    for kernel in kernels {
        for size in SIZES {
            let wrong_count = count_seeds(|seed| !counts_all(seed, kernel, size));
            assert!(wrong_count >= 47, "{kernel}, {size:?}: {wrong_count} of 50");
        }
    }
    // One update per block, and no other shared state.
    let kernels = [
        "add_by_block",
        "add_by_block_with_fence",
        "add_by_block_volatile",
        "add_by_block_in_halves",
    ];
    for kernel in kernels {
        for (size, min_wrong) in [((4, 64), 30), ((12, 64), 47)] {
            let wrong_count = count_seeds(|seed| !counts_all(seed, kernel, size));
            let context = format!("{kernel}, {size:?}: {wrong_count} of 50");
            assert!(wrong_count >= min_wrong, "{context}");
        }
    }
}

#[test]
fn missing_barriers_are_exposed() {
    for kernel in [
        "pass_on_unwritten",
        "pass_on_overwritten",
        "pass_on_without",
    ] {
        for size in SIZES {
            let wrong_count = count_seeds(|seed| !writes_ones(seed, kernel, size, 4));
            assert!(wrong_count >= 45, "{kernel}, {size:?}: {wrong_count} of 50");
        }
    }
    for size in SIZES {
        let is_correct = |seed| writes_ones(seed, "pass_on_right", size, 4);
        assert!(is_correct(None), "{size:?}, in the usual order");
        assert_eq!(count_seeds(is_correct), 50, "{size:?}");
    }
}

#[test]
fn last_writer_is_exposed() {
    for size in SIZES {
        let wrong_count = count_seeds(|seed| !writes_ones(seed, "write_twice", size, 1));
        assert!(wrong_count >= 47, "{size:?}: {wrong_count} of 50");
    }
}

#[test]
fn lanes_that_wait_for_each_other_make_progress() {
    for size in SIZES {
        let correct_count = count_seeds(|seed| writes_ones(seed, "within_a_warp", size, 1));
        assert_eq!(correct_count, 50, "{size:?}");
    }
}

#[test]
fn seed_determines_the_schedule() {
    let size = (4, 128);
    for kernel in ["add_volatile", "add_in_halves"] {
        let sums = || (0..20).map(|seed| thread_count(Some(seed), kernel, size));
        let first: Vec<u32> = sums().collect();
        assert!(sums().eq(first.iter().copied()), "{kernel}");
        let differs = first.iter().any(|sum| *sum != first[0]);
        assert!(differs, "{kernel}: {first:?}");
    }
}

#[test]
fn random_schedules_work_with_checks() {
    let mut machine = Machine::new(PTX);
    machine.options.conditions.shuffle = Some(3);
    machine.options.checks = Checks::ALL;
    let out = machine.buffer(&[0u32; 6]);
    let report = machine.run("add_in_last_block", 4, 128, params![out]);
    assert_eq!(machine.read::<u32>(out, 1), [512]);
    assert_eq!(report.findings, []);
    let mut machine = Machine::new(&module_of(
        ".shared .b32 tile[64];",
        "mul.lo.u32 %r1, %t, 4;
        mov.u32 %r2, tile;
        add.u32 %r3, %r2, %r1;
        xor.b32 %r1, %r1, 128;
        add.u32 %r4, %r2, %r1;
        st.shared.u32 [%r3], %t;
        ld.shared.u32 %r5, [%r4];
        st.global.u32 [%mine], %r5;",
    ));
    machine.options.conditions.shuffle = Some(3);
    machine.options.checks = Checks::ALL;
    let out = machine.out::<u32>(64);
    let report = machine.run("k", 1, 64, params![out]);
    let kinds: Vec<FindingKind> = report.findings.iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&FindingKind::ReadAfterWrite), "{kinds:?}");
}

#[test]
fn random_schedules_have_no_profile() {
    let mut machine = Machine::profiling(PTX);
    let out = machine.buffer(&[0u32; 6]);
    for seed in [None, Some(3)] {
        machine.options.conditions.shuffle = seed;
        let report = machine.run("add_right", 4, 128, params![out]);
        assert_eq!(record(&report).profile.is_none(), seed.is_some());
    }
}

#[test]
fn endless_launch_is_stopped() {
    let mut machine = Machine::new(PTX);
    machine.options.time_limit = Some(TimeLimit::Launch(Duration::from_millis(200)));
    for seed in [None, Some(3)] {
        machine.options.conditions.shuffle = seed;
        // The lock is already taken.
        let out = machine.buffer(&[0u32, 1]);
        let fault = machine.fault("add_spinning", 4, 64, params![out]);
        assert!(matches!(fault.kind, FaultKind::Timeout { .. }), "{fault}");
    }
}
