//! Kernels compiled by clang: each bug is reported on its line, and correct kernels of the same shape are not
//! reported.

use crate::{checking, params};
use cuda_sim::check::{Finding, FindingKind};
use cuda_sim::exec::FaultKind;
use std::time::Duration;

const SOURCE: &str = include_str!("../../kernels/slips.cu");
const PTX: &str = include_str!("../../kernels/ptx/slips.ptx");

/// Returns the input: a different number for each thread.
fn numbers() -> Vec<i32> {
    (0..256).map(|n| n * 37 % 251).collect()
}

/// Returns the findings in a kernel.
fn found(kernel: &str) -> Vec<Finding> {
    let mut machine = checking(PTX);
    let (input, out) = (machine.buffer(&numbers()), machine.buffer(&[0i32; 256]));
    machine.run(kernel, 4, 64, params![input, out]).findings
}

/// Returns the marked lines of a kernel.
fn marked(kernel: &str) -> Vec<u32> {
    let lines = SOURCE.lines().zip(1..);
    let of_kernel = lines
        .skip_while(|(line, _)| {
            !line.contains(&format!("{kernel})")) && !line.contains(&format!("{kernel}("))
        })
        .take_while(|&(line, _)| line != "}");
    let marked = of_kernel.filter(|(line, _)| line.ends_with("// BUG"));
    marked.map(|(_, number)| number).collect()
}

#[test]
fn every_slip_is_found_on_its_line() {
    use FindingKind::*;
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
        let (findings, lines) = (found(kernel), marked(kernel));
        assert!(!lines.is_empty(), "{kernel}");
        let is_it = |one: &Finding| one.kind == kind && lines.contains(&one.source.line);
        assert!(findings.iter().any(is_it), "{kernel}: {findings:#?}");
    }
}

#[test]
fn nothing_is_said_of_right_ones() {
    let right = SOURCE
        .split("KERNEL(")
        .chain(SOURCE.split("__global__ void "));
    let names = right.filter_map(|rest| rest.split([')', '(']).next());
    let names: Vec<&str> = names.filter(|name| name.ends_with("_right")).collect();
    assert_eq!(names.len(), 11);
    for kernel in names {
        let findings = found(kernel);
        assert!(findings.is_empty(), "{kernel}: {findings:#?}");
    }
}

/// A fence in a kernel that is not called must not disable any check.
#[test]
fn a_fence_elsewhere_changes_nothing() {
    assert!(PTX.contains("membar.gl"));
    let without: String = PTX
        .lines()
        .filter(|line| !line.contains("membar.gl"))
        .collect::<Vec<_>>()
        .join("\n");
    for kernel in ["last_block", "in_place", "same_place"] {
        let mut machine = checking(&without);
        let (input, out) = (machine.buffer(&numbers()), machine.buffer(&[0i32; 256]));
        let bare = machine.run(kernel, 4, 64, params![input, out]).findings;
        let kinds = |findings: &[Finding]| -> Vec<_> {
            findings.iter().map(|one| (one.kind, one.count)).collect()
        };
        assert_eq!(kinds(&bare), kinds(&found(kernel)), "{kernel}");
    }
}

#[test]
fn locks_are_handed_on_and_one_that_is_kept_ends_the_launch() {
    for (grid, block) in [(1u32, 32u32), (4, 64), (1, 256), (64, 32)] {
        for kernel in ["lock_naive", "lock_in_loop"] {
            for checks in [cuda_sim::check::Checks::NONE, cuda_sim::check::Checks::ALL] {
                let mut machine = checking(PTX);
                machine.checks = checks;
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
                let most = 50 * u64::from(threads);
                assert!(atomics < most, "{kernel} {grid} × {block}: {atomics}");
            }
        }
    }
    let mut machine = checking(PTX);
    machine.time_limit = Duration::from_millis(300);
    let (input, out) = (machine.buffer(&[1i32; 256]), machine.buffer(&[0i32; 256]));
    let fault = machine.fault("lock_kept", 4, 64, params![input, out]);
    assert!(matches!(fault.kind, FaultKind::Timeout { .. }), "{fault}");
}
