//! The report on a program: kernels, profile, record, findings and plot.

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::{Run, Workspace};

pub fn launches_are_listed() -> Result<(), Failed> {
    let run = Workspace::new().run(&["-O3", "-arch=sm_70", "vector-add.cu", "--", "100000"]);
    run.assert_exit(
        0,
        &[
            "| vectorAdd |        3 | ",
            "These times are modelled for the NVIDIA H200;",
        ],
    )?;
    assert_eq!(run.stdout, "100000 sums are right, timed\n");
    let quiet = Workspace::new().run(&["--quiet", "--device", "gtx970", "vector-add.cu"]);
    quiet.assert_exit(0, &[])?;
    assert!(!quiet.stderr.contains('|'), "{quiet:#?}");
    Ok(())
}

pub fn version() -> Result<(), Failed> {
    let run = Workspace::new().run(&["--version"]);
    run.assert_exit(0, &[])?;
    assert_eq!(
        run.stdout,
        format!("cuda-run {}\n", env!("CARGO_PKG_VERSION"))
    );
    Ok(())
}

pub fn profile() -> Result<(), Failed> {
    let run = Workspace::new().run(&["--profile=lines", "vector-add.cu"]);
    let expected = [
        "all launches of each kernel combined",
        "| global load requests ",
        "  vector-add.cu\n",
        "c[i] = a[i] + b[i];",
    ];
    run.assert_exit(0, &expected)
}

/// A script that calls cuda-run for several programs has one record.
pub fn record_of_a_script() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let cuda_run = env!("CARGO_BIN_EXE_cuda-run");
    let script = format!(
        "'{cuda_run}' --quiet vector-add.cu -- 64 && '{cuda_run}' --quiet -- '{cuda_run}' --quiet mistakes.cu"
    );
    let run = workspace.run(&["--check=race", "--json", "--", "sh", "-c", &script]);
    run.assert_exit(1, &["64 sums are right"])?;
    let record: Value = serde_json::from_str(&run.stdout)?;
    chapter_test::check_record("cuda-run", &record);
    let kernels = record["kernels"].as_array().ok_or("no kernels")?;
    let counted = kernels
        .iter()
        .filter(|kernel| !kernel["counters"].is_null());
    let names: Vec<&str> = counted
        .filter_map(|kernel| kernel["kernel"].as_str())
        .collect();
    assert_eq!(names, ["vectorAdd", "race<int>", "swap"]);
    let problems = record["problems"].as_array().ok_or("no problems")?;
    let races = problems.iter().filter(|problem| problem["check"] == "race");
    assert!(races.count() >= 3, "{record:#}");
    Ok(())
}

pub fn record() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let run = workspace.run(&[
        "--json",
        "--check=mem",
        "--profile=lines",
        "vector-add.cu",
        "--",
        "64",
    ]);
    run.assert_exit(0, &["64 sums are right"])?;
    let record: Value = serde_json::from_str(&run.stdout)?;
    chapter_test::check_record("cuda-run", &record);
    let kernel = &record["kernels"][0];
    assert_eq!(
        (&kernel["kernel"], &kernel["launches"]),
        (&"vectorAdd".into(), &3.into())
    );
    assert_eq!(
        kernel["counters"]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
        12
    );
    assert_eq!(record["arguments"], serde_json::json!(["64"]));
    workspace
        .run(&["--json=out.json", "vector-add.cu"])
        .assert_exit(0, &[])?;
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace.path("out.json"))?)?;
    chapter_test::check_record("cuda-run", &record);
    assert_eq!(record["status"], 0);
    Ok(())
}

/// The C and C++ interfaces of our headers, and a program that contains its own NVTX, as with NVIDIA's headers.
pub fn nvtx_ranges() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let rows = |run: &Run| -> Vec<String> {
        let rows = run
            .stderr
            .lines()
            .skip_while(|line| !line.starts_with("| NVTX range"));
        let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
        let cells = cells.take_while(|cells| cells.len() > 4).skip(2);
        cells
            .map(|cells| format!("{} {} {}", cells[1], cells[2], cells[4]))
            .collect()
    };
    for (arguments, expected) in [
        (
            &["--profile", "nvtx.cu"][..],
            &[
                "inner 3 3",
                "outer 1 4",
                "other: inner 1 0",
                "wide 1 1",
                "registered 2 1",
                "other: scope 1 1",
            ][..],
        ),
        (
            &["--profile", "-DATTACHED", "nvtx.cu"],
            &["inner 1 0", "library: inner 1 1"],
        ),
    ] {
        let run = workspace.run(arguments);
        run.assert_exit(0, &["Host times are measured on this machine"])?;
        assert_eq!(rows(&run), expected, "{run:#?}");
    }
    let run = workspace.run(&["--json", "nvtx.cu"]);
    let record: Value = serde_json::from_str(&run.stdout)?;
    chapter_test::check_record("cuda-run", &record);
    let range = &record["ranges"][2];
    assert_eq!(
        (&range["name"], &range["domain"]),
        (&"inner".into(), &"other".into())
    );
    let run = workspace.run(&["nvtx.cu"]);
    assert!(!run.stderr.contains("NVTX"), "{run:#?}");
    Ok(())
}

