//! Programs run without cuda-run: the library reads the environment variables and reports by itself.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Run, Workspace, program};

const INCREMENT: &str = "client::increment";
const SUMMARY: &[(&str, &str)] = &[("CUDA_SIM_SUMMARY", "1")];

/// Creates a command that runs a program with the library under the name that it loads, but without cuda-run.
fn without_cuda_run(workspace: &Workspace, name: &str, variables: &[(&str, &str)]) -> Command {
    let directory = workspace.path("lib");
    if !directory.exists() {
        std::fs::create_dir(&directory).unwrap();
        let build_dir = Path::new(env!("CARGO_BIN_EXE_cuda-run")).parent().unwrap();
        let library = build_dir.join("deps/libwarpbook_cuda.so");
        std::os::unix::fs::symlink(library, directory.join("libcuda.so.1")).unwrap();
    }
    let args = program(name);
    let mut command = workspace.clean_command(Path::new(&args[0]));
    command
        .args(&args[1..])
        .env("LD_LIBRARY_PATH", directory)
        .env("CUDA_BACKEND", "sim");
    command.envs(variables.iter().copied());
    command
}

/// Runs a program without cuda-run until it exits.
fn alone(workspace: &Workspace, name: &str, variables: &[(&str, &str)]) -> Run {
    workspace.output_of(without_cuda_run(workspace, name, variables))
}

#[test]
fn the_report_goes_to_standard_error() {
    let workspace = Workspace::new();
    let row = "| adds   |        2 |";
    let run = alone(&workspace, INCREMENT, SUMMARY);
    run.assert_exit(0, &["warpbook: process ", row])
        .assert_not_on_stderr(&["Profile"]);
    let variables = [("CUDA_SIM_PROFILE", "summary"), ("CUDA_SIM_CHECK", "leak")];
    let run = alone(&workspace, INCREMENT, &variables);
    run.assert_exit(
        0,
        &[
            row,
            "| global load requests ",
            "Checked (leak): no findings.",
        ],
    );
    let run = alone(&workspace, INCREMENT, &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let idle = alone(&workspace, "client::initialize_only", SUMMARY);
    idle.assert_exit(0, &[]).assert_not_on_stderr(&["process"]);
}

#[test]
fn the_report_is_printed_when_a_signal_ends_the_program() {
    let workspace = Workspace::new();
    for exit_kind in ["exit", "abort", "terminate"] {
        let mut command = without_cuda_run(&workspace, "client::exit_by_environment", SUMMARY);
        command.env("CLIENT_EXIT", exit_kind);
        let run = workspace.output_of(command);
        run.assert_exit(
            if exit_kind == "exit" { 4 } else { -1 },
            &["| adds   |        1 |"],
        );
        assert_eq!(run.stderr.matches("| adds ").count(), 1, "{run:#?}");
    }
}

/// The launch is ended and reported before the signal terminates the program.
#[test]
fn an_interrupt_ends_a_running_launch_first() {
    let workspace = Workspace::new();
    let mut command = without_cuda_run(&workspace, "client::exit_by_environment", SUMMARY);
    command
        .env("CLIENT_EXIT", "endless")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdout = BufReader::new(child.stdout.as_mut().unwrap());
    assert!(stdout.lines().any(|line| line.unwrap() == "launching"));
    std::thread::sleep(Duration::from_secs(1));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    run.assert_exit(-1, &["in kernel endless", "| adds   |        1 |"]);
    assert_eq!(run.stderr.matches("| adds ").count(), 1, "{run:#?}");
}

#[test]
fn records_and_logs_of_several_processes_share_a_file() {
    let workspace = Workspace::new();
    let variables = [("CUDA_SIM_JSON", "out.json"), ("CUDA_SIM_LOG", "log.txt")];
    for _ in 0..2 {
        alone(&workspace, INCREMENT, &variables)
            .assert_exit(0, &[])
            .assert_not_on_stderr(&["|"]);
    }
    let records = std::fs::read_to_string(workspace.path("out.json")).unwrap();
    let records: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 2);
    records
        .iter()
        .for_each(|record| chapter_test::check_record("cuda-run", record));
    assert_eq!(records[1]["kernels"][0]["launches"], 2);
    let log = std::fs::read_to_string(workspace.path("log.txt")).unwrap();
    assert_eq!(log.matches("cuLaunchKernel: 2").count(), 2, "{log}");
}

#[test]
fn an_invalid_variable_stops_the_program_at_start() {
    let workspace = Workspace::new();
    for (name, value, reason) in [
        ("CUDA_SIM_SUMMARY", "yes", "neither 1 nor 0"),
        ("CUDA_SIM_PROFILE", "all", "neither summary nor lines"),
        ("CUDA_SIM_LOG", "nowhere/log.txt", "there is no folder"),
    ] {
        let run = alone(&workspace, INCREMENT, &[(name, value)]);
        run.assert_exit(101, &[name, reason]);
    }
}
