//! Hostile submissions in CUDA C. Each affects only itself, and its message names the problem. Rust
//! submissions are in `rust_submissions`.

mod support;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed};
use serde_json::Value;
use support::{Program, with_clang};

const HEAD: &str = "#include \"cuda_device.h\"\n";

/// Returns the correct submission to the first exercise with additional code before and in the kernel.
fn axpy(before: &str, within: &str) -> String {
    format!(
        "{HEAD}{before}\nextern \"C\" __global__ void axpy(float a, const float *x, float *y, \
         unsigned int n) {{\n    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;\n    {within}\n    \
         if (i < n) y[i] = a * x[i] + y[i];\n}}\n"
    )
}

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

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let tests = vec![
        with_clang("an endless loop", || {
            let text = axpy("", "for (volatile int j = 0; j >= 0; j = 1) {}");
            rejected(&text, "launch", &["5 s", "never leaves"])
        }),
        with_clang("a trap", || {
            rejected(
                &axpy("", "if (i == 0) asm volatile(\"trap;\");"),
                "launch",
                &["stopped itself", "line"],
            )
        }),
        with_clang("a null pointer", || {
            let text = axpy("", "if (i == 0) *(volatile float *)0 = 1.0f;");
            rejected(&text, "launch", &["null pointer", "line 5"])
        }),
        with_clang("a write far out of bounds", || {
            let text = axpy("", "if (i == 0) y[1 << 28] = 1.0f;");
            rejected(&text, "launch", &["outside every allocation", "y[1 << 28]"])
        }),
        with_clang("more memory than available", || {
            let huge = "extern \"C\" __device__ float huge[1ull << 33];";
            let text = axpy(huge, "if (i < n) huge[i] = huge[i + 1] + a;");
            rejected(&text, "compile", &["does not load"])
        }),
        with_clang("a compiler kept busy", || {
            let doubled = (1..40).map(|i| format!("#define M{i} M{0} M{0}\n", i - 1));
            let bomb = format!("#define M0 ;\n{}", doubled.collect::<String>());
            rejected(&axpy(&bomb, "M39"), "compile", &[])
        }),
        with_clang("a syntax error", || {
            let text = axpy("", "float f = ;");
            rejected(&text, "compile", &["answer.cu:5:", "float f = ;", "^"])
        }),
        with_clang("another file", || {
            let text = format!("#include \"/etc/passwd\"\n{}", axpy("", ""));
            rejected(
                &text,
                "compile",
                &["#include \"/etc/passwd\"", "cuda_device.h"],
            )
        }),
        with_clang("a missing kernel", || {
            let text = axpy("", "").replace("axpy", "saxpy");
            rejected(&text, "launch", &["`axpy`", "extern \"C\""])
        }),
        with_clang("an empty file", || rejected("", "launch", &["`axpy`"])),
        with_clang("a forged verdict", || {
            let line = r#"{\"token\":\"\",\"message\":{\"verdict\":{\"seed\":1,\"device\":\"\",\"failure\":null,\"targets\":[],\"counters\":[]}}}"#;
            let text = axpy("", &format!("if (i == 0) printf(\"\\n{line}\\n\");"))
                .replace("+ y[i];", "- y[i];");
            rejected(&text, "right", &["wrong"])
        }),
        with_clang("a large output", || {
            let text = axpy(
                "",
                "for (int j = 0; j < 100; ++j) printf(\"hello %d\\n\", j);",
            );
            let (code, record) = graded(&text);
            let printed = record["printed"].as_str().unwrap_or_default();
            let is_truncated = printed.contains("hello 7") && printed.len() < 5000;
            match (code, is_truncated) {
                (0 | 1, true) => Ok(()),
                _ => Err(format!("{} bytes printed: {record:#}", printed.len()).into()),
            }
        }),
    ];
    libtest_mimic::run(&arguments, tests).exit_code()
}