pub fn check() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let clean = workspace.run(&["--check", "vector-add.cu"]);
    clean.assert_exit(
        0,
        &["Checked (mem, init, race, sync, leak, host, stream): no findings."],
    )?;
    workspace.write(
        "race.cu",
        "__global__ void k(int *p) { p[0] = threadIdx.x; p[1] = p[0]; }\n\
         int main() { int *p; cudaMalloc(&p, 8); k<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFree(p); }\n",
    );
    workspace
        .run(&["--check=race", "race.cu"])
        .assert_exit(1, &["in kernel k,", "race.cu:1", "Checked (race): "])
}

pub fn plot() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace
        .run(&["--plot", "times", "vector-add.cu"])
        .assert_exit(0, &["The plot: "])?;
    assert!(workspace.path("times.svg").is_file() && workspace.path("times.png").is_file());
    Ok(())
}

/// Identical launches are recorded by a counter, which also survives SIGKILL.
pub fn identical_launches_are_counted() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "alike.cu",
        "#include <csignal>\n\
         __global__ void a() {}\n\
         __global__ void b(int *p) { atomicAdd(p, 1); }\n\
         int main() {\n\
             int *p; cudaMalloc(&p, 4);\n\
             for (int i = 0; i < 500; i++) {\n\
                 a<<<1, 32>>>();\n\
                 if (i % 10 == 0) a<<<2, 32>>>();\n\
                 b<<<1, 64>>>(p);\n\
             }\n\
             cudaDeviceSynchronize();\n\
             raise(SIGKILL);\n\
         }\n",
    );
    let expected = [
        "| a      |      550 | varied |",
        "| b      |      500 | 1      |",
    ];
    workspace.run(&["alike.cu"]).assert_exit(137, &expected)
}

pub fn faults_are_reported() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "fault.cu",
        "__global__ void k(int *p) { p[100000000] = 1; }\n\
         int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return cudaDeviceSynchronize() ? 9 : 0; }\n",
    );
    workspace.run(&["fault.cu"]).assert_exit(
        9,
        &[
            "illegal address",
            "in kernel k, block (0, 0, 0)",
            "at fault.cu:1",
            "No kernel launch completed",
        ],
    )
}

/// Accesses past the end of memory that a GPU does not detect are warnings, and findings of the memory check; the
/// program continues.
pub fn undetected_accesses_are_reported() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "slack.cu",
        r#"#include <cstdio>
__global__ void global(int *p) {
    p[threadIdx.x] = threadIdx.x;
    atomicAdd(p + threadIdx.x, 1);
}
__global__ void shared(int *p) {
    extern __shared__ int s[];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void byte(char *p) { p[512] = 1; }
int main() {
    int *p, *managed, got[25];
    cudaMalloc(&p, sizeof got);
    cudaMallocManaged(&managed, 4);
    for (int i = 0; i < 2; i++) global<<<1, 32>>>(p);
    shared<<<1, 32, 100>>>(p);
    global<<<1, 32>>>(managed);
    cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", got[0], got[24], managed[0]);
    byte<<<1, 1>>>((char *)p);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
"#,
    );
    let warning = "a GPU does not detect this access";
    let run = workspace.run(&["slack.cu"]);
    run.assert_exit(0, &["mem: out-of-bounds access", "at slack.cu:3", warning])?;
    let expected = "32 8 1\nan illegal memory access was encountered\n";
    assert_eq!(run.stdout, expected, "{run:#?}");
    // Two lines of each kernel, which are printed for the first launch only.
    assert_eq!(run.stderr.matches(warning).count(), 4, "{run:#?}");
    // Another check does not report them again.
    let run = workspace.run(&["--check=race", "slack.cu"]);
    assert_eq!(run.stderr.matches(warning).count(), 4, "{run:#?}");
    let run = workspace.run(&["--check", "slack.cu"]);
    run.assert_exit(1, &["error: mem: out-of-bounds access", "at slack.cu:8"])?;
    assert_eq!(run.stdout, expected, "{run:#?}");
    assert!(!run.stderr.contains("read of uninitialized"), "{run:#?}");
    Ok(())
}

