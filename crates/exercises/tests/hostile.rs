//! Hostile submissions in CUDA C. Each affects only itself, and its message names the problem. Rust
//! submissions are in `rust_submissions`.

mod support;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed};
use serde_json::Value;
use support::{Program, axpy, with_clang};

/// The time limit of a submission in seconds, generous because the machine may be busy.
const SECONDS: &str = "20";

fn graded(text: &str) -> (i32, Value) {
    let program = Program::new();
    let file = program.write("answer.cu", text);
    program.grade_within(SECONDS, "01", &file)
}

/// Asserts that the submission is rejected at a step with a message that contains all parts.
fn rejected(text: &str, step: &str, parts: &[&str]) -> Result<(), Failed> {
    let (code, record) = graded(text);
    let message = record["message"].as_str().unwrap_or_default();
    let has_parts = parts.iter().all(|part| message.contains(part));
    match (code, record["step"].as_str(), has_parts) {
        (1, Some(at), true) if at == step => Ok(()),
        _ => Err(format!("not rejected at {step} with {parts:?}: {record:#}").into()),
    }
}

/// Lists tests of submissions that are rejected, as `name: submission => step, parts of the message;`.
macro_rules! rejected {
    ($($name:literal: $text:expr => $step:literal, $parts:expr;)*) => {
        vec![$(with_clang($name, || rejected(&$text, $step, &$parts))),*]
    };
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut tests = rejected! {
        "an endless loop": axpy("", "for (volatile int j = 0; j >= 0; j = 1) {}")
            => "launch", ["5 s", "never leaves"];
        "a trap": axpy("", "if (i == 0) asm volatile(\"trap;\");") => "launch", ["stopped itself", "line"];
        "a null pointer": axpy("", "if (i == 0) *(volatile float *)0 = 1.0f;")
            => "launch", ["null pointer", "line 5"];
        "a write far out of bounds": axpy("", "if (i == 0) y[1 << 28] = 1.0f;")
            => "launch", ["outside every allocation", "y[1 << 28]"];
        "more memory than available": axpy(
            "extern \"C\" __device__ float huge[1ull << 33];", "if (i < n) huge[i] = huge[i + 1] + a;"
        ) => "compile", ["does not load"];
        "a compiler kept busy": axpy(&support::doubled_macros(), "M39") => "compile", [];
        "a syntax error": axpy("", "float f = ;") => "compile", ["answer.cu:5:", "float f = ;", "^"];
        "another file": format!("#include \"/etc/passwd\"\n{}", axpy("", ""))
            => "compile", ["#include \"/etc/passwd\"", "cuda_device.h"];
        "a missing kernel": axpy("", "").replace("axpy", "saxpy") => "launch", ["`axpy`", "extern \"C\""];
        "an empty file": "" => "launch", ["`axpy`"];
        "a forged verdict": forged_verdict() => "right", ["wrong"];
    };
    tests.push(with_clang("a large output", large_output));
    libtest_mimic::run(&arguments, tests).exit_code()
}

fn forged_verdict() -> String {
    let line = r#"{\"token\":\"\",\"message\":{\"verdict\":{\"seed\":1,\"device\":\"\",\"failure\":null,\"targets\":[],\"counters\":[]}}}"#;
    let prints = format!("if (i == 0) printf(\"\\n{line}\\n\");");
    axpy("", &prints).replace("+ y[i];", "- y[i];")
}

fn large_output() -> Result<(), Failed> {
    let prints = "for (int j = 0; j < 100; ++j) printf(\"hello %d\\n\", j);";
    let (code, record) = graded(&axpy("", prints));
    let printed = record["printed"].as_str().unwrap_or_default();
    let is_truncated = printed.contains("hello 7") && printed.len() < 5000;
    match (code, is_truncated) {
        (0 | 1, true) => Ok(()),
        _ => Err(format!("{} bytes printed: {record:#}", printed.len()).into()),
    }
}
