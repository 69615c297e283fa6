//! Runs the real binary in a temporary directory, as a user does.

use std::fs;
use std::path::{Path, PathBuf};

pub use super::run::Run;
use super::run::assert_empty;
use assert_cmd::Command;
use kernel_build::{Clang, install_command};
use libtest_mimic::{Completion, Failed, Trial};
use tempfile::TempDir;

/// Creates a test that needs clang. Without clang it is ignored, with advice on how to install it.
pub fn with_clang<F>(name: impl Into<String>, test: F) -> Trial
where
    F: FnOnce() -> Result<(), Failed> + Send + 'static,
{
    Trial::ignorable_test(name, move || match Clang::find() {
        Err(reason) => {
            let install = install_command();
            Ok(Completion::ignored_with(format!(
                "needs clang: {reason}; install it:  {install}"
            )))
        }
        Ok(_) => test().map(|()| Completion::Completed),
    })
}

/// A user's directory with source files.
pub struct Workspace(TempDir);

impl Workspace {
    /// Creates the directory with the test programs.
    pub fn new() -> Workspace {
        let workspace = Workspace(tempfile::tempdir().expect("a temporary folder"));
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        for entry in fs::read_dir(programs).expect("the programs").flatten() {
            fs::copy(
                entry.path(),
                workspace.path(&entry.file_name().to_string_lossy()),
            )
            .expect("copied");
        }
        workspace.write("size.h", "#define SIZE 1000\n");
        fs::create_dir(workspace.path("tmp")).expect("made");
        workspace
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    /// Creates a command with these arguments; its cache and temporary files are in this directory.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuda-run"));
        command.args(args).current_dir(self.0.path());
        command
            .env("CUDA_BACKEND", "sim")
            .env_remove("CUDA_SIM_DEVICE");
        command
            .env("CUDA_RUN_CACHE", self.path("cache"))
            .env("TMPDIR", self.path("tmp"));
        command.timeout(std::time::Duration::from_secs(300));
        command
    }

    /// Runs cuda-run until it exits.
    pub fn run(&self, args: &[&str]) -> Run {
        let run = Run::from(self.command(args).output().expect("cannot run cuda-run"));
        self.assert_no_temporary_files();
        run
    }

    /// Asserts that no temporary files remain.
    pub fn assert_no_temporary_files(&self) {
        assert_empty(&self.path("tmp"));
    }
}

impl Run {
    /// Checks the exit status, and that these texts are in standard error.
    pub fn assert_exit(&self, code: i32, texts: &[&str]) -> Result<(), Failed> {
        match self.mismatch(code, texts) {
            Some(message) => Err(message.into()),
            None => Ok(()),
        }
    }
}
