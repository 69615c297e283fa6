//! The program that keeps the committed PTX in step with the sources.

#![cfg(unix)] // the clang of these tests is a shell script

mod support;

use std::process::Command;

use support::{Checkout, NOWHERE, assert_has, fail, succeed};

fn checkout() -> Checkout {
    let checkout = Checkout::new();
    checkout.install_clang("clang-14", "14.0.6", "nvptx64");
    checkout
}

fn kernel_build(checkout: &Checkout, options: &[&str]) -> Command {
    let mut command = checkout.kernel_build();
    command.args(options);
    command
}

#[test]
fn what_is_written_passes_the_check_and_is_not_written_again() {
    let checkout = checkout();
    let write = || succeed(kernel_build(&checkout, &["--write"]));
    assert_has(&write(), &["1 kernels compiled, 1 PTX files changed"]);
    let ptx = checkout.read("kernels/ptx/square.ptx");
    assert!(ptx.starts_with("// kernels/square.cu, compiled"));
    assert_has(
        &succeed(kernel_build(&checkout, &["--check"])),
        &["PTX up to date"],
    );
    assert_has(&write(), &["0 PTX files changed"]);
    assert_eq!(ptx, checkout.read("kernels/ptx/square.ptx"));
}

#[test]
fn drift_is_shown_with_the_command_that_ends_it() {
    let checkout = checkout();
    succeed(kernel_build(&checkout, &["--write"]));
    checkout.edit("kernels/ptx/square.ptx", "*x *= *x", "*x = 0");
    assert_has(
        &fail(kernel_build(&checkout, &["--check"])),
        &[
            "kernels/ptx/square.ptx differs from line 7 on",
            "\n-// 14.0.6: KERNEL void square(float *x) { *x = 0; }",
            "\n+// 14.0.6: KERNEL void square(float *x) { *x *= *x; }",
            "scripts/ptx --write",
        ],
    );
    succeed(kernel_build(&checkout, &["--write"]));
    succeed(kernel_build(&checkout, &["--check"]));
}

#[test]
fn kernels_for_newer_gpus_are_kept_like_the_others() {
    let checkout = checkout();
    checkout.write("kernels/cube.sm_80.cu", "x\n");
    assert_has(
        &succeed(kernel_build(&checkout, &["--write"])),
        &["2 kernels compiled, 2 PTX files changed"],
    );
    succeed(kernel_build(&checkout, &["--check"]));
    checkout.edit("kernels/ptx/cube.sm_80.ptx", "arch=sm_80", "arch=sm_52");
    assert_has(
        &fail(kernel_build(&checkout, &["--check"])),
        &["kernels/ptx/cube.sm_80.ptx differs from line 5 on"],
    );
    checkout.write("kernels/cube.sm_8.cu", "");
    assert_has(
        &fail(kernel_build(&checkout, &["--write"])),
        &["error: kernels/cube.sm_8.cu: .sm_8 names no GPU"],
    );
}

#[test]
fn missing_ptx_and_ptx_without_a_kernel_are_drift() {
    let checkout = checkout();
    succeed(kernel_build(&checkout, &["--write"]));
    std::fs::rename(
        checkout.path("kernels/ptx/square.ptx"),
        checkout.path("kernels/ptx/old.ptx"),
    )
    .expect("renamed");
    assert_has(
        &fail(kernel_build(&checkout, &["--check"])),
        &[
            "kernels/ptx/old.ptx has no kernel",
            "kernels/ptx/square.ptx is missing",
        ],
    );
    succeed(kernel_build(&checkout, &["--write"]));
    assert!(!checkout.path("kernels/ptx/old.ptx").exists());
    assert!(checkout.path("kernels/ptx/square.ptx").exists());
}

#[test]
fn only_the_pinned_clang_writes_unless_told_otherwise() {
    let checkout = Checkout::new();
    checkout.install_clang("clang", "19.1.7", "nvptx64");
    for option in ["--check", "--write"] {
        assert_has(
            &fail(kernel_build(&checkout, &[option])),
            &["clang 14.0.6 alone", "this is clang 19.1.7", "--any-clang"],
        );
    }
    assert!(!checkout.path("kernels/ptx").exists());
    succeed(kernel_build(&checkout, &["--write", "--any-clang"]));
    succeed(kernel_build(&checkout, &["--any-clang", "--check"]));
}

#[test]
fn without_clang_it_says_how_to_install_it() {
    let checkout = checkout();
    let mut check = kernel_build(&checkout, &["--check"]);
    check.env("KERNEL_CLANG", NOWHERE);
    assert_has(&fail(check), &["no clang", NOWHERE, "Install it:  "]);
}

#[test]
fn a_wrong_kernel_is_the_compilers_to_explain() {
    let checkout = checkout();
    checkout.write("kernels/wrong.cu", "mistake\n");
    assert_has(
        &fail(kernel_build(&checkout, &["--write"])),
        &["kernels/wrong.cu:1:1: error: a mistake"],
    );
}

#[test]
fn other_options_are_refused_with_the_usage() {
    let checkout = checkout();
    for options in [&[][..], &["--fix"], &["--check", "--write"]] {
        let output = kernel_build(&checkout, options).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert_has(&String::from_utf8_lossy(&output.stderr), &["usage: "]);
    }
}
