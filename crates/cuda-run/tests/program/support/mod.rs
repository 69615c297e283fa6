//! The program, run as a reader runs it, in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

pub use super::run::Run;
use super::run::nothing_is_left;
use assert_cmd::Command;
use kernel_build::{Clang, install_command};
use libtest_mimic::{Completion, Failed, Trial};
use tempfile::TempDir;

/// A test that takes clang. Without one it is ignored, and says how to have it run.
pub fn with_clang<F>(name: impl Into<String>, test: F) -> Trial
where
    F: FnOnce() -> Result<(), Failed> + Send + 'static,
{
    Trial::ignorable_test(name, move || match Clang::find() {
        Err(why) => {
            let install = install_command();
            Ok(Completion::ignored_with(format!(
                "needs clang: {why}; install it:  {install}"
            )))
        }
        Ok(_) => test().map(|()| Completion::Completed),
    })
}

/// A reader's folder.
pub struct Folder(TempDir);

impl Folder {
    /// With the test programs in it.
    pub fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a temporary folder"));
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        for entry in fs::read_dir(programs).expect("the programs").flatten() {
            fs::copy(
                entry.path(),
                folder.path(&entry.file_name().to_string_lossy()),
            )
            .expect("copied");
        }
        folder.write("size.h", "#define SIZE 1000\n");
        fs::create_dir(folder.path("tmp")).expect("made");
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    /// The program with these words; what it compiles it keeps in this folder, as what is temporary.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuda-run"));
        command.args(words).current_dir(self.0.path());
        command
            .env("CUDA_BACKEND", "sim")
            .env_remove("CUDA_SIM_DEVICE");
        command
            .env("CUDA_RUN_CACHE", self.path("cache"))
            .env("TMPDIR", self.path("tmp"));
        command.timeout(std::time::Duration::from_secs(300));
        command
    }

    /// Runs it to its end.
    pub fn run(&self, words: &[&str]) -> Run {
        let run = Run::from(self.command(words).output().expect("it runs"));
        self.nothing_is_left();
        run
    }

    /// Looks that nothing temporary is left.
    pub fn nothing_is_left(&self) {
        nothing_is_left(&self.path("tmp"));
    }
}

impl Run {
    /// With this exit status, and these words on standard error.
    pub fn says(&self, code: i32, words: &[&str]) -> Result<(), Failed> {
        match self.lacks(code, words) {
            Some(what) => Err(what.into()),
            None => Ok(()),
        }
    }
}
