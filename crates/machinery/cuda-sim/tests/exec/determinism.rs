//! The same launch gives the same results, counts and text, however many threads run it.

use crate::harness::{Machine, noise};
use crate::params;

/// One launch's memory, counts (as they print themselves) and text.
fn observe(
    ptx: &str,
    kernel: &str,
    grid: u32,
    block: u32,
    threads: usize,
) -> (Vec<u32>, String, Vec<u8>) {
    let mut machine = Machine::new(ptx);
    machine.use_threads(threads);
    machine.dynamic_shared = 4 * block;
    let count = (grid * block) as usize;
    let input: Vec<u32> = noise(count).into_iter().map(|x| x % 1000).collect();
    let (out, from) = (
        machine.buffer(&vec![0u32; 5 * count]),
        machine.buffer(&input),
    );
    let report = match kernel {
        "by_block" => machine.run(kernel, grid, block, params![]),
        "ordered" => {
            let place = machine.buffer(&[0u32; 5]);
            machine.run(kernel, grid, block, params![place, out])
        }
        _ => machine.run(kernel, grid, block, params![out, from]),
    };
    let counts = format!("{:?} {}", report.counts, report.milliseconds);
    (machine.read(out, 5 * count), counts, report.printed)
}

#[test]
fn launches_repeat_on_any_number_of_threads() {
    let cases = [
        (
            include_str!("../../kernels/ptx/divergence.ptx"),
            "in_functions",
        ),
        (
            include_str!("../../kernels/ptx/divergence.ptx"),
            "nested_loops",
        ),
        (include_str!("../../kernels/ptx/barriers.ptx"), "scan"),
        (include_str!("../../kernels/ptx/memory.ptx"), "local_array"),
        (include_str!("../../kernels/ptx/atomics.ptx"), "ordered"),
        (
            include_str!("../../kernels/ptx/atomics.ptx"),
            "operations_u32",
        ),
        (include_str!("../../kernels/ptx/atomics.ptx"), "float_sum"),
        (include_str!("../../kernels/ptx/printing.ptx"), "by_block"),
    ];
    for (ptx, kernel) in cases {
        let first = observe(ptx, kernel, 30, 100, 1);
        for threads in [1, 2, 4] {
            assert_eq!(
                observe(ptx, kernel, 30, 100, threads),
                first,
                "{kernel}, {threads} threads"
            );
        }
    }
}

/// Spinning on a lock is slow and its counts are many, but the same each time on one thread.
#[test]
fn a_spin_lock_repeats() {
    let run = |threads| {
        let mut machine = Machine::new(include_str!("../../kernels/ptx/progress.ptx"));
        machine.use_threads(threads);
        let (lock, sum) = (machine.buffer(&[0u32]), machine.buffer(&[0u32]));
        let report = machine.run("spin_lock", 2, 40, params![lock, sum]);
        (report.counts, machine.read::<u32>(sum, 1))
    };
    let first = run(1);
    assert_eq!(run(1), first);
    assert_eq!(run(4), first);
}
