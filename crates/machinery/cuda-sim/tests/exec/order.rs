//! Random schedules of warps and blocks: correct kernels give correct results in any order, and kernels that
//! depend on the order give wrong results with most seeds.

use crate::harness::{Machine, module_of};
use crate::params;
use cuda_sim::check::{Checks, FindingKind};
use cuda_sim::exec::{Conditions, FaultKind};
use std::cell::RefCell;
use std::time::Duration;

const PTX: &str = include_str!("../../kernels/ptx/order.ptx");

/// Launch sizes of a few blocks with a few warps each.
const SIZES: [(u32, u32); 3] = [(4, 128), (6, 64), (3, 256)];

/// Calls `f` with a device that has loaded the kernels, once per thread of the test program.
fn machine<T>(seed: Option<u64>, use_it: impl FnOnce(&mut Machine) -> T) -> T {
    thread_local! {
        static MACHINE: RefCell<Machine> = RefCell::new(Machine::new(PTX));
    }
    MACHINE.with_borrow_mut(|machine| {
        machine.conditions = Conditions {
            shuffle: seed,
            ..Conditions::USUAL
        };
        use_it(machine)
    })
}

/// Returns the result of a kernel that counts the threads of its grid.
fn sum(seed: Option<u64>, kernel: &str, (grid, block): (u32, u32)) -> u32 {
    machine(seed, |machine| {
        let out = machine.buffer(&vec![0u32; 2 + grid as usize]);
        machine.run(kernel, grid, block, params![out]);
        machine.read(out, 1)[0]
    })
}

/// Returns the words that a kernel writes, `times` for each of its threads.
fn words(seed: Option<u64>, kernel: &str, (grid, block): (u32, u32), times: u32) -> Vec<u32> {
    machine(seed, |machine| {
        let count = (times * grid * block) as usize;
        let out = machine.out::<u32>(count);
        machine.run(kernel, grid, block, params![out]);
        machine.read(out, count)
    })
}

/// Returns the number of seeds, out of 50, for which `predicate` is true.
fn seeds(holds: impl Fn(u64) -> bool) -> usize {
    (0..50).filter(|&seed| holds(seed * 0x9e37_79b9)).count()
}

#[test]
fn right_sums_are_right_in_every_order() {
    let kernels = [
        "add_right",
        "add_locked",
        "add_spinning",
        "add_in_last_block",
        "add_in_a_row",
    ];
    for kernel in kernels {
        for size in SIZES {
            let right = |seed| sum(seed, kernel, size) == size.0 * size.1;
            assert_eq!(seeds(|seed| right(Some(seed))), 50, "{kernel}, {size:?}");
        }
    }
}

#[test]
fn lost_updates_show() {
    let kernels = [
        "add_plain",
        "add_volatile",
        "add_by_warp",
        "add_in_halves",
        "add_in_shared",
    ];
    for kernel in kernels {
        for size in SIZES {
            let right = |seed| sum(seed, kernel, size) == size.0 * size.1;
            let wrong = seeds(|seed| !right(Some(seed)));
            assert!(wrong >= 47, "{kernel}, {size:?}: {wrong} of 50");
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
        for (size, least) in [((4, 64), 30), ((12, 64), 47)] {
            let right = |seed| sum(seed, kernel, size) == size.0 * size.1;
            let wrong = seeds(|seed| !right(Some(seed)));
            assert!(wrong >= least, "{kernel}, {size:?}: {wrong} of 50");
        }
    }
}

#[test]
fn missing_barriers_show() {
    let right = |seed, kernel, size| words(seed, kernel, size, 4).iter().all(|&word| word == 1);
    for kernel in [
        "pass_on_unwritten",
        "pass_on_overwritten",
        "pass_on_without",
    ] {
        for size in SIZES {
            let wrong = seeds(|seed| !right(Some(seed), kernel, size));
            assert!(wrong >= 45, "{kernel}, {size:?}: {wrong} of 50");
        }
    }
    for size in SIZES {
        let right = |seed| right(seed, "pass_on_right", size);
        assert!(right(None), "{size:?}, in the usual order");
        assert_eq!(seeds(|seed| right(Some(seed))), 50, "{size:?}");
    }
}

#[test]
fn who_writes_last_shows() {
    for size in SIZES {
        let right = |seed| {
            words(seed, "write_twice", size, 1)
                .iter()
                .all(|&word| word == 1)
        };
        let wrong = seeds(|seed| !right(Some(seed)));
        assert!(wrong >= 47, "{size:?}: {wrong} of 50");
    }
}

#[test]
fn lanes_that_wait_for_each_other_go_on() {
    for size in SIZES {
        let right = |seed| {
            words(Some(seed), "within_a_warp", size, 1)
                .iter()
                .all(|&word| word == 1)
        };
        assert_eq!(seeds(right), 50, "{size:?}");
    }
}

#[test]
fn a_seed_gives_the_same_order_each_time() {
    let size = (4, 128);
    for kernel in ["add_volatile", "add_in_halves"] {
        let sums: Vec<u32> = (0..20).map(|seed| sum(Some(seed), kernel, size)).collect();
        let again: Vec<u32> = (0..20).map(|seed| sum(Some(seed), kernel, size)).collect();
        assert_eq!(sums, again, "{kernel}");
        assert!(sums.iter().any(|sum| *sum != sums[0]), "{kernel}: {sums:?}");
    }
}

#[test]
fn it_goes_with_checks() {
    let mut machine = Machine::new(PTX);
    machine.conditions.shuffle = Some(3);
    machine.checks = Checks::ALL;
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
    machine.conditions.shuffle = Some(3);
    machine.checks = Checks::ALL;
    let out = machine.out::<u32>(64);
    let report = machine.run("k", 1, 64, params![out]);
    let kinds: Vec<FindingKind> = report.findings.iter().map(|found| found.kind).collect();
    assert!(kinds.contains(&FindingKind::ReadAfterWrite), "{kinds:?}");
}

#[test]
fn such_launches_have_no_profile() {
    let mut machine = Machine::profiling(PTX);
    let out = machine.buffer(&[0u32; 6]);
    for seed in [None, Some(3)] {
        machine.conditions.shuffle = seed;
        let report = machine.run("add_right", 4, 128, params![out]);
        assert_eq!(report.profile.is_none(), seed.is_some());
    }
}

#[test]
fn a_launch_that_never_ends_is_stopped() {
    let mut machine = Machine::new(PTX);
    machine.time_limit = Duration::from_millis(200);
    for seed in [None, Some(3)] {
        machine.conditions.shuffle = seed;
        // The lock is already taken.
        let out = machine.buffer(&[0u32, 1]);
        let fault = machine.fault("add_spinning", 4, 64, params![out]);
        assert!(matches!(fault.kind, FaultKind::Timeout { .. }), "{fault}");
    }
}
