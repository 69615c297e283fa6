//! Findings about the order of streams.

use libtest_mimic::Failed;

use crate::support::Workspace;

const PROGRAM: &str = "streams.cu";

/// A case of the program, the problem in the first line of its finding, the streams, and part of the cause.
type Case = (&'static str, &'static str, [&'static str; 2], &'static str);

const CASES: [Case; 8] = [
    (
        "kernels",
        "data race between streams",
        [
            "kernel copy in stream 2 reads",
            "kernel fill in stream 1 writes",
        ],
        "call `cudaEventRecord` in stream 1 after its operation and `cudaStreamWaitEvent` in stream 2",
    ),
    (
        "copy",
        "data race between streams",
        [
            "kernel copy in stream 2 reads",
            "a copy of 4096 bytes in stream 1 writes",
        ],
        "nothing makes stream 2 wait for stream 1",
    ),
    (
        "reused",
        "data race between streams",
        [
            "kernel fill in stream 2 writes",
            "a copy of 4096 bytes in stream 1 reads",
        ],
        "nothing makes stream 2 wait for stream 1",
    ),
    (
        "non-blocking",
        "data race between streams",
        [
            "kernel copy in non-blocking stream 3 reads",
            "a fill of 4096 bytes in the default stream writes",
        ],
        "non-blocking stream 3 was created with `cudaStreamNonBlocking`",
    ),
    (
        "result",
        "data race between streams",
        [
            "a copy of 4096 bytes in the default stream reads",
            "kernel fill in non-blocking stream 3 writes",
        ],
        "non-blocking stream 3 was created with `cudaStreamNonBlocking`",
    ),
    (
        "freed",
        "memory freed while work in a stream may still use it",
        [
            "`cudaFreeAsync` in stream 1 frees",
            "kernel copy in stream 2 reads",
        ],
        "free it in the stream that uses it last",
    ),
    (
        "allocated",
        "memory used in a stream that does not wait for its allocation",
        [
            "kernel fill in stream 2 writes",
            "`cudaMallocAsync` in stream 1 allocates",
        ],
        "make stream 2 wait for stream 1",
    ),
    (
        "pooled",
        "memory freed while work in a stream may still use it",
        [
            "`cudaFree` in the host thread frees",
            "kernel fill in stream 1 writes",
        ],
        "`cudaFree` does not wait for work that uses memory from `cudaMallocAsync`",
    ),
];

/// Returns the position of the line of the program that ends with a comment.
fn line(comment: &str) -> String {
    let program = include_str!("../programs/streams.cu");
    let index = program.lines().position(|line| line.ends_with(comment));
    format!(
        "{PROGRAM}:{}",
        index.expect("the program has the comment") + 1
    )
}

pub fn races() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (name, problem, [later, earlier], cause) in CASES {
        let report = workspace.run(&["--check", PROGRAM, "--", name]);
        let problem = format!("error: stream: {problem}\n");
        let at = |operation, position| {
            let line = line(&format!("// {position} {name}"));
            format!("  {operation}, called at {line}\n")
        };
        let operations = at(later, "later") + &at(earlier, "earlier");
        report.assert_exit(1, &["stream): 1 finding.", &problem, &operations, cause])?;
    }
    Ok(())
}

pub fn ordered_streams() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let names = CASES.map(|(name, ..)| name);
    for name in names.into_iter().chain(["used", "halves", "pipeline"]) {
        let report = workspace.run(&["--check", PROGRAM, "--", name, "ordered"]);
        report.assert_exit(0, &["stream): no findings."])?;
    }
    Ok(())
}

pub fn freed_memory() -> Result<(), Failed> {
    let free = line("// later used");
    let cause = format!("likely cause: the memory was freed by `cudaFreeAsync` at {free}");
    let workspace = Workspace::new();
    let report = workspace.run(&["--check", PROGRAM, "--", "used"]);
    report.assert_exit(1, &["error: mem: use after free", &cause])
}

pub fn shuffled_streams() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for seed in ["1", "2", "3"] {
        for (arguments, code, text) in [
            (&["kernels"][..], 1, "data race between streams"),
            (&["kernels", "ordered"][..], 0, "no findings."),
        ] {
            let mut command = workspace.command(&["--check", PROGRAM, "--"]);
            command.args(arguments).env("CUDA_SIM_SHUFFLE", seed);
            let run = crate::run::Run::from(command.output().expect("cannot run cuda-run"));
            run.assert_exit(code, &[text])?;
        }
    }
    Ok(())
}
