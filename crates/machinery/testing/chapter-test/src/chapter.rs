//! Runs of a chapter's program: its output, its exit status and its JSON record, which is validated against its
//! schema (`docs/records/*.schema.json`). Also runs in special circumstances: a test in its own process, so that its
//! output can be read, and a program whose output cannot be written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use assert_cmd::assert::OutputAssertExt as _;
use boon::{Compiler, Schemas};
use serde_json::Value;
use tempfile::TempDir;

/// Invalid sizes: zero, negative, not a number, not an integer, more than 64 bits.
pub const INVALID_SIZES: [&str; 5] = ["0", "-5", "many", "1.5", "99999999999999999999"];

/// A chapter's program.
#[derive(Clone, Debug)]
pub struct Chapter {
    program: PathBuf,
    variables: Vec<(String, String)>,
}

/// The output of a successful run.
pub struct Run {
    /// Standard output: the tables or the record.
    pub stdout: String,
    /// Standard error: the device line and notes.
    pub stderr: String,
    /// The folder the program ran in, with the files it created.
    pub folder: TempDir,
}

impl Chapter {
    /// Creates a chapter for the program at `path`: `Chapter::new(env!("CARGO_BIN_EXE_vector-add"))`.
    pub fn new(path: &str) -> Self {
        Chapter {
            program: path.into(),
            variables: vec![
                ("CUDA_BACKEND".to_owned(), "sim".to_owned()),
                // The output is English in every locale.
                ("LC_ALL".to_owned(), "C".to_owned()),
            ],
        }
    }

    /// Sets an environment variable for the program.
    pub fn with_env(mut self, variable: &str, value: &str) -> Self {
        self.variables.push((variable.to_owned(), value.to_owned()));
        self
    }

    /// Returns the program's name.
    pub fn name(&self) -> String {
        let name = self.program.file_stem().expect("a program has a name");
        name.to_string_lossy().into_owned()
    }

    /// Runs the program with `arguments`, separated by spaces, and fails unless it succeeds.
    pub fn run(&self, arguments: &str) -> Run {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = self.command(folder.path(), arguments).assert().success();
        let output = output.get_output();
        Run {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            folder,
        }
    }

    /// Runs the program with `arguments` and `--json` and returns the record, after validating it against the
    /// chapter's schema in `docs/records`.
    pub fn record(&self, arguments: &str) -> Value {
        let run = self.run(&format!("{arguments} --json"));
        let record = serde_json::from_str(&run.stdout).expect("standard output is one JSON record");
        check_record(&self.name(), &record);
        record
    }

    /// Runs the program with `arguments` and returns the record's results, all of which must be correct.
    pub fn results(&self, arguments: &str) -> Vec<Value> {
        let record = self.record(arguments);
        let results = record["results"].as_array().expect("a list of results");
        for result in results {
            assert_eq!(result["verified"], true, "{arguments}: {result}");
            assert_eq!(result["differing"], 0, "{arguments}: {result}");
        }
        results.clone()
    }

    /// Fails unless two runs with `arguments` give the same record.
    pub fn repeats_its_record(&self, arguments: &str) {
        assert_eq!(self.record(arguments), self.record(arguments));
    }

    /// Runs the program with `arguments` and `--repeat 0` and fails if the table has a limit.
    pub fn measures_no_limits(&self, arguments: &str) {
        self.run(&format!("{arguments} --repeat 0")).lacks("limit");
    }

    /// Runs the program with `arguments` and `--check` and fails unless table and record list the checks and
    /// have no findings.
    pub fn check_finds_nothing(&self, arguments: &str) {
        let run = self.run(&format!("{arguments} --check"));
        let message = "\n\nChecked (mem, init, race, sync, leak, host, stream): no findings.\n";
        assert!(run.stdout.ends_with(message), "{}", run.stdout);
        assert!(!run.stderr.contains("error: "), "{}", run.stderr);
        let record = self.record(&format!("{arguments} --check=sync,race"));
        let expected = serde_json::json!({ "checks": ["race", "sync"], "findings": [] });
        assert_eq!(record["check"], expected);
        assert!(self.record(arguments).get("check").is_none());
    }

