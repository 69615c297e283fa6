//! Reports of calls that fail.

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::Workspace;

const PROGRAM: &str = "failures.cu";

/// The failed calls of the program: the comment at the end of the line, the call with its error, and part of the reason.
const FAILURES: [(&str, &str, &str); 14] = [
    (
        "launch",
        "launch of k (cudaLaunchKernel) failed with cudaErrorInvalidValue",
        "the block is 0 x 1 x 1",
    ),
    (
        "bounds",
        "launch of bounded (cudaLaunchKernel) failed with cudaErrorInvalidValue",
        "at most 64 by __launch_bounds__",
    ),
    (
        "shared",
        "launch of k (cudaLaunchKernel) failed with cudaErrorInvalidValue",
        "MaxDynamicSharedMemorySize, 50000)",
    ),
    (
        "symbol",
        "cudaMemcpyToSymbol failed with cudaErrorInvalidSymbol",
        "the program has `total`",
    ),
    (
        "size",
        "cudaMemcpyToSymbol failed with cudaErrorInvalidValue",
        "byte 16 of the variable, which has 4 bytes",
    ),
    (
        "direction",
        "cudaMemcpy failed with cudaErrorInvalidValue",
        "is not device memory",
    ),
    (
        "host",
        "cudaMemcpy failed with cudaErrorInvalidValue",
        "the destination covers bytes 0 to 5000 of an allocation of 4096 bytes",
    ),
    (
        "set",
        "cudaMemset failed with cudaErrorInvalidValue",
        "bytes 0 to 8192 of an allocation of 4096 bytes",
    ),
    (
        "huge",
        "cudaMalloc failed with cudaErrorMemoryAllocation",
        "1125899906842624 bytes are requested",
    ),
    (
        "past",
        "cudaMemcpy failed with cudaErrorInvalidValue",
        "bytes 16384 to 16388 of an allocation of 4096 bytes",
    ),
    (
        "pitch",
        "cudaMemcpy2D failed with cudaErrorInvalidPitchValue",
        "16 bytes exceeds the destination's pitch of 4 bytes",
    ),
    (
        "array",
        "cudaMemcpy failed with cudaErrorInvalidValue",
        "the destination is a cudaArray",
    ),
    (
        "event",
        "cudaEventElapsedTime failed with cudaErrorInvalidResourceHandle",
        "never recorded",
    ),
    (
        "free",
        "cudaFree failed with cudaErrorInvalidValue",
        "which has been freed already",
    ),
];

/// Returns the text of each failed call in the report.
fn reported(stderr: &str) -> Vec<&str> {
    let parts = stderr.split("\n\n");
    parts.filter(|part| part.contains(": api: ")).collect()
}

/// Returns the line of the program with this comment.
fn line_of(comment: &str) -> usize {
    let text = include_str!("../programs/failures.cu");
    let end = format!("// {comment}");
    1 + text
        .lines()
        .position(|line| line.ends_with(&end))
        .expect("the comment")
}

pub fn ignored_errors() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&[PROGRAM]);
    run.assert_exit(
        0,
        &["A failed call does nothing: check the result of every call"],
    )?;
    let calls = reported(&run.stderr);
    for (comment, call, reason) in FAILURES {
        let location = format!("  at {PROGRAM}:{}\n", line_of(comment));
        let found = calls.iter().any(|text| {
            text.starts_with(&format!("error: api: {call}"))
                && text.contains(&location)
                && text.contains(reason)
                && text.contains("and the program ignored it")
        });
        if !found {
            return Err(format!("{comment}: {call}: {reason}: {:#?}", run.stderr).into());
        }
    }
    assert_eq!(calls.len(), FAILURES.len(), "{calls:#?}");
    // The record has them, and with checks they fail the run.
    let run = workspace.run(&["--json", "--check=mem", PROGRAM]);
    run.assert_exit(1, &[])?;
    let record: Value = serde_json::from_str(&run.stdout)?;
    chapter_test::check_record("cuda-run", &record);
    assert_eq!(
        record["failed_calls"][0]["location"]["line"],
        line_of("launch")
    );
    workspace
        .run(&["--api=none", "--check=mem", PROGRAM])
        .assert_exit(0, &[])
}