/// A fault that is a finding is in the report, and not printed before as well.
pub fn checked_faults_are_reported_once() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "fault.cu",
        "__global__ void k(int *p) { p[128] = 1; }\n\
         int main() { int *p; cudaMalloc(&p, 512); k<<<1, 1>>>(p); cudaDeviceSynchronize(); }\n",
    );
    for (flags, report) in [
        (&["--check=mem", "fault.cu"][..], true),
        (&["--check=mem", "--quiet", "fault.cu"], false),
        (&["--check=mem", "--json", "fault.cu"], false),
    ] {
        let run = workspace.run(flags);
        run.assert_exit(1, &["1 finding.", "right past the end", "likely cause"])?;
        assert_eq!(run.stderr.matches("right past").count(), 1, "{run:#?}");
        let has_table = run.stderr.contains("No kernel launch completed");
        assert_eq!(has_table, report, "{run:#?}");
    }
    Ok(())
}

/// A failed assertion, a trap and a rejected module are no findings of a check, but the checks have not seen the
/// whole program.
pub fn incomplete_checks_fail() -> Result<(), Failed> {
    let workspace = Workspace::new();
    let main = "int main() { k<<<1, 1>>>(4); cudaDeviceSynchronize(); return 0; }\n";
    for (file, kernel) in [
        (
            "assert.cu",
            "#include <cassert>\n__global__ void k(int n) { assert(n < 4); }\n",
        ),
        ("trap.cu", "__global__ void k(int) { __trap(); }\n"),
        ("new.cu", "__global__ void k(int) {}\n"),
    ] {
        workspace.write(file, &format!("{kernel}{main}"));
    }
    for (flags, reason, incomplete) in [
        (
            &["assert.cu"][..],
            "Assertion `n < 4` failed",
            "1 launch failed",
        ),
        (&["trap.cu"], "in kernel k", "1 launch failed"),
        (
            &["--device", "gtx970", "--arch", "sm_80", "new.cu"],
            "the module is for sm_80",
            "1 module was rejected",
        ),
    ] {
        workspace.run(flags).assert_exit(0, &[reason])?;
        for checks in [&["--check"][..], &["--check", "--quiet"]] {
            let run = workspace.run(&[checks, flags].concat());
            run.assert_exit(1, &[reason, incomplete])?;
            assert!(!run.stderr.contains("no findings"), "{run:#?}");
        }
    }
    Ok(())
}

/// The compiler unrolls the loop, and merges loads of both branches, which then have no line.
pub fn findings_of_copied_lines_are_grouped() -> Result<(), Failed> {
    let workspace = Workspace::new();
    workspace.write(
        "unrolled.cu",
        "__global__ void k(int *p) {\n\
             __shared__ int s[64];\n\
             int t = threadIdx.x;\n\
             s[t] = p[t];\n\
             __syncthreads();\n\
             for (int i = 0; i < 12; i++) {\n\
                 int v = blockIdx.x == 0 ? s[i] + t : s[63 - i] + p[(t + i) % 64];\n\
                 if (v < s[t]) s[t] = v;\n\
             }\n\
             p[t] = s[t];\n\
         }\n\
         int main() {\n\
             int h[64], *p;\n\
             for (int i = 0; i < 64; i++) h[i] = i * 37 % 64 * 10;\n\
             cudaMalloc(&p, sizeof(h));\n\
             cudaMemcpy(p, h, sizeof(h), cudaMemcpyHostToDevice);\n\
             k<<<1, 64>>>(p);\n\
             cudaDeviceSynchronize();\n\
             cudaFree(p);\n\
         }\n",
    );
    let run = workspace.run(&["--check=race", "unrolled.cu"]);
    run.assert_exit(1, &["unrolled.cu:7", "times, PTX lines "])?;
    assert!(run.stderr.matches("data race").count() <= 6, "{run:#?}");
    assert!(!run.stderr.contains("s at PTX line"), "{run:#?}");
    Ok(())
}
