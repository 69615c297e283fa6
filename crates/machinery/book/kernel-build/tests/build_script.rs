//! The kernel's part of a chapter's build, from cargo's point of view.

#![cfg(unix)] // the clang of these tests is a shell script

mod support;

use support::{Checkout, NOWHERE, assert_has, fail, succeed};

/// Creates a checkout whose PTX is up to date, without a compiler.
fn up_to_date_checkout() -> Checkout {
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
    let checkout = up_to_date_checkout();
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
fn windows_line_endings_do_not_change_the_hash() {
    let checkout = up_to_date_checkout();
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
    let checkout = up_to_date_checkout();
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
fn an_edited_header_makes_the_ptx_stale() {
    let checkout = up_to_date_checkout();
    checkout.edit("kernels/device.h", "#define", "#define  ");
    let message = fail(checkout.build_script("square"));
    assert_has(&message, &["kernels/square.cu has no up-to-date PTX"]);
}

#[test]
fn missing_or_unstamped_ptx_is_compiled() {
    for damage in [
        |checkout: &Checkout| {
            std::fs::remove_file(checkout.path("kernels/ptx/square.ptx")).expect("removed");
        },
        |checkout: &Checkout| checkout.edit("kernels/ptx/square.ptx", "// sources", "// "),
    ] {
        let checkout = up_to_date_checkout();
        damage(&checkout);
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
fn a_missing_compiler_is_an_error_with_install_commands() {
    let checkout = up_to_date_checkout();
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
fn an_unusable_clang_is_skipped_or_reported() {
    let checkout = up_to_date_checkout();
    checkout.edit("kernels/square.cu", "square", "cube");
    let other = checkout.install_clang("clang-14", "14.0.6", "x86-64");

    let mut named = checkout.build_script("square");
    named.env("KERNEL_CLANG", &other);
    assert_has(&fail(named), &["built without the NVPTX target"]);

    let mut not_clang = checkout.build_script("square");
    not_clang.env("KERNEL_CLANG", "/bin/echo");
    assert_has(&fail(not_clang), &["/bin/echo: not a clang compiler"]);

    checkout.install_clang("clang-16", "16.0.6", "nvptx64");
    checkout.install_clang("clang", "19.0.0", "nvptx64");
    succeed(checkout.build_script("square"));
    assert_has(
        &checkout.read("out/square.ptx"),
        &["// compiler clang 16.0.6\n"],
    );
}

#[test]
fn a_compile_error_has_the_compilers_message() {
    let checkout = up_to_date_checkout();
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
fn warnings_are_passed_to_cargo() {
    let checkout = up_to_date_checkout();
    checkout.install_clang("clang", "14.0.6", "nvptx64");
    checkout.edit("kernels/square.cu", "*x *= *x", "dubious");
    assert_has(
        &succeed(checkout.build_script("square")),
        &["cargo:warning=kernels/square.cu:2:1: warning: dubious\n"],
    );
}

#[test]
fn a_kernel_in_a_directory_has_a_valid_variable_name() {
    let checkout = up_to_date_checkout();
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
    let checkout = up_to_date_checkout();
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
fn an_unsupported_suffix_is_rejected() {
    let checkout = up_to_date_checkout();
    checkout.write("kernels/cube.sm80.cu", "");
    assert_has(
        &fail(checkout.build_script("cube.sm80")),
        &[
            "error: kernels/cube.sm80.cu: .sm80 is not a supported GPU architecture",
            "rename the file",
            ".sm_80",
        ],
    );
}

#[test]
fn an_unknown_kernel_lists_the_existing_ones() {
    let message = fail(up_to_date_checkout().build_script("sqare"));
    assert_has(
        &message,
        &["kernel not found: kernels/sqare.cu; existing kernels: square"],
    );
}

#[test]
fn a_build_script_in_a_checkout_is_required() {
    let checkout = up_to_date_checkout();
    let mut no_cargo = checkout.build_script("square");
    no_cargo.env_remove("CARGO_MANIFEST_DIR");
    assert_has(&fail(no_cargo), &["CARGO_MANIFEST_DIR is not set"]);

    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let mut outside = checkout.build_script("square");
    outside.env("CARGO_MANIFEST_DIR", elsewhere.path());
    assert_has(&fail(outside), &["is not inside a Warpbook checkout"]);
}

#[test]
fn an_unwritable_output_directory_is_reported() {
    let checkout = up_to_date_checkout();
    checkout.install_clang("clang", "14.0.6", "nvptx64");
    checkout.edit("kernels/square.cu", "square", "cube");
    let mut build = checkout.build_script("square");
    build.env("OUT_DIR", checkout.path("no/such/folder"));
    assert_has(&fail(build), &["no/such/folder/square.ptx: "]);
}