    /// Runs the program with `arguments` and fails unless it exits with `code` and one error that contains
    /// all of `parts`, without a table, a panic or a file. Returns standard error.
    pub fn rejects(&self, code: i32, arguments: &str, parts: &[&str]) -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        self.rejects_in(folder.path(), code, arguments, parts)
    }

    /// Does the same as [`Chapter::rejects`] in `folder`, which must not change.
    pub fn rejects_in(&self, folder: &Path, code: i32, arguments: &str, parts: &[&str]) -> String {
        let before = files(folder);
        let output = self.command(folder, arguments).assert().code(code);
        let output = output.get_output();
        let message = text(&output.stderr);
        one_error(&message);
        contains(&message, parts);
        assert_eq!(text(&output.stdout), "", "results in spite of the error");
        assert_eq!(files(folder), before, "files were left behind");
        message
    }

    /// Fails unless each of `flags` rejects each of `values`, such as [`INVALID_SIZES`], and a missing value.
    pub fn rejects_values(&self, flags: &[&str], values: &[&str]) {
        for flag in flags {
            for value in values {
                self.rejects(2, &format!("{flag} {value}"), &[flag, value]);
            }
            self.rejects(2, flag, &[flag, "value is required"]);
        }
    }

    /// Fails unless the program rejects input that is invalid for all chapters: an unknown flag, an invalid
    /// number of samples, an unknown backend, and the GPU backend on a machine without a GPU. `small` are
    /// arguments for a short run.
    pub fn rejects_common_invalid_input(&self, small: &str) {
        self.rejects(2, "--no-such-flag 3", &["--no-such-flag"]);
        let [_zero, no_numbers @ ..] = INVALID_SIZES;
        self.rejects_values(&["--repeat"], &no_numbers);
        for (list, bad) in [("races", "'races'"), ("mem,,sync", "''"), ("", "''")] {
            let flag = format!("--check={list}");
            self.rejects(
                2,
                &flag,
                &[bad, "mem, init, race, sync, leak, host and stream"],
            );
        }
        let backend = self.clone().with_env("CUDA_BACKEND", "cpu");
        backend.rejects(1, "", &["CUDA_BACKEND", "cpu", "gpu", "sim"]);

        let gpu = self.clone().with_env("CUDA_BACKEND", "gpu");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = gpu.command(folder.path(), small).output();
        if !output.expect("the program starts").status.success() {
            let parts = ["CUDA_BACKEND=gpu", "NVIDIA", "CUDA_BACKEND=sim"];
            gpu.rejects(1, small, &parts);
        }
    }

    /// Fails unless `--block` rejects sizes that are not two numbers, and sizes without threads.
    pub fn rejects_malformed_blocks(&self) {
        for malformed in ["16", "16x", "x", "16x16x1", "axb", "16X16"] {
            self.rejects(2, &format!("--block {malformed}"), &[malformed, "16x16"]);
        }
        for zero in ["0x16", "16x0"] {
            let parts = [zero, "at least one thread"];
            self.rejects(2, &format!("--block {zero}"), &parts);
        }
    }

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

    fn command(&self, folder: &Path, arguments: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(folder);
        command.args(arguments.split_whitespace());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }
}

impl Run {
    /// Fails unless standard output contains all of `parts`.
    pub fn prints(&self, parts: &[&str]) {
        contains(&self.stdout, parts);
    }

    /// Fails unless standard error contains all of `parts`.
    pub fn notes(&self, parts: &[&str]) {
        contains(&self.stderr, parts);
    }

    /// Fails if standard output contains `part`.
    pub fn lacks(&self, part: &str) {
        assert!(!self.stdout.contains(part), "{}", self.stdout);
    }

    /// Fails unless the times are called modelled, in the table's legend and on standard error.
    pub fn says_that_times_are_modelled(&self) {
        self.prints(&["\n\nTimes: modelled, NVIDIA H200. Speedup: relative to "]);
        let estimates = "Modelled times are estimates; run on a GPU to measure.";
        self.notes(&["simulator: models an NVIDIA H200", estimates]);
    }
}

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

/// Fails unless `text` contains all of `parts`.
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no '{part}' in:\n{text}");
    }
}

/// Fails unless `message` contains exactly one error and no panic.
fn one_error(message: &str) {
    assert_eq!(message.matches("error: ").count(), 1, "{message}");
    for panic in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
        assert!(!message.contains(panic), "{message}");
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program prints UTF-8")
}

/// Returns the names of the files in a folder.
pub(crate) fn files(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("the folder can be read").file_name())
        .collect();
    names.sort();
    names
}

/// The schema that all chapters share.
const COMMON_SCHEMA: &str = "record.schema.json";

/// Base URL of relative schema names.
const BASE: &str = "warpbook:/records/";

/// Panics with all violations if `record` does not match the chapter's schema.
pub fn check_record(chapter: &str, record: &Value) {
    let schema_file = format!("{chapter}.schema.json");
    let mut compiler = Compiler::new();
    let mut schemas = Schemas::new();
    for file in [COMMON_SCHEMA, &schema_file] {
        let added = compiler.add_resource(&format!("{BASE}{file}"), read_schema(file));
        added.expect("the schema's address is a URL");
    }
    let schema = compiler.compile(&format!("{BASE}{schema_file}"), &mut schemas);
    let schema = schema.unwrap_or_else(|error| panic!("docs/records/{schema_file}: {error:#}"));
    if let Err(error) = schemas.validate(record, schema) {
        panic!("the record does not match docs/records/{schema_file}:\n{error:#}\n{record:#}");
    }
}

/// Reads a schema from `docs/records`.
fn read_schema(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../docs/records");
    let path = folder.join(file);
    let shown = path.display();
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{shown}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{shown}: {error}"))
}

/// Returns the bytes of available memory as reported by Linux.
#[cfg(target_os = "linux")]
pub fn available_memory() -> u64 {
    let memory = fs::read_to_string("/proc/meminfo").expect("cannot read /proc/meminfo");
    let line = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes.and_then(|number| number.parse::<u64>().ok());
    kilobytes.expect("MemAvailable is a number") * 1024
}
