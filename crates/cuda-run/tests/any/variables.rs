//! The same without the command: the library reads what is asked of it, and tells it itself.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Runs, program};

/// The program, with the library under the name that it loads.
fn alone(runs: &Runs, name: &str, asked: &[(&str, &str)]) -> Command {
    let folder = runs.path("lib");
    if !folder.exists() {
        std::fs::create_dir(&folder).unwrap();
        let beside = Path::new(env!("CARGO_BIN_EXE_cuda-run")).parent().unwrap();
        let library = beside.join("deps/libwarpbook_cuda.so");
        std::os::unix::fs::symlink(library, folder.join("libcuda.so.1")).unwrap();
    }
    let words = program(name);
    let mut command = runs.clean(Path::new(&words[0]));
    command
        .args(&words[1..])
        .env("LD_LIBRARY_PATH", folder)
        .env("CUDA_BACKEND", "sim");
    command.envs(asked.iter().copied());
    command
}

#[test]
fn it_sums_up_on_standard_error() {
    let runs = Runs::new();
    let row = "| adds   |        2 |";
    let run = runs.ended(alone(&runs, "client::adds", &[("CUDA_SIM_SUMMARY", "1")]));
    run.says(0, &["warpbook: process ", row])
        .says_not(&["Profile"]);
    let asked = [("CUDA_SIM_PROFILE", "summary"), ("CUDA_SIM_CHECK", "leak")];
    let run = runs.ended(alone(&runs, "client::adds", &asked));
    run.says(
        0,
        &[
            row,
            "| global load requests ",
            "Checked (leak): nothing found.",
        ],
    );
    let run = runs.ended(alone(&runs, "client::adds", &[]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let idle = runs.ended(alone(
        &runs,
        "client::only_starts",
        &[("CUDA_SIM_SUMMARY", "1")],
    ));
    idle.says(0, &[]).says_not(&["process"]);
}

#[test]
fn it_sums_up_where_a_signal_ends_the_program() {
    let runs = Runs::new();
    for how in ["exit", "abort", "terminate"] {
        let mut command = alone(&runs, "client::ends", &[("CUDA_SIM_SUMMARY", "1")]);
        command.env("ENDS", how);
        let run = runs.ended(command);
        run.says(
            if how == "exit" { 4 } else { -1 },
            &["| adds   |        1 |"],
        );
        assert_eq!(run.stderr.matches("| adds ").count(), 1, "{run:#?}");
    }
}

#[test]
fn records_and_logs_of_several_processes_are_in_one_file() {
    let runs = Runs::new();
    let asked = [("CUDA_SIM_JSON", "out.json"), ("CUDA_SIM_LOG", "log.txt")];
    for _ in 0..2 {
        runs.ended(alone(&runs, "client::adds", &asked))
            .says(0, &[])
            .says_not(&["|"]);
    }
    let records = std::fs::read_to_string(runs.path("out.json")).unwrap();
    let records: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 2);
    records
        .iter()
        .for_each(|record| chapter_test::check_record("cuda-run", record));
    assert_eq!(records[1]["kernels"][0]["launches"], 2);
    let log = std::fs::read_to_string(runs.path("log.txt")).unwrap();
    assert_eq!(log.matches("cuLaunchKernel: 2").count(), 2, "{log}");
}

#[test]
fn what_it_is_not_to_be_asked_keeps_it_from_starting() {
    let runs = Runs::new();
    for (name, value, why) in [
        ("CUDA_SIM_SUMMARY", "yes", "neither 1 nor 0"),
        ("CUDA_SIM_PROFILE", "all", "neither summary nor lines"),
        ("CUDA_SIM_LOG", "nowhere/log.txt", "there is no folder"),
    ] {
        let run = runs.ended(alone(&runs, "client::adds", &[(name, value)]));
        run.says(101, &[name, why]);
    }
}
