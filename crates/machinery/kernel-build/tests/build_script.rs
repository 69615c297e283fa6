//! What a chapter's build does about its kernel, seen from cargo's side.

#![cfg(unix)] // the clang of these tests is a shell script

mod support;

use support::{Checkout, NOWHERE, assert_has, fail, succeed};

/// A checkout whose PTX is up to date, and no compiler on the machine.
fn fresh() -> Checkout {
    let checkout = Checkout::new();
    let clang = checkout.install_clang("clang-14", "14.0.6", "nvptx64");
    let mut write = checkout.kernel_build();
    write.arg("--write");
    succeed(write);
    std::fs::remove_file(clang).expect("removed");
    checkout
}

#[test]
fn up_to_date_ptx_needs_no_compiler() {
    let checkout = fresh();
    let mut build = checkout.build_script("square");
    build.env("KERNEL_CLANG", NOWHERE);
    let output = succeed(build);

    let path = |file| checkout.path(file).display().to_string();
    let ptx = path("kernels/ptx/square.ptx");
    assert_has(
        &output,
        &[
            &format!("cargo:rustc-env=SQUARE_PTX={ptx}\n"),
            &format!("cargo:rerun-if-changed={ptx}\n"),
            &format!("cargo:rerun-if-changed={}\n", path("kernels/square.cu")),
            &format!("cargo:rerun-if-changed={}\n", path("kernels/device.h")),
            "cargo:rerun-if-env-changed=KERNEL_CLANG\n",
        ],
    );
    assert!(!checkout.path("out/square.ptx").exists());
}

#[test]
fn windows_line_endings_are_no_edit() {
    let checkout = fresh();
    for file in [
        "kernels/square.cu",
        "kernels/device.h",
        "kernels/ptx/square.ptx",
    ] {
        checkout.edit(file, "\n", "\r\n");
    }
    let output = succeed(checkout.build_script("square"));
    let ptx = checkout.path("kernels/ptx/square.ptx");
    assert_has(&output, &[&format!("SQUARE_PTX={}\n", ptx.display())]);
}

#[test]
fn an_edited_kernel_is_compiled_again() {
    let checkout = fresh();
    checkout.install_clang("clang", "17.0.1", "nvptx64");
    checkout.edit("kernels/square.cu", "*x *= *x", "*x += *x");
    let output = succeed(checkout.build_script("square"));

    let ptx = checkout.path("out/square.ptx");
    assert_has(&output, &[&format!("SQUARE_PTX={}\n", ptx.display())]);
    assert_has(
        &checkout.read("out/square.ptx"),
        &["// compiler clang 17.0.1\n", ".version 6.4\n", "*x += *x"],
    );
    let committed = checkout.read("kernels/ptx/square.ptx");
    assert!(
        committed.contains("*x *= *x"),
        "it is not the build's to change"
    );
}

#[test]
fn an_edited_header_is_an_edited_kernel() {
    let checkout = fresh();
    checkout.edit("kernels/device.h", "#define", "#define  ");
    let message = fail(checkout.build_script("square"));
    assert_has(&message, &["kernels/square.cu has no up-to-date PTX"]);
}

#[test]
fn ptx_that_is_missing_or_unstamped_is_compiled() {
    for spoil in [
        |checkout: &Checkout| {
            std::fs::remove_file(checkout.path("kernels/ptx/square.ptx")).expect("removed");
        },
        |checkout: &Checkout| checkout.edit("kernels/ptx/square.ptx", "// sources", "// "),
    ] {
        let checkout = fresh();
        spoil(&checkout);
        assert_has(
            &fail(checkout.build_script("square")),
            &["no up-to-date PTX"],
        );
        checkout.install_clang("clang", "14.0.6", "nvptx64");
        assert_has(
            &succeed(checkout.build_script("square")),
            &[&format!("={}\n", checkout.path("out/square.ptx").display())],
        );
    }
}

#[test]
fn without_a_compiler_the_message_says_how_to_install_one() {
    let checkout = fresh();
    checkout.edit("kernels/square.cu", "square", "cube");
    let mut build = checkout.build_script("square");
    build.env("KERNEL_CLANG", NOWHERE);
    let message = fail(build);
    let install = if cfg!(target_os = "macos") {
        "brew install llvm"
    } else {
        "sudo apt-get install clang"
    };
    assert_has(
        &message,
        &[
            "kernels/square.cu has no up-to-date PTX",
            &format!("Install clang:  {install}"),
            &format!("KERNEL_CLANG={NOWHERE}: "),
            &format!("KERNEL_NVRTC={NOWHERE}: "),
            "git checkout kernels",
        ],
    );
    assert!(!checkout.path("out/square.ptx").exists());
}

