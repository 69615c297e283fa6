//! Tests with a real clang: the headers, the compiler's messages, and the same PTX everywhere.
//!
//! They need a clang with the NVPTX target. Warpbook's tests require only Rust, so without clang these are
//! ignored, with the reason.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use kernel_build::{Clang, Error, Tree, install_command};
use libtest_mimic::{Arguments, Completion, Trial};
use support::{Checkout, assert_has, fail, succeed};

/// Creates tests with their functions' names, ignored if a requirement is missing.
macro_rules! tests {
    ($missing:expr; $($name:ident),* $(,)?) => {
        vec![$({
            let missing: Option<String> = $missing.clone();
            Trial::ignorable_test(stringify!($name), move || Ok(match missing {
                Some(reason) => Completion::ignored_with(reason),
                None => {
                    $name();
                    Completion::Completed
                }
            }))
        }),*]
    };
}

fn main() -> ExitCode {
    let missing = Clang::find().err().map(|reason| {
        let install = install_command();
        format!("needs clang: {reason}; install it:  {install}")
    });
    let tests = tests![missing;
        every_function_of_the_header_compiles_to_its_instruction,
        features_of_newer_gpus_compile_to_their_instructions,
        hopper_features_compile_to_hopper_ptx,
        features_of_newer_gpus_are_rejected_for_older_gpus_and_other_sizes,
        a_compile_error_has_its_location,
        ptx_does_not_depend_on_the_checkouts_path,
        a_trusted_source_is_compiled_with_the_headers_and_its_name,
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// Creates the build script's command with the machine's own search path.
fn build_script(checkout: &Checkout, name: &str) -> Command {
    let mut command = checkout.build_script(name);
    match std::env::var_os("PATH") {
        Some(path) => command.env("PATH", path),
        None => command.env_remove("PATH"),
    };
    if let Some(clang) = std::env::var_os("KERNEL_CLANG") {
        command.env("KERNEL_CLANG", clang);
    }
    command
}

fn every_function_of_the_header_compiles_to_its_instruction() {
    let checkout = with_headers("every", include_str!("cuda_device.cu"));
    let output = succeed(build_script(&checkout, "every"));
    assert!(!output.contains("cargo:warning"), "{output}");

    let ptx = checkout.read("out/every.ptx");
    assert_has(
        &ptx,
        &[
            ".version 6.4",
            ".target sm_52",
            ".maxntid 256",
            "%tid.z",
            "%ctaid.y",
            "%ntid.x",
            "%nctaid.z",
            "%clock64",
            "bar.sync",
            "bar.red.popc.u32",
            "bar.warp.sync",
            "membar.cta",
            "membar.gl",
            "membar.sys",
            "ld.global.nc.f32",
            "ld.global.nc.v2.f64",
            "ld.global.nc.v4.f32",
            "ld.global.v4.u32",
            "st.global.v4.u32",
            "ld.shared.v4.u32",
            "st.shared.v4.u32",
            "ld.global.v4.f32",
            "st.global.v4.f32",
            "ld.global.v2.f64",
            "st.global.v2.f64",
            "sqrt.rn.f32",
            "rsqrt.approx.f32",
            "fma.rn.f64",
            "cvt.rmi.f32.f32",
            "cvt.rpi.f32.f32",
            "cvt.rni.f64.f64",
            "popc.b64",
            "clz.b32",
            "brev.b32",
            "atom.global.add.f32",
            "atom.global.cas.b64",
            "atom.global.max.s64",
            "atom.global.min.u32",
            "atom.inc.u32",
            "atom.dec.u32",
            "shfl.sync.idx.b32",
            "shfl.sync.up.b32",
            "shfl.sync.down.b32",
            "shfl.sync.bfly.b32",
            "vote.sync.ballot.b32",
            "vote.sync.all.pred",
            "vote.sync.any.pred",
            "activemask.b32",
            "vprintf",
            "__assertfail",
            ".file\t1 \"kernels/every.cu\"",
        ],
    );
    // Vectors must not be copied in halves.
    let vectors = ptx
        .split(".visible .entry ")
        .find(|entry| entry.starts_with("vectors("));
    let vectors = vectors.unwrap();
    for split_access in ["ld.global.u64", "st.global.u64", "ld.shared.u64", ".local"] {
        assert!(
            !vectors.contains(split_access),
            "{split_access} in\n{vectors}"
        );
    }
}

/// Creates a checkout with the real headers and this kernel.
fn with_headers(name: &str, text: &str) -> Checkout {
    let checkout = Checkout::new();
    checkout.write(&format!("kernels/{name}.cu"), text);
    let kernels_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../kernels");
    for header in ["cuda_device.h", "async_copy.h", "tensor_core.h"] {
        let text = fs::read_to_string(kernels_dir.join(header)).expect("a header");
        checkout.write(&format!("kernels/{header}"), &text);
    }
    checkout.copy(&kernels_dir.join("include"), "kernels/include");
    checkout
}

fn features_of_newer_gpus_compile_to_their_instructions() {
    let checkout = with_headers("newer.sm_80", include_str!("newer.sm_80.cu"));
    let output = succeed(build_script(&checkout, "newer.sm_80"));
    assert!(!output.contains("cargo:warning"), "{output}");
    assert_has(
        &checkout.read("out/newer.sm_80.ptx"),
        &[
            ".version 7.0",
            ".target sm_80",
            "cp.async.ca.shared.global [%rd1], [%rd2], 4, %r",
            "cp.async.ca.shared.global [%rd3], [%rd4], 8, %r",
            "cp.async.cg.shared.global [%rd5], [%rd6], 16, %r",
            "cp.async.commit_group;",
            "cp.async.wait_group 0;",
            "cp.async.wait_group 1;",
            "cvt.rna.tf32.f32",
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
            "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
        ],
    );
}

/// The pinned clang does not support Hopper: its PTX is for an older GPU, except the header and inline
/// assembly.
fn hopper_features_compile_to_hopper_ptx() {
    let text = "#include \"cuda_device.h\"\n\
                extern \"C\" __global__ void fence(int *x) {\n\
                #if __CUDA_ARCH__ == 900 && defined(__CUDA_ARCH_FEAT_SM90_ALL)\n\
                asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n\
                #endif\n\
                *x = __CUDA_ARCH__;\n}\n";
    let checkout = with_headers("hopper.sm_90a", text);
    let output = succeed(build_script(&checkout, "hopper.sm_90a"));
    assert!(!output.contains("cargo:warning"), "{output}");
    let ptx = checkout.read("out/hopper.sm_90a.ptx");
    assert_has(
        &ptx,
        &[
            "\n.version 8.0\n.target sm_90a\n.address_size 64\n",
            "wgmma.fence.sync.aligned;",
            ", 900;",
        ],
    );
    assert!(!ptx.contains("sm_86"), "{ptx}");
}

fn features_of_newer_gpus_are_rejected_for_older_gpus_and_other_sizes() {
    for (header, error) in [
        ("async_copy.h", "asynchronous copies need sm_80: name the"),
        (
            "tensor_core.h",
            "tensor cores need sm_80: name the kernel's",
        ),
    ] {
        let checkout = with_headers("older", &format!("#include \"{header}\"\n"));
        assert_has(&fail(build_script(&checkout, "older")), &[error]);
    }
    let text = include_str!("newer.sm_80.cu").replace("&in[i], 4)", "&in[i], 12)");
    let checkout = with_headers("newer.sm_80", &text);
    assert_has(
        &fail(build_script(&checkout, "newer.sm_80")),
        &["copies are of 4, 8 or 16 bytes, a constant"],
    );
}

fn a_compile_error_has_its_location() {
    let checkout = Checkout::new();
    checkout.edit("kernels/square.cu", "*x *= *x", "*x *= y");
    assert_has(
        &fail(build_script(&checkout, "square")),
        &[
            "kernels/square.cu:2:38: error: ",
            "undeclared identifier 'y'",
            "*x *= y; }\n",
            "^\n",
        ],
    );
}

fn ptx_does_not_depend_on_the_checkouts_path() {
    let compile = |checkout: &Checkout| {
        succeed(build_script(checkout, "square"));
        checkout.read("out/square.ptx")
    };
    let first = compile(&Checkout::new());
    assert_eq!(first, compile(&Checkout::named("war páth with blanks ")));
    assert_has(&first, &[".entry square(", ".loc\t1 2 "]);
}

fn a_trusted_source_is_compiled_with_the_headers_and_its_name() {
    let checkout = with_headers("other", "");
    let tree = Tree::find(&checkout.path("kernels")).unwrap();
    let clang = Clang::find().unwrap();
    let clang = Clang::from_parts(clang.program().to_owned(), clang.version().to_owned());
    let text = "#include \"cuda_device.h\"\n__global__ void square(float *x) { *x *= *x; }\n";
    let compiled = clang
        .compile_text(&tree, "an answer.cu", text, None)
        .unwrap();
    let file = ".file\t1 \"an answer.cu\"";
    assert_has(&compiled.ptx, &[".entry ", file, ".loc\t1 2 "]);
    assert_eq!(compiled.warnings, "");
    let unused = text.replace("{ *x", "{ int y; *x");
    let compiled = clang
        .compile_text(&tree, "answer.cu", &unused, None)
        .unwrap();
    assert_has(&compiled.warnings, &["answer.cu:2:40: warning: "]);

    let invalid = text.replace("*x;", "y;");
    match clang.compile_text(&tree, "answers/\"1\".cu", &invalid, None) {
        Err(Error::Text {
            file_name, message, ..
        }) => {
            assert_eq!(file_name, "answers/\"1\".cu");
            assert_has(&message, &["1\".cu:2:42: error: ", "*x *= y; }\n", "^\n"]);
        }
        other => panic!("{other:?}"),
    }
}
