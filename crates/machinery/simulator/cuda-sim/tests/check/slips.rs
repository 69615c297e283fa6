//! Kernels compiled by clang: each bug is reported on its line, and correct kernels of the same shape are not
//! reported.

use crate::*;
use cuda_sim::exec::{FaultKind, TimeLimit};
use std::time::Duration;

const SOURCE: &str = include_str!("../../kernels/slips.cu");
const PTX: &str = include_str!("../../kernels/ptx/slips.ptx");

/// Returns the input: a different number for each thread.
fn input_values() -> Vec<i32> {
    (0..256).map(|n| n * 37 % 251).collect()
}

/// Returns the findings in a kernel.
fn check_kernel(kernel: &str) -> Vec<Finding> {
    let mut machine = checking_machine(PTX);
    let (input, out) = (
        machine.buffer(&input_values()),
        machine.buffer(&[0i32; 256]),
    );
    machine.run(kernel, 4, 64, params![input, out]).findings
}

/// Returns the marked lines of a kernel.
fn marked_lines(kernel: &str) -> Vec<u32> {
    let lines = SOURCE.lines().zip(1..);
    let kernel_lines = lines
        .skip_while(|(line, _)| {
            !line.contains(&format!("{kernel})")) && !line.contains(&format!("{kernel}("))
        })
        .take_while(|&(line, _)| line != "}");
    let marked_lines = kernel_lines.filter(|(line, _)| line.ends_with("// BUG"));
    marked_lines.map(|(_, number)| number).collect()
}

#[test]
fn every_bug_is_reported_on_its_line() {
    for (kernel, kind) in [
        ("barrier_in_if", EndedBeforeBarrier),
        ("return_early", EndedBeforeBarrier),
        ("loop_of_barriers", EndedBeforeBarrier),
        ("shuffle_too_far", ShuffleFromAbsentLane),
        ("shuffle_next", ShuffleFromAbsentLane),
        ("last_block", InterBlockRace),
        ("in_place", ReadAfterWrite),
        ("same_place", WriteAfterWrite),
        ("next_array", OtherArray),
        ("own_array", UninitializedLocal),
    ] {
        let (findings, lines) = (check_kernel(kernel), marked_lines(kernel));
        assert!(!lines.is_empty(), "{kernel}");
        let is_expected =
            |finding: &Finding| finding.kind == kind && lines.contains(&finding.source.line);
        assert!(findings.iter().any(is_expected), "{kernel}: {findings:#?}");
    }
}

#[test]
fn correct_kernels_are_not_reported() {
    let correct = SOURCE
        .split("KERNEL(")
        .chain(SOURCE.split("__global__ void "));
    let names = correct.filter_map(|after_prefix| after_prefix.split([')', '(']).next());
    let names: Vec<&str> = names.filter(|name| name.ends_with("_right")).collect();
    assert_eq!(names.len(), 11);
    for kernel in names {
        let findings = check_kernel(kernel);
        assert!(findings.is_empty(), "{kernel}: {findings:#?}");
    }
}

/// A fence in a kernel that is not called must not disable any check.
#[test]
fn fence_in_another_kernel_changes_nothing() {
    assert!(PTX.contains("membar.gl"));
    let without: String = PTX
        .lines()
        .filter(|line| !line.contains("membar.gl"))
        .collect::<Vec<_>>()
        .join("\n");
    for kernel in ["last_block", "in_place", "same_place"] {
        let mut machine = checking_machine(&without);
        let (input, out) = (
            machine.buffer(&input_values()),
            machine.buffer(&[0i32; 256]),
        );
        let without_fence = machine.run(kernel, 4, 64, params![input, out]).findings;
        let kinds = |findings: &[Finding]| -> Vec<_> {
            findings
                .iter()
                .map(|finding| (finding.kind, finding.count))
                .collect()
        };
        assert_eq!(
            kinds(&without_fence),
            kinds(&check_kernel(kernel)),
            "{kernel}"
        );
    }
}

#[test]
fn contended_locks_make_progress_and_a_held_lock_times_out() {
    for (grid, block) in [(1u32, 32u32), (4, 64), (1, 256), (64, 32)] {
        for kernel in ["lock_naive", "lock_in_loop"] {
            for checks in [Checks::NONE, Checks::ALL] {
                let mut machine = checking_machine(PTX);
                machine.options.checks = checks;
                let (input, out) = (machine.buffer(&[1i32; 256]), machine.buffer(&[0i32; 256]));
                let report = machine.run(kernel, grid, block, params![input, out]);
                let threads = grid * block;
                assert_eq!(machine.read::<i32>(out, 1), [threads as i32], "{kernel}");
                assert!(
                    report.findings.is_empty(),
                    "{kernel}: {:#?}",
                    report.findings
                );
                // Passing the lock on takes a few atomics, not a time slice of 65,536 instructions.
                let atomics = report.counts.atomics;
                let max_atomics = 50 * u64::from(threads);
                assert!(
                    atomics < max_atomics,
                    "{kernel} {grid} × {block}: {atomics}"
                );
            }
        }
    }
    let mut machine = checking_machine(PTX);
    machine.options.time_limit = Some(TimeLimit::Launch(Duration::from_millis(300)));
    let (input, out) = (machine.buffer(&[1i32; 256]), machine.buffer(&[0i32; 256]));
    let fault = machine.fault("lock_kept", 4, 64, params![input, out]);
    assert!(matches!(fault.kind, FaultKind::Timeout { .. }), "{fault}");
}
