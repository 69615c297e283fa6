//! The program that checks and updates the committed PTX.

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
fn written_ptx_passes_the_check_and_is_unchanged() {
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
fn drift_is_reported_with_the_command_that_fixes_it() {
    let checkout = checkout();
    succeed(kernel_build(&checkout, &["--write"]));
    checkout.edit("kernels/ptx/square.ptx", "*x *= *x", "*x = 0");
    assert_has(
        &fail(kernel_build(&checkout, &["--check"])),
        &[
            "kernels/ptx/square.ptx differs starting at line 7",
            "\n-// 14.0.6: KERNEL void square(float *x) { *x = 0; }",
            "\n+// 14.0.6: KERNEL void square(float *x) { *x *= *x; }",
            "scripts/ptx --write",
        ],
    );
    succeed(kernel_build(&checkout, &["--write"]));
    succeed(kernel_build(&checkout, &["--check"]));
}

#[test]
fn kernels_for_newer_gpus_are_checked_too() {
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
        &["kernels/ptx/cube.sm_80.ptx differs starting at line 5"],
    );
    checkout.write("kernels/cube.sm_8.cu", "");
    assert_has(
        &fail(kernel_build(&checkout, &["--write"])),
        &["error: kernels/cube.sm_8.cu: .sm_8 is not a supported GPU architecture"],
    );
}

#[test]
fn missing_and_orphaned_ptx_are_drift() {
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
fn only_the_pinned_clang_is_accepted_by_default() {
    let checkout = Checkout::new();
    checkout.install_clang("clang", "19.1.7", "nvptx64");
    for option in ["--check", "--write"] {
        assert_has(
            &fail(kernel_build(&checkout, &[option])),
            &["by clang 14.0.6", "this is clang 19.1.7", "--any-clang"],
        );
    }
    assert!(!checkout.path("kernels/ptx").exists());
    succeed(kernel_build(&checkout, &["--write", "--any-clang"]));
    succeed(kernel_build(&checkout, &["--any-clang", "--check"]));
}

#[test]
fn a_missing_clang_is_an_error_with_the_install_command() {
    let checkout = checkout();
    let mut check = kernel_build(&checkout, &["--check"]);
    check.env("KERNEL_CLANG", NOWHERE);
    assert_has(&fail(check), &["no clang", NOWHERE, "Install it:  "]);
}

#[test]
fn a_compile_error_has_the_compilers_message() {
    let checkout = checkout();
    checkout.write("kernels/wrong.cu", "mistake\n");
    assert_has(
        &fail(kernel_build(&checkout, &["--write"])),
        &["kernels/wrong.cu:1:1: error: a mistake"],
    );
}

#[test]
fn unknown_options_print_the_usage() {
    let checkout = checkout();
    for options in [&[][..], &["--fix"], &["--check", "--write"]] {
        let output = kernel_build(&checkout, options)
            .output()
            .expect("cannot run kernel-build");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert_has(&String::from_utf8_lossy(&output.stderr), &["usage: "]);
    }
}
