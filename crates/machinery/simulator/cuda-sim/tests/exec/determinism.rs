//! Launches give the same results, counts and output on any number of host threads.

use crate::harness::*;
use cuda_sim::model::Modelled;
use cuda_sim::profile::{Counts, LaunchProfile};

/// The results of a launch.
#[derive(Debug, PartialEq)]
struct LaunchResult {
    memory: Vec<u32>,
    counts: Counts,
    time: Modelled,
    profile: Option<Box<LaunchProfile>>,
    printed: Vec<u8>,
}

fn observe(
    (ptx, kernel): (&str, &str),
    (grid, block): (u32, u32),
    threads: usize,
    profile: bool,
) -> LaunchResult {
    let mut machine = Machine::new(ptx);
    machine.options.profile = profile;
    machine.use_threads(threads);
    let count = (grid * block) as usize;
    let input: Vec<u32> = noise(count).into_iter().map(|x| x % 1000).collect();
    let out = machine.buffer(&vec![0u32; 5 * count]);
    let source = machine.buffer(&input);
    let params = match kernel {
        "by_block" => params![],
        "ordered" => params![machine.buffer(&[0u32; 5]), out],
        _ => params![out, source],
    };
    let launch = Launch::new(kernel, grid, block, params).shared(4 * block);
    let report = machine.launch(&launch).unwrap();
    LaunchResult {
        memory: machine.read(out, 5 * count),
        time: record(&report).time.clone(),
        profile: record(&report).profile.clone(),
        counts: report.counts,
        printed: report.printed,
    }
}

#[test]
fn launches_are_deterministic_on_any_number_of_threads() {
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
    // Some SMs have one block, others three, and a few of them are the sample.
    for (case, size) in cases
        .into_iter()
        .flat_map(|case| [(case, (30, 100)), (case, (300, 70))])
    {
        let unprofiled = observe(case, size, 1, false);
        let profiled = observe(case, size, 1, true);
        // Profiling adds a profile and changes nothing else.
        assert_eq!(unprofiled.memory, profiled.memory, "{case:?}");
        assert_eq!(unprofiled.counts, profiled.counts, "{case:?}");
        assert_eq!(unprofiled.time, profiled.time, "{case:?}");
        assert_eq!(
            (unprofiled.profile.is_some(), profiled.profile.is_some()),
            (false, true)
        );
        for threads in [1, 2, 4] {
            let name = format!("{}, {threads} threads", case.1);
            assert_eq!(observe(case, size, threads, false), unprofiled, "{name}");
            assert_eq!(
                observe(case, size, threads, true),
                profiled,
                "{name}, profiled"
            );
        }
    }
}

/// Spinning on a lock is slow and has large counts, but these are the same on each run.
#[test]
fn spin_lock_is_deterministic() {
    let run = |threads| {
        let mut machine = Machine::new(include_str!("../../kernels/ptx/progress.ptx"));
        machine.use_threads(threads);
        let (lock, sum) = (machine.buffer(&[0u32]), machine.buffer(&[0u32]));
        let report = machine.run("spin_lock", 2, 20, params![lock, sum]);
        (report.counts, machine.read::<u32>(sum, 1))
    };
    let first = run(1);
    assert_eq!(run(1), first);
    assert_eq!(run(4), first);
}
