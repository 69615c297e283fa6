//! The program without checks.

use assert_cmd::Command;
use serde_json::Value;

fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_planted-bugs"));
    program
        .env("CUDA_BACKEND", "sim")
        .env_remove("CUDA_SIM_CHECK");
    program
}

#[test]
fn list_has_name_kind_and_lines() {
    let output = program().arg("--list").assert().success();
    let list: Vec<Value> = serde_json::from_slice(&output.get_output().stdout).unwrap();
    assert!(list.len() >= 40, "{}", list.len());
    let case = list.iter().find(|case| case["name"] == "zeroed-too-late");
    let case = case.unwrap();
    assert_eq!(case["kind"], "race");
    assert_eq!(case["file"], "kernels/bugs/zeroed-too-late.cu");
    assert_eq!(case["kernel"], "zeroed_too_late");
    assert_eq!(case["twin"], "zeroed_too_late_right");
    assert_eq!(case["lines"].as_array().unwrap().len(), 1);
    assert_eq!(case["with"].as_array().unwrap().len(), 1);
}

#[test]
fn faulting_kernel_fails_the_program() {
    let output = program().arg("less-or-equal").assert().code(1);
    let stderr = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    let error = "error: less_or_equal failed: CUDA_ERROR_ILLEGAL_ADDRESS";
    assert!(stderr.contains(error), "{stderr}");
    assert!(
        stderr.contains("kernels/bugs/less-or-equal.cu:9"),
        "{stderr}"
    );
}

#[test]
fn twin_prints_nothing() {
    let arguments = ["less-or-equal", "--right"];
    let output = program().args(arguments).assert().success();
    assert!(output.get_output().stdout.is_empty());
    assert!(output.get_output().stderr.is_empty());
}

#[test]
fn unknown_case_is_an_error() {
    let output = program().arg("no-such").assert().code(1);
    let stderr = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert_eq!(
        stderr,
        "error: there is no case `no-such`; --list prints all cases\n"
    );
    program().assert().code(2);
    program().args(["--list", "less-or-equal"]).assert().code(2);
}
