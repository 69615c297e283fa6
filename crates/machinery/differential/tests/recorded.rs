//! The simulator against what a GPU answered, and the program's errors.

use std::fs;

use assert_cmd::Command;
use differential::record::Record;
use tempfile::TempDir;

/// The first kernels of the series on an NVIDIA H200; README.md beside it says how it was made.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recorded/h200.jsonl");

fn differential(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("differential").expect("the program is built");
    command.args(arguments).env("CUDA_BACKEND", "sim");
    command
}

fn said(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

#[test]
fn the_simulator_answers_as_the_gpu_did() {
    let recorded = fs::read_to_string(RECORDED).expect("the recorded answers");
    let recorded: Vec<Record> = recorded
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    let count = recorded.len();
    assert!(count >= 300, "{count} are recorded");
    // Kernels that NVIDIA's assembler gets wrong are not among them.
    let kernels = recorded[count - 1].kernel + 1;
    let folder = TempDir::new().expect("a folder");
    let ours = folder.path().join("ours.jsonl");
    let ours = ours.to_str().expect("a path");
    let kernels = kernels.to_string();
    differential(&["run", "--jobs", "2", "--kernels", &kernels, "--save", ours])
        .assert()
        .success();
    let compared = differential(&["compare", ours, RECORDED])
        .output()
        .expect("it runs");
    let text = said(&compared.stdout);
    assert!(
        compared.status.success(),
        "{text}{}",
        said(&compared.stderr)
    );
    assert!(
        text.starts_with(&format!("{count} kernels compared, 0 differ")),
        "{text}"
    );
}

#[test]
fn what_differs_is_said_and_is_an_error() {
    let folder = TempDir::new().expect("a folder");
    let recorded = fs::read_to_string(RECORDED).expect("the recorded answers");
    let first = recorded.lines().next().expect("a line");
    // The first slot's hash, another one.
    let at = first.find("\"hashes\":\"").expect("hashes") + 10;
    let digit = if &first[at..at + 1] == "0" { "1" } else { "0" };
    let changed = format!("{}{digit}{}", &first[..at], &first[at + 1..]);
    let path = folder.path().join("changed.jsonl");
    fs::write(&path, changed).expect("a file");
    let compared = differential(&["compare", path.to_str().expect("a path"), RECORDED])
        .output()
        .expect("it runs");
    assert!(!compared.status.success());
    assert!(
        said(&compared.stdout).contains("kernel 0: %h0"),
        "{}",
        said(&compared.stdout)
    );
    assert_eq!(said(&compared.stderr), "error: the two sides differ\n");
}

#[test]
fn bad_files_are_refused() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("broken.jsonl");
    fs::write(&path, "{\"kernel\":0}\n").expect("a file");
    let path = path.to_str().expect("a path");
    for (ours, wanted) in [
        (path, "line 1"),
        ("no/such/file", "cannot read no/such/file"),
    ] {
        let output = differential(&["compare", ours, RECORDED])
            .output()
            .expect("it runs");
        let text = said(&output.stderr);
        assert!(!output.status.success());
        assert!(
            text.starts_with("error: ") && text.contains(wanted),
            "{text}"
        );
    }
}

#[test]
fn runs_without_a_kernel_in_common_are_refused() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("empty.jsonl");
    fs::write(&path, "").expect("a file");
    let output = differential(&["compare", path.to_str().expect("a path"), RECORDED])
        .output()
        .expect("it runs");
    assert_eq!(
        said(&output.stderr),
        "error: the two runs have no kernel in common\n"
    );
}

#[test]
fn modules_load_or_it_is_said_why_not() {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, body: &str| {
        let path = folder.path().join(name);
        let text = format!(".version 9.4\n.target sm_100a\n.entry k() {{ {body} ret; }}");
        fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let (good, bad) = (write("good.ptx", ""), write("bad.ptx", "frobnicate;"));
    let output = differential(&["load", &good, &bad])
        .output()
        .expect("it ran");
    let told = said(&output.stdout);
    assert!(told.contains("good.ptx: loads\n"), "{told}");
    assert!(
        told.contains("bad.ptx: line 3: instruction `frobnicate`"),
        "{told}"
    );
    let missing = folder.path().join("missing.ptx").display().to_string();
    let output = differential(&["load", &missing]).output().expect("it ran");
    assert!(!output.status.success());
    assert!(said(&output.stderr).contains("cannot read"), "{output:?}");
}
