//! Runs in special circumstances: a test in its own process, so that its output can be read, and a program whose
//! output cannot be written.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Chapter;
use crate::chapter::{files, one_error, text};

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

impl Chapter {
    /// Runs the program with `arguments` and an unwritable standard output or standard error. Without
    /// standard output it must fail with one error; without standard error it must behave as usual.
    pub fn survives_closed_output(&self, arguments: &str) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for nowhere in nowhere() {
            let mut command = self.command(folder.path(), arguments);
            let output = command.stdout(nowhere).output();
            let output = output.expect("the program starts");
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{message}");
            one_error(&message);
            assert!(
                message.contains("error: cannot write the results"),
                "{message}"
            );
        }
        let results = self.run(arguments).stdout;
        for nowhere in nowhere() {
            let mut command = self.command(folder.path(), arguments);
            let output = command.stderr(nowhere).output();
            let output = output.expect("the program starts");
            assert_eq!(output.status.code(), Some(0));
            assert_eq!(text(&output.stdout), results);
        }
    }

    /// Starts a run of some seconds, closes the reading end of standard error and sends SIGINT. Fails unless
    /// the program exits without results.
    #[cfg(unix)]
    pub fn exits_on_sigint_without_reader(&self, arguments: &str) {
        use std::io::{BufRead, BufReader};
        use std::thread;
        use std::time::Duration;

        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = self.command(folder.path(), arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().expect("the program starts");
        // Once the device line is printed, signals are handled.
        let mut line = String::new();
        let notes = program.stderr.take().expect("its standard error is a pipe");
        let read = BufReader::new(notes).read_line(&mut line);
        read.expect("the program prints the device line");
        assert!(line.starts_with("simulator: "), "{line}");
        // The program is most likely busy by now; the test passes either way.
        thread::sleep(Duration::from_millis(300));

        let kill = format!("kill -INT {}", program.id());
        let sent = Command::new("sh").args(["-c", &kill]).status();
        assert!(sent.expect("there is a shell").success());
        let output = program.wait_with_output().expect("the program ends");
        assert_eq!(output.status.code(), Some(130));
        assert_eq!(text(&output.stdout), "");
    }
}

/// Returns unwritable outputs: a pipe without a reader, and a full device where there is one.
fn nowhere() -> Vec<Stdio> {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let mut all = vec![Stdio::from(writer)];
    if cfg!(target_os = "linux") {
        let full = std::fs::File::options().write(true).open("/dev/full");
        all.push(full.expect("Linux has a full device").into());
    }
    all
}
