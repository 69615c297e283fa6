//! How programs end, by themselves and otherwise.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::support::{Run, Runs};

const ROW: &str = "| adds   |        1 |";

fn ends(runs: &Runs, how: &str) -> Command {
    let mut command = runs.command(&[], "client::ends");
    command.env("ENDS", how);
    command
}

#[test]
fn however_it_ends_it_has_its_summary_and_its_status() {
    let runs = Runs::new();
    for (how, code, why) in [
        ("exit", 4, ""),
        ("_exit", 5, ""),
        ("abort", 134, "ended by signal 6 (SIGABRT"),
        ("segv", 139, "ended by signal 11 (SIGSEGV"),
        ("kill", 137, "ended by signal 9 (SIGKILL"),
        ("terminate", 143, "ended by signal 15 (SIGTERM"),
    ] {
        runs.ended(ends(&runs, how)).says(code, &[ROW, why]);
    }
}

#[test]
fn it_is_ended_at_its_limit_in_the_middle_of_a_launch() {
    let runs = Runs::new();
    let mut command = runs.command(&["--time-limit", "2"], "client::ends");
    command.env("ENDS", "endless");
    runs.ended(command)
        .says(124, &["ended after 2 s, its time limit", ROW]);
}

/// Started in a group of its own, and waited for until it sleeps.
fn sleeping(runs: &Runs) -> Child {
    let mut command = ends(runs, "sleep");
    command
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut started = command.spawn().unwrap();
    let out = BufReader::new(started.stdout.as_mut().unwrap());
    assert!(out.lines().any(|line| line.unwrap() == "sleeping"));
    started
}

#[test]
fn an_interrupt_from_the_keyboard_is_the_programs_own_affair() {
    let runs = Runs::new();
    let started = sleeping(&runs);
    kill_process_group(Pid::from_child(&started), Signal::INT).unwrap();
    let run = Run::from(started.wait_with_output().unwrap());
    run.says(130, &["ended by signal 2 (SIGINT", ROW]);
}

#[test]
fn a_request_to_end_is_handed_on() {
    let runs = Runs::new();
    let started = sleeping(&runs);
    kill_process(Pid::from_child(&started), Signal::TERM).unwrap();
    let run = Run::from(started.wait_with_output().unwrap());
    run.says(143, &["ended by signal 15 (SIGTERM", ROW]);
}

#[test]
fn what_is_no_program_is_an_error() {
    let runs = Runs::new();
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_cuda-run"));
    let with = |words: &[&str]| {
        let mut command = runs.clean(own);
        command.args(words);
        runs.ended(command)
    };
    with(&["--", "no-such-program"]).says(1, &["cannot start no-such-program"]);
    with(&[]).says(2, &["required"]);
    with(&["-O3", "--", "true"]).says(2, &["required"]);
    with(&["--plan", "p.toml", "--", "true"]).says(2, &["required"]);
    with(&["--log", "log.txt", "a.cu"]).says(2, &["--log"]);
    with(&["--log", "nowhere/log.txt", "--", "true"]).says(1, &["nowhere"]);
    with(&["--device", "abacus", "--", "true"]).says(1, &["abacus"]);
}

#[test]
fn without_the_library_it_says_how_to_make_it() {
    let runs = Runs::new();
    let alone = runs.path("cuda-run");
    std::fs::copy(env!("CARGO_BIN_EXE_cuda-run"), &alone).unwrap();
    let mut command = runs.clean(&alone);
    command.args(["--", "true"]);
    runs.ended(command).says(
        1,
        &[
            "libwarpbook_cuda.so is not beside",
            "cargo build -p libcuda",
        ],
    );
}

/// There is no GPU where this runs, or its driver is not used.
#[test]
fn a_gpu_that_is_not_there_is_an_error() {
    let runs = Runs::new();
    let mut command = runs.command(&[], "client::adds");
    command.env("CUDA_BACKEND", "gpu");
    let run = Run::from(command.output().unwrap());
    match run.code {
        0 => run.says(0, &["the program runs on NVIDIA's driver"]),
        _ => run.says(1, &["CUDA_BACKEND=gpu, but no NVIDIA GPU can be used here"]),
    };
}