pub fn launches_of_one_line() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "line.cu",
        "__global__ void first(int *p) { *p = 1; }\n__global__ void second(int *p) { *p = 2; }\n\
         void launch(void (*kernel)(int *)) { kernel<<<1, 2048>>>(nullptr); }\n\
         int main() { launch(first); launch(second); launch(second); }\n",
    );
    let run = workspace.run(&["line.cu"]);
    run.assert_exit(
        0,
        &[
            "launch of first (cudaLaunchKernel) failed with cudaErrorInvalidValue (invalid argument), and the program ignored it\n  at line.cu:3",
            "launch of second (cudaLaunchKernel) failed with cudaErrorInvalidValue (invalid argument) 2 times, and the program ignored it\n  at line.cu:3",
        ],
    )
}

pub fn handled_errors() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&["--check=mem", PROGRAM, "--", "checks"]);
    run.assert_exit(0, &["Checked (mem): no findings."])?;
    assert!(reported(&run.stderr).is_empty(), "{run:#?}");
    let run = workspace.run(&["--check=mem", "--api=all", PROGRAM, "--", "checks"]);
    run.assert_exit(
        0,
        &["note: api: cudaHostRegister failed with cudaErrorHostMemoryAlreadyRegistered"],
    )?;
    assert!(!run.stderr.contains("ignored"), "{run:#?}");
    Ok(())
}

pub fn kernels_that_do_not_load() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "old.cu",
        "#include <cstdio>\n\
         __global__ void k() {}\n\
         int main() {\n\
             k<<<1, 1>>>();\n\
             printf(\"%s\\n\", cudaGetErrorString(cudaGetLastError()));\n\
         }\n",
    );
    let run = workspace.run(&["--check=mem", "--device=gtx970", "--arch=sm_80", "old.cu"]);
    run.assert_exit(
        1,
        &["  at old.cu:4\n  the program's kernels do not load: the module is for sm_80"],
    )
}

pub fn repeated_frees() -> Result<(), Failed> {
    let program = "int main() {\n\
                       float *p, *q, *h;\n\
                       cudaMalloc(&p, 400);\n\
                       cudaFree(p);\n\
                       cudaFree(p);\n\
                       cudaMalloc(&q, 800);\n\
                       cudaFree(q + 2);\n\
                       cudaMallocHost(&h, 16);\n\
                       cudaFree(h);\n\
                       cudaFreeHost(h);\n\
                       cudaFreeAsync(q, 0);\n\
                       for (int i = 0; i < 2; i++)\n\
                           cudaFree(q);\n\
                   }\n";
    let workspace = Workspace::new();
    workspace.write("frees.cu", program);
    let expected = [
        "at frees.cu:5\n  0x1000000000000 was the 400-byte allocation `p` at frees.cu:3 (`cudaMalloc`), which has been freed \
         already at frees.cu:4",
        "at frees.cu:7\n  0x1000000100208 is byte 8 of the 800-byte allocation `q` at frees.cu:6 (`cudaMalloc`): pass the \
         pointer to its start",
        "is the 16-byte allocation `h` at frees.cu:8 (`cudaMallocHost`), which another function frees",
        "(invalid argument) 2 times, and the program ignored it\n  at frees.cu:13\n  0x1000000100200 was the 800-byte \
         allocation `q` at frees.cu:6 (`cudaMalloc`), which has been freed already at frees.cu:11",
        ": 5 calls failed, see below.",
        "Failed calls: 5.",
    ];
    workspace
        .run(&["--check", "frees.cu"])
        .assert_exit(1, &expected)
}
