//! Runs programs by the real binary.

use std::path::{Path, PathBuf};
use std::process::Command;

pub use super::run::Run;
use super::run::assert_empty;

/// A temporary directory for a program's files, and an environment without the variables that the library or
/// cuda-run reads.
pub struct Workspace {
    pub directory: tempfile::TempDir,
}

/// Returns the command line that runs an ignored test as a program.
pub fn program(name: &str) -> Vec<String> {
    let executable = std::env::current_exe().unwrap();
    let args = [
        executable.to_str().unwrap(),
        "--exact",
        name,
        "--ignored",
        "--nocapture",
    ];
    args.map(str::to_owned).to_vec()
}

impl Workspace {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("tmp")).unwrap();
        Workspace { directory }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Creates the command `cuda-run FLAGS -- PROGRAM`.
    pub fn command(&self, flags: &[&str], name: &str) -> Command {
        let mut command = self.clean_command(Path::new(env!("CARGO_BIN_EXE_cuda-run")));
        command.args(flags).arg("--").args(program(name));
        command
    }

    /// Creates a command in the directory, with a clean environment.
    pub fn clean_command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CUDA_")) {
            command.env_remove(name);
        }
        command
            .current_dir(self.directory.path())
            .env("TMPDIR", self.path("tmp"));
        command
    }

    /// Runs a program until it exits, and checks that no temporary files remain.
    pub fn run(&self, flags: &[&str], name: &str) -> Run {
        self.output_of(self.command(flags, name))
    }

    pub fn output_of(&self, mut command: Command) -> Run {
        let run = Run::from(command.output().unwrap());
        assert_empty(&self.path("tmp"));
        run
    }
}

impl Run {
    /// Asserts the exit status, and that these texts are in standard error.
    #[track_caller]
    pub fn assert_exit(&self, code: i32, texts: &[&str]) -> &Self {
        if let Some(message) = self.mismatch(code, texts) {
            panic!("{message}");
        }
        self
    }

    /// Asserts that these texts are not in standard error.
    #[track_caller]
    pub fn assert_not_on_stderr(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(!self.stderr.contains(text), "'{text}' is in {self:#?}");
        }
        self
    }
}
