//! The stand-in for NVIDIA's assembler, called as Triton calls it.

use std::path::Path;

use crate::support::{Run, Workspace};

/// Runs a shell script under `cuda-run --`.
fn shell(workspace: &Workspace, script: &str) -> Run {
    let mut command = workspace.clean_command(Path::new(env!("CARGO_BIN_EXE_cuda-run")));
    command
        .env_remove("TRITON_PTXAS_PATH")
        .env_remove("TRITON_LIBCUDA_PATH")
        .env_remove("MODULAR_NVPTX_COMPILER_PATH");
    command.args(["--quiet", "--", "sh", "-c", script]);
    workspace.output_of(command)
}

#[test]
fn ptx_is_passed_through() {
    let workspace = Workspace::new();
    let ptx = "// made by a compiler\n.version 7.0\n.target sm_80\n.address_size 64\n";
    std::fs::write(workspace.path("a.ptx"), ptx).unwrap();
    let flags = "-lineinfo -v --opt-level 3 --gpu-name=sm_80 --fmad=false";
    shell(
        &workspace,
        &format!("\"$TRITON_PTXAS_PATH\" {flags} a.ptx -o a.cubin"),
    )
    .assert_exit(0, &[]);
    assert_eq!(
        std::fs::read_to_string(workspace.path("a.cubin")).unwrap(),
        ptx
    );
    // The command line that Mojo uses.
    let command =
        "\"$MODULAR_NVPTX_COMPILER_PATH\" a.ptx -o b.cubin --gpu-name=sm_90a --opt-level=4";
    shell(&workspace, command).assert_exit(0, &[]);
    assert_eq!(
        std::fs::read_to_string(workspace.path("b.cubin")).unwrap(),
        ptx
    );
    let version = shell(&workspace, "\"$TRITON_PTXAS_PATH\" --version");
    assert!(version.stdout.contains("release 12.8,"), "{version:#?}");
    shell(
        &workspace,
        "ls \"$TRITON_LIBCUDA_PATH/libcuda.so.1\" \"$CUDA_PATH/libcuda.so\"",
    )
    .assert_exit(0, &[]);
}

#[test]
fn invalid_input_is_an_error() {
    let workspace = Workspace::new();
    std::fs::write(workspace.path("a.ptx"), "int main() {}\n").unwrap();
    for (args, error) in [
        ("a.ptx -o a.cubin", "a.ptx is not PTX"),
        ("b.ptx -o a.cubin", "cannot read b.ptx"),
        ("-v", "no input file given"),
        ("a.ptx b.ptx", "only one input file is supported"),
        ("a.ptx -o", "-o requires a file name"),
    ] {
        shell(&workspace, &format!("\"$TRITON_PTXAS_PATH\" {args}"))
            .assert_exit(1, &["ptxas: error: ", error]);
    }
    assert!(!workspace.path("a.cubin").exists());
}
