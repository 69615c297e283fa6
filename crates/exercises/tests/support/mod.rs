//! The program, run as a student runs it, in a temporary folder.

#![allow(dead_code, reason = "every test program uses a part of it")]

#[cfg(target_os = "linux")]
pub mod processes;
pub mod submissions;
#[cfg(unix)]
mod terminal;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use assert_cmd::Command;
use exercises::course::{Course, Exercise};
use kernel_build::{Clang, install_command};
use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use tempfile::TempDir;

/// The built-in course.
pub static COURSE: LazyLock<Course> =
    LazyLock::new(|| Course::built_in().expect("the course is valid"));

/// The exercises of the built-in course, in order.
pub static EXERCISES: LazyLock<&[Exercise]> = LazyLock::new(|| &COURSE.exercises);

/// Returns the exercise of the built-in course with this number, name, or both.
pub fn find(name: &str) -> Option<&'static Exercise> {
    COURSE.find(name)
}

/// Returns the reason why submissions cannot be compiled here and how to fix that; `None` if they can.
pub fn missing_clang() -> Option<&'static str> {
    static REASON: LazyLock<Option<String>> = LazyLock::new(|| {
        let reason = Clang::find().err()?;
        let install = install_command();
        Some(format!("needs clang: {reason}; install it:  {install}"))
    });
    REASON.as_deref()
}

/// Returns a test that is ignored without clang, with instructions to install it.
pub fn with_clang<F>(name: impl Into<String>, test: F) -> Trial
where
    F: FnOnce() -> Result<(), Failed> + Send + 'static,
{
    unless(missing_clang(), name, test)
}

