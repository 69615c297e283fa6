//! Runs the real program on the simulator.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 in, .param .u64 out, .param .u32 more) {
    .reg .b32 %r<4>;
    .reg .b64 %d<5>;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %d1, [in];
    ld.param.u64 %d2, [out];
    ld.param.u32 %r3, [more];
    mad.wide.u32 %d3, %r1, 4, %d1;
    mad.wide.u32 %d4, %r1, 4, %d2;
    ld.global.u32 %r2, [%d3];
    mad.lo.u32 %r2, %r2, 2, %r3;
    st.global.u32 [%d4], %r2;
    ret;
}
";

fn plan(label: &str, kernel: &str, more: u32) -> String {
    format!(
        r#"{{"label": "{label}", "ptx": "kernels.ptx", "plan": {{
            "buffer": [
                {{"name": "in", "type": "u32", "count": 64, "fill": "hash(3, i) % 10"}},
                {{"name": "out", "type": "u32", "count": 64}}],
            "launch": [{{"kernel": "{kernel}", "grid": 1, "block": 64,
                "arguments": ["in", "out", {more}]}}]}}}}"#
    )
}

fn run(directory: &Path, text: &str, arguments: &[&str]) -> Output {
    fs::write(directory.join("kernels.ptx"), PTX).expect("a file");
    fs::write(directory.join("plan.json"), text).expect("a file");
    Command::new(env!("CARGO_BIN_EXE_launches"))
        .arg(directory.join("plan.json"))
        .args(arguments)
        .env("CUDA_BACKEND", "sim")
        .env_remove("CUDA_SIM_DEVICE")
        .output()
        .expect("the program starts")
}

fn lines(output: &Output) -> Vec<serde_json::Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("lines of JSON")
}

#[test]
fn each_launch_has_counters_and_a_hash_of_its_results() {
    let directory = tempfile::tempdir().expect("a folder");
    let (first, second) = (plan("one", "twice", 0), plan("other", "twice", 1));
    let output = run(
        directory.path(),
        &format!("[{first}, {second}, {first}]"),
        &[],
    );
    let records = lines(&output);
    assert_eq!(records.len(), 3, "{output:?}");
    let counter = |name: &str| records[0]["counters"][name].as_u64();
    assert_eq!(
        counter("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
        Some(2)
    );
    assert_eq!(
        counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
        Some(8)
    );
    // Equal inputs produce equal results.
    assert_eq!(records[0]["results"], records[2]["results"]);
    assert_eq!(records[0]["results"][0], records[1]["results"][0]);
    assert_ne!(records[0]["results"][1], records[1]["results"][1]);
    let output = run(
        directory.path(),
        &format!("[{first}, {second}]"),
        &["--only", "other"],
    );
    assert_eq!(lines(&output)[0]["label"], "other");
}

#[test]
fn invalid_plans_are_reported() {
    let directory = tempfile::tempdir().expect("a folder");
    let valid = plan("one", "twice", 0);
    for (text, arguments, expected) in [
        ("[]".to_owned(), &[][..], "no launch to run"),
        ("[1]".to_owned(), &[][..], "not a list of launches"),
        (
            format!("[{valid}]"),
            &["--only", "two"][..],
            "no launch to run",
        ),
        (
            format!("[{}]", plan("one", "thrice", 0)),
            &[][..],
            "no kernel thrice",
        ),
        (
            format!("[{}]", valid.replace("kernels.ptx", "none.ptx")),
            &[][..],
            "none.ptx",
        ),
        (
            format!("[{}]", valid.replace("u32\"", "u33\"")),
            &[][..],
            "unknown type u33",
        ),
    ] {
        let output = run(directory.path(), &text, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    let missing = Command::new(env!("CARGO_BIN_EXE_launches"))
        .arg(directory.path().join("nothing.json"))
        .env("CUDA_BACKEND", "sim")
        .output()
        .expect("the program starts");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot read the plan"));
}
