//! Exits of programs: by themselves, by signals and at the time limit.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::support::{Run, Workspace};

const ROW: &str = "| adds   |        1 |";

/// The report on an endless kernel that was ended.
const ENDED: &str = "the kernel was interrupted\n  blocks ended: 0 of 1\n  in kernel endless";

fn exiting(workspace: &Workspace, exit_kind: &str) -> Command {
    let mut command = workspace.command(&[], "client::exit_by_environment");
    command.env("CLIENT_EXIT", exit_kind);
    command
}

#[test]
fn every_exit_is_reported_with_its_status() {
    let workspace = Workspace::new();
    for (exit_kind, code, reason) in [
        ("exit", 4, ""),
        ("_exit", 5, ""),
        ("abort", 134, "killed by signal 6 (SIGABRT"),
        ("segv", 139, "killed by signal 11 (SIGSEGV"),
        ("kill", 137, "killed by signal 9 (SIGKILL"),
        ("terminate", 143, "killed by signal 15 (SIGTERM"),
    ] {
        workspace
            .output_of(exiting(&workspace, exit_kind))
            .assert_exit(code, &[ROW, reason]);
    }
}

#[test]
fn the_time_limit_stops_a_running_launch() {
    let workspace = Workspace::new();
    let mut command = workspace.command(&["--time-limit", "2"], "client::exit_by_environment");
    command.env("CLIENT_EXIT", "endless");
    workspace
        .output_of(command)
        .assert_exit(124, &["stopped at its time limit of 2 s", ROW, ENDED]);
}

/// Starts a program in a process group of its own and waits until it prints a line.
fn started(workspace: &Workspace, exit_kind: &str, line: &str) -> Child {
    let mut command = exiting(workspace, exit_kind);
    command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdout = BufReader::new(child.stdout.as_mut().unwrap());
    assert!(stdout.lines().any(|printed| printed.unwrap() == line));
    child
}

#[test]
fn an_interrupt_is_left_to_the_program() {
    let workspace = Workspace::new();
    let child = started(&workspace, "sleep", "sleeping");
    kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    run.assert_exit(130, &["killed by signal 2 (SIGINT", ROW]);
}

#[test]
fn an_interrupt_ends_a_running_launch_first() {
    let workspace = Workspace::new();
    let child = started(&workspace, "endless", "launching");
    std::thread::sleep(Duration::from_secs(1));
    kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    run.assert_exit(130, &["killed by signal 2 (SIGINT", ROW, ENDED]);
}

#[test]
fn a_termination_request_is_forwarded() {
    let workspace = Workspace::new();
    let child = started(&workspace, "sleep", "sleeping");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    run.assert_exit(143, &["killed by signal 15 (SIGTERM", ROW]);
}

#[test]
fn an_invalid_command_line_is_an_error() {
    let workspace = Workspace::new();
    let executable = std::path::Path::new(env!("CARGO_BIN_EXE_cuda-run"));
    let run_with = |args: &[&str]| {
        let mut command = workspace.clean_command(executable);
        command.args(args);
        workspace.output_of(command)
    };
    run_with(&["--", "no-such-program"]).assert_exit(1, &["cannot start no-such-program"]);
    run_with(&[]).assert_exit(2, &["required"]);
    run_with(&["-O3", "--", "true"]).assert_exit(2, &["required"]);
    run_with(&["--plan", "p.toml", "--", "true"]).assert_exit(2, &["required"]);
    run_with(&["--log", "log.txt", "a.cu"]).assert_exit(2, &["--log"]);
    run_with(&["--log", "nowhere/log.txt", "--", "true"]).assert_exit(1, &["nowhere"]);
    run_with(&["--device", "abacus", "--", "true"]).assert_exit(1, &["abacus"]);
}

#[test]
fn a_missing_library_is_reported_with_the_build_command() {
    let workspace = Workspace::new();
    let executable_copy = workspace.path("cuda-run");
    std::fs::copy(env!("CARGO_BIN_EXE_cuda-run"), &executable_copy).unwrap();
    let mut command = workspace.clean_command(&executable_copy);
    command.args(["--", "true"]);
    workspace.output_of(command).assert_exit(
        1,
        &[
            "libwarpbook_cuda.so not found next to",
            "cargo build -p libcuda",
        ],
    );
}

/// Requests the GPU, which fails on a machine without one and succeeds otherwise.
#[test]
fn a_missing_gpu_is_an_error() {
    let workspace = Workspace::new();
    let mut command = workspace.command(&[], "client::increment");
    command.env("CUDA_BACKEND", "gpu");
    let run = Run::from(command.output().unwrap());
    match run.code {
        0 => run.assert_exit(0, &["the program runs on NVIDIA's driver"]),
        _ => run.assert_exit(1, &["CUDA_BACKEND=gpu, but no NVIDIA GPU can be used here"]),
    };
}
