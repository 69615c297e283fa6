//! Tests that run in their own process, so that their output can be read.

use std::path::Path;
use std::process::Command;

use crate::chapter::files;

/// Runs the ignored test `name` of this program's module `tests` in an empty folder on the simulator and
/// fails unless it passes without a panic or a file. Returns its standard output and standard error.
pub fn output_of(name: &str) -> (String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (stdout, stderr) = run_child(&format!("tests::{name}"), folder.path());
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(files(folder.path()).is_empty(), "files were left behind");
    (stdout, stderr)
}

/// Runs the ignored test `name` of this test program in `folder` on the simulator and fails unless it passes.
/// Returns its standard output and standard error.
pub fn run_child(name: &str, folder: &Path) -> (String, String) {
    let program = std::env::current_exe().expect("cannot find this program");
    let output = Command::new(program)
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env("CUDA_BACKEND", "sim")
        .current_dir(folder)
        .output()
        .expect("cannot restart this program");
    let text = |bytes| String::from_utf8(bytes).expect("the output is not UTF-8");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains("1 passed"), "no test {name}:\n{stdout}");
    (stdout, stderr)
}
