//! The stand-in for NVIDIA's assembler, called as Triton calls it.

use std::path::Path;

use crate::support::{Run, Runs};

/// What a shell under `cuda-run --` says.
fn shell(runs: &Runs, script: &str) -> Run {
    let mut command = runs.clean(Path::new(env!("CARGO_BIN_EXE_cuda-run")));
    command
        .env_remove("TRITON_PTXAS_PATH")
        .env_remove("TRITON_LIBCUDA_PATH")
        .env_remove("MODULAR_NVPTX_COMPILER_PATH");
    command.args(["--quiet", "--", "sh", "-c", script]);
    runs.ended(command)
}

#[test]
fn it_passes_ptx_through() {
    let runs = Runs::new();
    let ptx = "// made by a compiler\n.version 7.0\n.target sm_80\n.address_size 64\n";
    std::fs::write(runs.path("a.ptx"), ptx).unwrap();
    let flags = "-lineinfo -v --opt-level 3 --gpu-name=sm_80 --fmad=false";
    shell(
        &runs,
        &format!("\"$TRITON_PTXAS_PATH\" {flags} a.ptx -o a.cubin"),
    )
    .says(0, &[]);
    assert_eq!(std::fs::read_to_string(runs.path("a.cubin")).unwrap(), ptx);
    // As Mojo calls it.
    let command =
        "\"$MODULAR_NVPTX_COMPILER_PATH\" a.ptx -o b.cubin --gpu-name=sm_90a --opt-level=4";
    shell(&runs, command).says(0, &[]);
    assert_eq!(std::fs::read_to_string(runs.path("b.cubin")).unwrap(), ptx);
    let version = shell(&runs, "\"$TRITON_PTXAS_PATH\" --version");
    assert!(version.stdout.contains("release 12.8,"), "{version:#?}");
    shell(
        &runs,
        "ls \"$TRITON_LIBCUDA_PATH/libcuda.so.1\" \"$CUDA_PATH/libcuda.so\"",
    )
    .says(0, &[]);
}

#[test]
fn what_is_no_ptx_is_an_error() {
    let runs = Runs::new();
    std::fs::write(runs.path("a.ptx"), "int main() {}\n").unwrap();
    for (words, why) in [
        ("a.ptx -o a.cubin", "a.ptx is no PTX"),
        ("b.ptx -o a.cubin", "cannot read b.ptx"),
        ("-v", "no file is named"),
        ("a.ptx b.ptx", "one file is assembled at a time"),
        ("a.ptx -o", "-o takes a file"),
    ] {
        shell(&runs, &format!("\"$TRITON_PTXAS_PATH\" {words}")).says(1, &["ptxas: error: ", why]);
    }
    assert!(!runs.path("a.cubin").exists());
}
