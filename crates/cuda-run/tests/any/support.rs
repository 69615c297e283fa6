//! Running a program by the real binary.

use std::path::{Path, PathBuf};
use std::process::Command;

pub use super::run::Run;
use super::run::nothing_is_left;

/// A program with nothing in its environment that the library or the command reads, and a folder of its own
/// for what is temporary.
pub struct Runs {
    pub folder: tempfile::TempDir,
}

/// The words that run an ignored test as a program.
pub fn program(name: &str) -> Vec<String> {
    let own = std::env::current_exe().unwrap();
    let words = [
        own.to_str().unwrap(),
        "--exact",
        name,
        "--ignored",
        "--nocapture",
    ];
    words.map(str::to_owned).to_vec()
}

impl Runs {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        Runs { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `cuda-run FLAGS -- PROGRAM`.
    pub fn command(&self, flags: &[&str], name: &str) -> Command {
        let mut command = self.clean(Path::new(env!("CARGO_BIN_EXE_cuda-run")));
        command.args(flags).arg("--").args(program(name));
        command
    }

    /// A command in the folder, in a clean environment.
    pub fn clean(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CUDA_")) {
            command.env_remove(name);
        }
        command
            .current_dir(self.folder.path())
            .env("TMPDIR", self.path("tmp"));
        command
    }

    /// Runs it to its end, and looks that nothing temporary is left.
    pub fn run(&self, flags: &[&str], name: &str) -> Run {
        self.ended(self.command(flags, name))
    }

    pub fn ended(&self, mut command: Command) -> Run {
        let run = Run::from(command.output().unwrap());
        nothing_is_left(&self.path("tmp"));
        run
    }
}

impl Run {
    /// Asserts the exit status, and that these words are on standard error.
    #[track_caller]
    pub fn says(&self, code: i32, words: &[&str]) -> &Self {
        if let Some(what) = self.lacks(code, words) {
            panic!("{what}");
        }
        self
    }

    /// Asserts that these words are not on standard error.
    #[track_caller]
    pub fn says_not(&self, words: &[&str]) -> &Self {
        for words in words {
            assert!(!self.stderr.contains(words), "'{words}' is in {self:#?}");
        }
        self
    }
}
