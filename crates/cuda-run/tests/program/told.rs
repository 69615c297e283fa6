//! What is told of the kernels: the summary, a profile, the record, checks, a picture.

use libtest_mimic::Failed;
use serde_json::Value;

use crate::support::Folder;

pub fn vector_add() -> Result<(), Failed> {
    let run = Folder::new().run(&["-O3", "-arch=sm_70", "vector-add.cu", "--", "100000"]);
    run.says(
        0,
        &[
            "| vectorAdd |        3 | ",
            "modelled, NVIDIA H200",
            "These times are a model's",
        ],
    )?;
    assert_eq!(run.stdout, "100000 sums are right, timed\n");
    let quiet = Folder::new().run(&["--quiet", "--device", "gtx970", "vector-add.cu"]);
    quiet.says(0, &[])?;
    assert!(!quiet.stderr.contains('|'), "{quiet:#?}");
    Ok(())
}

pub fn profile() -> Result<(), Failed> {
    let run = Folder::new().run(&["--profile=lines", "vector-add.cu"]);
    let words = [
        "all launches of a kernel together",
        "| global load requests ",
        "  vector-add.cu\n",
        "c[i] = a[i] + b[i];",
    ];
    run.says(0, &words)
}

pub fn record() -> Result<(), Failed> {
    let folder = Folder::new();
    let run = folder.run(&[
        "--json",
        "--check=mem",
        "--profile=lines",
        "vector-add.cu",
        "--",
        "64",
    ]);
    run.says(0, &["64 sums are right"])?;
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
    folder
        .run(&["--json=out.json", "vector-add.cu"])
        .says(0, &[])?;
    let record: Value = serde_json::from_str(&std::fs::read_to_string(folder.path("out.json"))?)?;
    chapter_test::check_record("cuda-run", &record);
    assert_eq!(record["status"], 0);
    Ok(())
}

pub fn check() -> Result<(), Failed> {
    let folder = Folder::new();
    let good = folder.run(&["--check", "vector-add.cu"]);
    good.says(
        0,
        &["Checked (mem, init, race, sync, leak, host): nothing found."],
    )?;
    folder.write(
        "race.cu",
        "__global__ void k(int *p) { p[0] = threadIdx.x; p[1] = p[0]; }\n\
         int main() { int *p; cudaMalloc(&p, 8); k<<<1, 64>>>(p); cudaDeviceSynchronize(); cudaFree(p); }\n",
    );
    folder
        .run(&["--check=race", "race.cu"])
        .says(1, &["in kernel k,", "race.cu:1", "Checked (race): "])
}

pub fn plot() -> Result<(), Failed> {
    let folder = Folder::new();
    folder
        .run(&["--plot", "times", "vector-add.cu"])
        .says(0, &["The plot: "])?;
    assert!(folder.path("times.svg").is_file() && folder.path("times.png").is_file());
    Ok(())
}

/// Launches that are alike are told of by a count: all of them, in a program that is killed too.
pub fn alike() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
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
    let told = [
        "| a      |      550 | varied |",
        "| b      |      500 | 1      |",
    ];
    folder.run(&["alike.cu"]).says(137, &told)
}

pub fn faults() -> Result<(), Failed> {
    let folder = Folder::new();
    folder.write(
        "fault.cu",
        "__global__ void k(int *p) { p[100000000] = 1; }\n\
         int main() { int *p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return cudaDeviceSynchronize() ? 9 : 0; }\n",
    );
    folder.run(&["fault.cu"]).says(
        9,
        &[
            "illegal address",
            "in kernel k, block (0, 0, 0)",
            "at fault.cu:1",
            "No launch of the program came to its end",
        ],
    )
}
