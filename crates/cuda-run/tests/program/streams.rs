//! Findings about the order of streams.

use libtest_mimic::Failed;

use crate::support::Workspace;

const PROGRAM: &str = "streams.cu";

/// A case of the program, the problem in the first line of its finding, the streams, and part of the cause.
type Case = (&'static str, &'static str, [&'static str; 2], &'static str);

const CASES: [Case; 10] = [
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
    (
        "texture",
        "data race between streams",
        [
            "kernel fetch in stream 2 reads",
            "a copy of 4096 bytes in stream 1 writes",
        ],
        "call `cudaEventRecord` in stream 1 after its operation",
    ),
    (
        "surface",
        "data race between streams",
        [
            "a copy of 4096 bytes in stream 2 reads",
            "kernel draw in stream 1 writes",
        ],
        "call `cudaEventRecord` in stream 1 after its operation",
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

/// The host's use of the halves of a page-locked buffer: `good` always writes the one that no copy uses.
pub fn host_accesses() -> Result<(), Failed> {
    let workspace = Workspace::new();
    for (name, statement, finding) in [
        ("write", "write(file, h + 256, 1024);", None),
        ("read", "read(file, h + 256, 1024);", None),
        (
            "other",
            "fwrite(h, 4, 256, stdout);",
            Some("the program reads byte 0 of"),
        ),
        (
            "event",
            "cudaEventSynchronize(e); x = h[0];",
            Some("was recorded in stream 1 before the operation, at host.cu:8"),
        ),
        (
            "stream",
            "cudaStreamSynchronize(t); x = h[0];",
            Some("the program waited for stream 2, not for stream 1"),
        ),
        (
            "after",
            "h[300] = 1; h[0] = 1;",
            Some("the program writes byte 0 of"),
        ),
    ] {
        let text = format!(
            "#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\nint main() {{\n\
             int *h, *d, file = open(\"/dev/zero\", O_RDWR); volatile int x; cudaStream_t s, t; cudaEvent_t e;\n\
             cudaMallocHost(&h, 2048); cudaMalloc(&d, 2048); cudaMemset(d, 0, 2048); cudaDeviceSynchronize();\n\
             cudaStreamCreate(&s); cudaStreamCreate(&t); cudaEventCreate(&e); cudaMemsetAsync(d + 256, 0, 4, t);\n\
             cudaEventRecord(e, s);\n\
             cudaMemcpyAsync(h, d, 1024, cudaMemcpyDeviceToHost, s);\n\
             long n = 1024; (void)n; (void)x; {}\n\
             cudaDeviceSynchronize(); cudaFreeHost(h); cudaFree(d); cudaStreamDestroy(s); cudaStreamDestroy(t);\n\
             cudaEventDestroy(e); return n == 1024 ? 0 : 3; }}\n",
            match finding {
                None => format!("n = {statement}"),
                Some(_) => statement.to_owned(),
            }
        );
        workspace.write("host.cu", &text);
        let run = workspace.run(&["--check", "host.cu"]);
        match finding {
            None => run.assert_exit(0, &["no findings"]),
            Some(finding) => run.assert_exit(1, &["error: host: ", "at host.cu:10", finding]),
        }
        .map_err(|error| format!("{name}: {error:?}"))?;
    }
    Ok(())
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