#[test]
fn a_clang_that_will_not_do_is_passed_over_or_named() {
    let checkout = fresh();
    checkout.edit("kernels/square.cu", "square", "cube");
    let other = checkout.install_clang("clang-14", "14.0.6", "x86-64");

    let mut named = checkout.build_script("square");
    named.env("KERNEL_CLANG", &other);
    assert_has(&fail(named), &["built without the NVPTX target"]);

    let mut not_clang = checkout.build_script("square");
    not_clang.env("KERNEL_CLANG", "/bin/echo");
    assert_has(&fail(not_clang), &["/bin/echo: it is not a clang"]);

    checkout.install_clang("clang-16", "16.0.6", "nvptx64");
    checkout.install_clang("clang", "19.0.0", "nvptx64");
    succeed(checkout.build_script("square"));
    assert_has(
        &checkout.read("out/square.ptx"),
        &["// compiler clang 16.0.6\n"],
    );
}

#[test]
fn a_wrong_kernel_gets_the_compilers_own_message() {
    let checkout = fresh();
    checkout.install_clang("clang", "14.0.6", "nvptx64");
    checkout.edit("kernels/square.cu", "*x *= *x", "mistake");
    let message = fail(checkout.build_script("square"));
    assert_has(
        &message,
        &[
            "clang 14.0.6 cannot compile kernels/square.cu:\n",
            "kernels/square.cu:2:1: error: a mistake\n    ^\n",
        ],
    );
    assert!(!checkout.path("out/square.ptx").exists());
}

#[test]
fn warnings_reach_the_reader() {
    let checkout = fresh();
    checkout.install_clang("clang", "14.0.6", "nvptx64");
    checkout.edit("kernels/square.cu", "*x *= *x", "dubious");
    assert_has(
        &succeed(checkout.build_script("square")),
        &["cargo:warning=kernels/square.cu:2:1: warning: dubious\n"],
    );
}

#[test]
fn a_kernel_in_a_folder_keeps_to_its_name() {
    let checkout = fresh();
    checkout.install_clang("clang", "14.0.6", "nvptx64");
    checkout.write("kernels/ladder/add-1.cu", "#include \"device.h\"\n");
    let output = succeed(checkout.build_script("ladder/add-1"));
    let ptx = checkout.path("out/ladder-add-1.ptx");
    assert_has(
        &output,
        &[
            &format!("LADDER_ADD_1_PTX={}\n", ptx.display()),
            &checkout.path("kernels/device.h").display().to_string(),
        ],
    );
}

#[test]
fn a_kernel_named_after_an_architecture_is_compiled_for_it() {
    let checkout = fresh();
    checkout.install_clang("clang", "14.0.6", "nvptx64");
    checkout.write("kernels/cube.sm_80.cu", "#include \"device.h\"\n");
    let output = succeed(checkout.build_script("cube.sm_80"));
    let ptx = checkout.path("out/cube.sm_80.ptx");
    assert_has(&output, &[&format!("CUBE_SM_80_PTX={}\n", ptx.display())]);
    let architecture = |ptx: &str| {
        let line = ptx.lines().find(|line| line.starts_with("// for "));
        line.expect("the fake clang's line").to_owned()
    };
    assert_eq!(
        architecture(&checkout.read("out/cube.sm_80.ptx")),
        "// for --cuda-gpu-arch=sm_80 +ptx70"
    );
    let committed = checkout.read("kernels/ptx/square.ptx");
    assert_eq!(
        architecture(&committed),
        "// for --cuda-gpu-arch=sm_52 +ptx64"
    );
}

#[test]
fn a_name_that_ends_in_no_architecture_is_refused() {
    let checkout = fresh();
    checkout.write("kernels/cube.sm80.cu", "");
    assert_has(
        &fail(checkout.build_script("cube.sm80")),
        &[
            "error: kernels/cube.sm80.cu: .sm80 names no GPU",
            "rename it",
            ".sm_80",
        ],
    );
}

#[test]
fn an_unknown_kernel_is_told_from_the_known() {
    let message = fail(fresh().build_script("sqare"));
    assert_has(
        &message,
        &["there is no kernels/sqare.cu; the kernels are: square"],
    );
}

#[test]
fn it_must_be_a_build_script_in_a_checkout() {
    let checkout = fresh();
    let mut no_cargo = checkout.build_script("square");
    no_cargo.env_remove("CARGO_MANIFEST_DIR");
    assert_has(&fail(no_cargo), &["cargo sets CARGO_MANIFEST_DIR"]);

    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let mut outside = checkout.build_script("square");
    outside.env("CARGO_MANIFEST_DIR", elsewhere.path());
    assert_has(&fail(outside), &["is in no checkout of Warpbook"]);
}

#[test]
fn an_unwritable_output_folder_is_named() {
    let checkout = fresh();
    checkout.install_clang("clang", "14.0.6", "nvptx64");
    checkout.edit("kernels/square.cu", "square", "cube");
    let mut build = checkout.build_script("square");
    build.env("OUT_DIR", checkout.path("no/such/folder"));
    assert_has(&fail(build), &["no/such/folder/square.ptx: "]);
}
