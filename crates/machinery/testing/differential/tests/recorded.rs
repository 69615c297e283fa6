//! Compares the simulator with results recorded on a GPU, and its compiled code with its interpreter; tests the program's
//! errors.

use std::fs;

use assert_cmd::Command;
use differential::record::Record;
use tempfile::TempDir;

/// The first kernels of the series on an NVIDIA H200. The README.md in its folder describes how it was
/// recorded.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recorded/h200.jsonl");

fn differential(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("differential").expect("the program is not built");
    command.args(arguments).env("CUDA_BACKEND", "sim");
    command
}

fn to_text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

#[test]
fn compiled_code_has_the_results_of_the_interpreter() {
    let arguments = [
        "check",
        "--compiled",
        "--seed",
        "46",
        "--kernels",
        "80",
        "--jobs",
        "2",
    ];
    let output = differential(&arguments)
        .output()
        .expect("cannot run the program");
    let text = to_text(&output.stdout);
    assert!(output.status.success(), "{text}{}", to_text(&output.stderr));
    assert!(text.contains("80 kernels compared, 0 differ;"), "{text}");
}

#[test]
fn simulator_reproduces_the_recorded_gpu_results() {
    let recorded = fs::read_to_string(RECORDED).expect("cannot read the recorded results");
    let recorded: Vec<Record> = recorded
        .lines()
        .map(|line| serde_json::from_str(line).expect("not a record"))
        .collect();
    let count = recorded.len();
    assert!(count >= 300, "only {count} kernels are recorded");
    // The record omits kernels that NVIDIA's assembler miscompiles.
    let kernels = recorded[count - 1].kernel + 1;
    let folder = TempDir::new().expect("cannot create a folder");
    let simulated = folder.path().join("ours.jsonl");
    let simulated = simulated.to_str().expect("the path is not UTF-8");
    let kernels = kernels.to_string();
    differential(&[
        "run",
        "--jobs",
        "2",
        "--kernels",
        &kernels,
        "--save",
        simulated,
    ])
    .assert()
    .success();
    let compared = differential(&["compare", simulated, RECORDED])
        .output()
        .expect("cannot run the program");
    let text = to_text(&compared.stdout);
    assert!(
        compared.status.success(),
        "{text}{}",
        to_text(&compared.stderr)
    );
    assert!(
        text.starts_with(&format!("{count} kernels compared, 0 differ")),
        "{text}"
    );
}

#[test]
fn differences_are_reported_as_an_error() {
    let folder = TempDir::new().expect("cannot create a folder");
    let recorded = fs::read_to_string(RECORDED).expect("cannot read the recorded results");
    let first = recorded.lines().next().expect("the record is empty");
    // Change the first slot's hash.
    let hash_start = first.find("\"hashes\":\"").expect("the line has no hashes") + 10;
    let digit = if &first[hash_start..hash_start + 1] == "0" {
        "1"
    } else {
        "0"
    };
    let changed = format!(
        "{}{digit}{}",
        &first[..hash_start],
        &first[hash_start + 1..]
    );
    let path = folder.path().join("changed.jsonl");
    fs::write(&path, changed).expect("cannot write the file");
    let compared = differential(&[
        "compare",
        path.to_str().expect("the path is not UTF-8"),
        RECORDED,
    ])
    .output()
    .expect("cannot run the program");
    assert!(!compared.status.success());
    assert!(
        to_text(&compared.stdout).contains("kernel 0: %h0"),
        "{}",
        to_text(&compared.stdout)
    );
    assert_eq!(
        to_text(&compared.stderr),
        "error: the two backends differ\n"
    );
}

#[test]
fn unreadable_and_malformed_files_are_rejected() {
    let folder = TempDir::new().expect("cannot create a folder");
    let path = folder.path().join("broken.jsonl");
    fs::write(&path, "{\"kernel\":0}\n").expect("cannot write the file");
    let path = path.to_str().expect("the path is not UTF-8");
    for (simulated, expected) in [
        (path, "line 1"),
        ("no/such/file", "cannot read no/such/file"),
    ] {
        let output = differential(&["compare", simulated, RECORDED])
            .output()
            .expect("cannot run the program");
        let text = to_text(&output.stderr);
        assert!(!output.status.success());
        assert!(
            text.starts_with("error: ") && text.contains(expected),
            "{text}"
        );
    }
}

#[test]
fn runs_without_common_kernels_are_rejected() {
    let folder = TempDir::new().expect("cannot create a folder");
    let path = folder.path().join("empty.jsonl");
    fs::write(&path, "").expect("cannot write the file");
    let output = differential(&[
        "compare",
        path.to_str().expect("the path is not UTF-8"),
        RECORDED,
    ])
    .output()
    .expect("cannot run the program");
    assert_eq!(
        to_text(&output.stderr),
        "error: the two runs have no kernel in common\n"
    );
}

#[test]
fn load_reports_success_or_the_reason_for_failure() {
    let folder = TempDir::new().expect("cannot create a folder");
    let write = |name: &str, body: &str| {
        let path = folder.path().join(name);
        let text = format!(".version 9.4\n.target sm_100a\n.entry k() {{ {body} ret; }}");
        fs::write(&path, text).expect("cannot write the file");
        path.display().to_string()
    };
    let (good, bad) = (write("good.ptx", ""), write("bad.ptx", "frobnicate;"));
    let output = differential(&["load", &good, &bad])
        .output()
        .expect("cannot run the program");
    let stdout = to_text(&output.stdout);
    assert!(stdout.contains("good.ptx: loads\n"), "{stdout}");
    assert!(
        stdout.contains("bad.ptx: line 3: instruction `frobnicate`"),
        "{stdout}"
    );
    let missing = folder.path().join("missing.ptx").display().to_string();
    let output = differential(&["load", &missing])
        .output()
        .expect("cannot run the program");
    assert!(!output.status.success());
    assert!(
        to_text(&output.stderr).contains("cannot read"),
        "{output:?}"
    );
}
