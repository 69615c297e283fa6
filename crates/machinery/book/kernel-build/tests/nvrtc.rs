//! A machine with the CUDA Toolkit but without clang. The toolkit's NVRTC is replaced by a library with the
//! same functions (`fake/nvrtc.rs`), compiled here.

mod support;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use support::{Checkout, NOWHERE, assert_has, fail, succeed};

/// Returns the path of the fake library, which is compiled once for all tests.
fn fake_library() -> &'static PathBuf {
    static FAKE: OnceLock<PathBuf> = OnceLock::new();
    FAKE.get_or_init(|| {
        let library = format!(
            "{}fake_nvrtc{}",
            std::env::consts::DLL_PREFIX,
            std::env::consts::DLL_SUFFIX
        );
        let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(library);
        let status = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
            .args([
                "--edition=2024",
                "--crate-name=fake_nvrtc",
                "--crate-type=cdylib",
            ])
            .args(["--cap-lints=allow", "-o"])
            .arg(&library)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/nvrtc.rs"))
            .status();
        assert!(status.expect("rustc runs").success());
        library
    })
}

fn build_script(checkout: &Checkout, archs: &str) -> Command {
    build_script_of(checkout, "square", archs)
}

fn build_script_of(checkout: &Checkout, name: &str, archs: &str) -> Command {
    let mut command = checkout.build_script(name);
    command
        .env("KERNEL_CLANG", NOWHERE)
        .env("KERNEL_NVRTC", fake_library())
        .env("FAKE_NVRTC_ARCHS", archs);
    command
}

#[test]
fn the_oldest_supported_architecture_is_used_and_the_stamp_says_for_a_gpu_only() {
    let checkout = Checkout::new();
    let output = succeed(build_script(&checkout, "50,90,75,100"));
    assert_has(
        &output,
        &[
            &format!("SQUARE_PTX={}\n", checkout.path("out/square.ptx").display()),
            "cargo:warning=kernels/square.cu was compiled by NVRTC 13.1 (for a GPU only); ",
        ],
    );
    let headers = checkout.path("kernels");
    assert_has(
        &checkout.read("out/square.ptx"),
        &[
            "// compiler NVRTC 13.1 (for a GPU only)\n.version 9.1\n// kernels/square.cu\n",
            "--gpu-architecture=compute_75 ",
            &format!("--include-path={} ", headers.display()),
            "*x *= *x; }\n",
        ],
    );
    assert!(!checkout.read("out/square.ptx").contains('\0'));
}

#[test]
fn the_kernels_architecture_is_used_or_reported_as_unsupported() {
    let checkout = Checkout::new();
    checkout.write("kernels/square.sm_80.cu", "#include \"device.h\"\n");
    let build = |archs| build_script_of(&checkout, "square.sm_80", archs);
    for (archs, expected) in [("75,80,90", "compute_80 "), ("52,100,90", "compute_90 ")] {
        succeed(build(archs));
        assert_has(&checkout.read("out/square.sm_80.ptx"), &[expected]);
    }
    assert_has(
        &fail(build("52,75")),
        &[
            "error: kernels/square.sm_80.cu requires sm_80, which NVRTC 13.1",
            "does not support: install a newer CUDA Toolkit, or clang:  ",
        ],
    );
}

#[test]
fn hopper_kernels_are_compiled_for_hopper_only() {
    let checkout = Checkout::new();
    checkout.write("kernels/square.sm_90a.cu", "#include \"device.h\"\n");
    let build = |archs| build_script_of(&checkout, "square.sm_90a", archs);
    succeed(build("75,90,100"));
    assert_has(&checkout.read("out/square.sm_90a.ptx"), &["compute_90a "]);
    assert_has(
        &fail(build("75,100")),
        &["error: kernels/square.sm_90a.cu requires sm_90a, which NVRTC 13.1"],
    );
}

#[test]
fn warnings_and_errors_are_passed_on() {
    let checkout = Checkout::new();
    checkout.edit("kernels/square.cu", "*x *= *x", "dubious");
    assert_has(
        &succeed(build_script(&checkout, "52")),
        &["cargo:warning=a warning: dubious\n"],
    );
    checkout.edit("kernels/square.cu", "dubious", "mistake");
    assert_has(
        &fail(build_script(&checkout, "52")),
        &[
            "NVRTC 13.1 (for a GPU only) cannot compile kernels/square.cu:\n",
            "kernels/square.cu(2): error: a mistake",
        ],
    );
    checkout.edit("kernels/square.cu", "mistake", "crash");
    assert_has(
        &fail(build_script(&checkout, "52")),
        &["NVRTC failed in nvrtcCompileProgram: NVRTC_ERROR_OF_A_FAKE"],
    );
    checkout.edit("kernels/square.cu", "crash", "\0");
    assert_has(
        &fail(build_script(&checkout, "52")),
        &["cannot compile kernels/square.cu:\n", "NUL byte"],
    );
}

#[test]
fn an_unusable_nvrtc_is_reported_with_the_reason() {
    let checkout = Checkout::new();
    for archs in ["", "35,50"] {
        assert_has(
            &fail(build_script(&checkout, archs)),
            &[
                "it supports none of the kernels' GPU architectures",
                "Install clang:",
            ],
        );
    }
    let mut other = build_script(&checkout, "52");
    other.env("KERNEL_NVRTC", checkout.path("kernels/square.cu"));
    assert_has(&fail(other), &["KERNEL_NVRTC=", "square.cu: "]);
}
