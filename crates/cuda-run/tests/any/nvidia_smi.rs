//! Tests of the stand-in for nvidia-smi, which programs find on their PATH.

use std::path::Path;

use crate::support::{Run, Workspace};

/// Runs nvidia-smi as a program on two simulated GPUs.
fn nvidia_smi(arguments: &[&str]) -> Run {
    let workspace = Workspace::new();
    let mut command = workspace.clean_command(Path::new(env!("CARGO_BIN_EXE_cuda-run")));
    command.args([
        "--quiet",
        "--device",
        "rtx3090",
        "--devices",
        "2",
        "--",
        "nvidia-smi",
    ]);
    command.args(arguments);
    workspace.output_of(command)
}

#[test]
fn gpus_are_listed() {
    let run = nvidia_smi(&["-L"]);
    run.assert_exit(0, &[]);
    let expected = "GPU 0: NVIDIA GeForce RTX 3090 (simulated) (UUID: GPU-";
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{run:#?}");
    assert!(lines[0].starts_with(expected), "{run:#?}");
    assert!(lines[1].starts_with("GPU 1: "), "{run:#?}");
}

#[test]
fn properties_are_printed_in_csv() {
    let run = nvidia_smi(&[
        "--query-gpu=index,name,compute_cap,memory.used",
        "--format=csv",
    ]);
    run.assert_exit(0, &[]);
    let expected = "index, name, compute_cap, memory.used [MiB]\n\
                    0, NVIDIA GeForce RTX 3090 (simulated), 8.6, 0 MiB\n\
                    1, NVIDIA GeForce RTX 3090 (simulated), 8.6, 0 MiB\n";
    assert_eq!(run.stdout, expected);
    // Properties of hardware have no value, as NVIDIA's program reports for GPUs that lack them.
    let flags = [
        "--query-gpu",
        "memory.used,temperature.gpu",
        "--format=csv,noheader,nounits",
    ];
    let run = nvidia_smi(&[&flags[..], &["-i", "1"]].concat());
    assert_eq!(run.stdout, "0, [N/A]\n");
}

#[test]
fn a_gpu_is_selected_by_its_uuid_or_bus_address() {
    let query = |flags: &[&str]| {
        let fixed = ["--query-gpu=uuid,pci.bus_id,index", "--format=csv,noheader"];
        nvidia_smi(&[&fixed, flags].concat()).stdout
    };
    let all = query(&[]);
    let second = all.lines().nth(1).unwrap();
    for id in second.split(", ") {
        assert_eq!(query(&["-i", id]), format!("{second}\n"));
    }
}

#[test]
fn the_overview_says_that_the_gpus_are_simulated() {
    let run = nvidia_smi(&[]);
    run.assert_exit(0, &[]);
    assert!(
        run.stdout
            .starts_with("Simulated by Warpbook: driver 580.00, CUDA 13.0.")
    );
    assert_eq!(run.stdout.matches("RTX 3090").count(), 2, "{run:#?}");
}

#[test]
fn invalid_requests_are_explained() {
    let field = "Field \"wings\" is not a valid field to query";
    nvidia_smi(&["--query-gpu=name,wings", "--format=csv"]).assert_exit(2, &[field]);
    nvidia_smi(&["--query-gpu=name", "--format=xml"]).assert_exit(2, &["must contain csv"]);
    nvidia_smi(&["--query-gpu=name", "--format=csv,bold"]).assert_exit(2, &["contains bold"]);
    nvidia_smi(&["--query-gpu=name"]).assert_exit(2, &["--format"]);
    nvidia_smi(&["-i", "2"]).assert_exit(2, &["there is no GPU 2: use its index, 0 to 1"]);
}