/// Returns a test that is ignored if something is missing, with the reason.
pub fn unless<F>(reason: Option<&'static str>, name: impl Into<String>, test: F) -> Trial
where
    F: FnOnce() -> Result<(), Failed> + Send + 'static,
{
    Trial::ignorable_test(name, move || match reason {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None => test().map(|()| Completion::Completed),
    })
}

/// Returns a Rust submission to the exercise on blocks, with these items and with a function `blocks` that
/// executes `statements` and returns `result`.
pub fn blocks(items: &str, statements: &str, result: &str) -> String {
    format!(
        "{items}\npub fn blocks(count: u32, block: u32) -> u32 {{\n    {statements}\n    {result}\n}}\n\
         pub fn grid(columns: u32, rows: u32, block: (u32, u32)) -> (u32, u32) {{\n    \
         (blocks(columns, block.0), blocks(rows, block.1))\n}}\n"
    )
}

/// Returns the correct submission to the first exercise with additional code before and in the kernel.
pub fn axpy(before: &str, within: &str) -> String {
    format!(
        "#include \"cuda_device.h\"\n{before}\nextern \"C\" __global__ void axpy(float a, const float *x, float *y, \
         unsigned int n) {{\n    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;\n    {within}\n    \
         if (i < n) y[i] = a * x[i] + y[i];\n}}\n"
    )
}

/// Returns the solution of the first exercise with a loop that never ends.
pub fn endless_submission() -> String {
    EXERCISES[0].solution().replace(
        "    if (i < n)",
        "    for (volatile int j = 0; j >= 0; j = 1) {}\n    if (i < n)",
    )
}

/// Returns definitions of macros, of which `M39` is replaced by 2^39 semicolons.
pub fn doubled_macros() -> String {
    let doubled = (1..40).map(|i| format!("#define M{i} M{0} M{0}\n", i - 1));
    format!("#define M0 ;\n{}", doubled.collect::<String>())
}

/// Parses a record.
pub fn parse(record: &str) -> Value {
    serde_json::from_str(record).unwrap_or_else(|error| panic!("{error} in {record}"))
}

/// The program and a student's folder.
pub struct Program {
    path: PathBuf,
    folder: TempDir,
    variables: Vec<(&'static str, OsString)>,
    temporary: Option<PathBuf>,
}

/// The output and the exit code of a run.
#[derive(Debug)]
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Program {
    /// Creates an empty folder.
    pub fn new() -> Self {
        Program {
            path: env!("CARGO_BIN_EXE_exercises").into(),
            folder: tempfile::tempdir().expect("a temporary folder"),
            variables: vec![
                ("CUDA_BACKEND", "sim".into()),
                ("LC_ALL", "en_GB.UTF-8".into()),
            ],
            temporary: None,
        }
    }

    /// Sets an environment variable.
    pub fn with_env(mut self, variable: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((variable, value.into()));
        self
    }

    /// Uses a copy of the program in another folder, with the library `submissions` but without its
    /// dependencies.
    pub fn without_dependencies(mut self) -> Self {
        let deps = self.path.parent().expect("a folder").join("deps");
        let library = fs::read_dir(deps)
            .expect("cargo's output folder")
            .map(|entry| entry.expect("a file").file_name())
            .find(|name| {
                let name = name.to_string_lossy();
                name.starts_with("libanswers-") && name.ends_with(".rlib")
            })
            .expect("the program's library");
        let copy_deps = self.home().join("deps");
        fs::create_dir(&copy_deps).expect("the folder can be created");
        let copied = self.home().join("exercises");
        fs::copy(&self.path, &copied).expect("the file can be copied");
        fs::copy(
            self.path.with_file_name("deps").join(&library),
            copy_deps.join(&library),
        )
        .expect("the file can be copied");
        self.path = copied;
        self
    }

    /// Returns the working directory.
    pub fn home(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the student's folder.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("answers")
    }

    /// Returns the path of a file in the student's folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Writes a file in the student's folder.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        fs::create_dir_all(self.folder()).expect("the folder can be created");
        fs::write(self.file(name), text).expect("the file can be written");
        self.file(name)
    }

    /// Writes a student's submissions to a class's folder, each given as a file name and a text.
    pub fn hand_in(&self, class: impl AsRef<Path>, student: &str, files: &[(&str, &str)]) {
        let folder = self.home().join(class).join(student);
        fs::create_dir_all(&folder).expect("the folder can be created");
        for (file, text) in files {
            fs::write(folder.join(file), text).expect("the file can be written");
        }
    }

    /// Writes the submissions of a class to the first exercise, one per student.
    pub fn hand_in_first(&self, class: impl AsRef<Path>, students: &[(&str, &str)]) {
        for (student, text) in students {
            self.hand_in(&class, student, &[("01-first-thread.cu", text)]);
        }
    }

    /// Reads a file in the working directory.
    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.home().join(file)).expect("a file")
    }

    /// Runs the program with arguments separated by spaces, and returns the record that it prints.
    pub fn record(&self, arguments: &str) -> Value {
        parse(&self.run_line(arguments).stdout)
    }

    /// Runs the program with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_in(arguments, Path::new("answers"))
    }

    /// Runs the program with arguments separated by spaces.
    pub fn run_line(&self, arguments: &str) -> Run {
        self.run(&arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs the program with arguments separated by spaces. Asserts the exit code and that the output contains all
    /// parts.
    pub fn expect(&self, arguments: &str, code: i32, parts: &[&str]) -> Run {
        let run = self.run_line(arguments);
        run.assert_has(code, parts);
        run
    }

    /// Runs the program with arguments separated by spaces. Asserts that it fails with a one-line error that contains
    /// all parts.
    pub fn expect_error(&self, arguments: &str, parts: &[&str]) -> Run {
        let run = self.run_line(arguments);
        run.assert_error(parts);
        run
    }

    /// Grades a file as a submission to an exercise. Returns the exit code and the record.
    pub fn grade(&self, exercise: &str, file: &Path) -> (i32, Value) {
        self.grade_within("60", exercise, file)
    }

    /// Grades a file as a submission to an exercise within a time limit in seconds.
    pub fn grade_within(&self, seconds: &str, exercise: &str, file: &Path) -> (i32, Value) {
        let file = file.to_str().expect("a path in UTF-8");
        let flags = ["--json", "--seed", "1", "--seconds", seconds];
        let run = self.run(&[&["check", exercise, "--file", file], &flags[..]].concat());
        (run.code, parse(&run.stdout))
    }

    /// Runs the program with these arguments on another student's folder.
    pub fn run_in(&self, arguments: &[&str], folder: &Path) -> Run {
        let mut command = Command::from_std(self.command(arguments));
        let output = command.arg("--dir").arg(folder).output();
        Run::of(&output.expect("the program can be started"))
    }

    /// Returns a command with these arguments that is not started yet.
    pub fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(&self.path);
        command.current_dir(self.folder.path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.temporary {
            command.envs(["TMPDIR", "TMP", "TEMP"].map(|name| (name, folder)));
        }
        command.args(arguments);
        command
    }

    /// Creates a folder for the temporary files of the program and its children.
    pub fn with_temporary_folder(mut self) -> Self {
        let folder = self.temporary_folder();
        fs::create_dir(&folder).expect("the folder can be created");
        self.temporary = Some(folder);
        self
    }

    /// Returns the folder for temporary files.
    pub fn temporary_folder(&self) -> PathBuf {
        self.home().join("temporary")
    }

    /// Runs a shell command in which `exercises` is the program; `--dir submissions` must be given.
    #[cfg(unix)]
    pub fn run_in_shell(&self, line: &str) -> Run {
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(self.folder.path());
        shell.envs(self.variables.iter().map(|(name, value)| (name, value)));
        shell.arg("-c");
        shell.arg(format!("exercises() {{ \"$PROGRAM\" \"$@\"; }}\n{line}"));
        shell.env("PROGRAM", &self.path);
        Run::of(&shell.output().expect("a shell is available"))
    }
}

impl Run {
    /// Converts a process's output.
    pub fn of(output: &Output) -> Run {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8 output");
        Run {
            code: output.status.code().expect("the program exits"),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Asserts the exit code and that the output contains all parts.
    pub fn assert_has(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        let all = format!("{}{}", self.stdout, self.stderr);
        for part in parts {
            assert!(all.contains(part), "no '{part}' in {self:#?}");
        }
    }

    /// Asserts that the program failed with a one-line error that contains all parts.
    pub fn assert_error(&self, parts: &[&str]) {
        self.assert_has(2, parts);
        assert_eq!(self.stdout, "", "results in spite of the error");
        assert!(self.stderr.starts_with("error: "), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
    }
}
