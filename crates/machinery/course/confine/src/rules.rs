//! The rules of a confined program.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{arguments, hidden};

/// The rights and limits of a program; everything else is denied.
///
/// Files and folders need not exist. A folder includes everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Files and folders that the program may read.
    pub read: Vec<PathBuf>,
    /// Files and folders that the program may read, change, create and remove.
    pub write: Vec<PathBuf>,
    /// Files and folders that the program may read and execute. The program's own file is always included.
    pub execute: Vec<PathBuf>,
    /// Devices that the program may read, write and control, such as a GPU's.
    pub devices: Vec<PathBuf>,
    /// True if the program may start other processes, as a compiler starts a linker. They are confined
    /// equally and may make the files that they create executable.
    pub processes: bool,
    /// The CPU time limit of each process, in seconds.
    pub cpu_seconds: u64,
    /// The memory limit of each process, in bytes; `None` for no limit.
    pub memory: Option<u64>,
    /// The maximum size of a file that the program may write, in bytes.
    pub file: u64,
}

/// Environment variables that a program needs to start and that reveal nothing.
const VARIABLES: [&str; 10] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "PATHEXT",
    "COMSPEC",
    "TEMP",
    "TMP",
];

/// The folders and files from which Linux loads shared libraries.
const LIBRARIES: [&str; 10] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
];

/// Returns the paths that any dynamically linked program must be able to open. They belong in
/// [`Rules::execute`], because the loader is executed.
pub fn system_libraries() -> Vec<PathBuf> {
    LIBRARIES.map(PathBuf::from).into()
}

impl Rules {
    /// Builds a command that starts the program within these rules. Its environment is empty except for the
    /// few variables that programs need to start; arguments and variables can be added.
    ///
    /// The calling program's `main` must begin with [`crate::run_if_child`].
    ///
    /// # Errors
    ///
    /// Fails if the path of the calling program cannot be determined.
    pub fn command(&self, program: impl AsRef<OsStr>) -> io::Result<Command> {
        let program = resolve_program(Path::new(program.as_ref()));
        let mut rules = self.clone();
        rules
            .execute
            .push(fs::canonicalize(&program).unwrap_or_else(|_| program.clone()));
        let mut command = Command::new(env::current_exe()?);
        command
            .arg(hidden::COMMAND)
            .args(arguments::encode(&rules))
            .arg(&program)
            .env_clear();
        for variable in VARIABLES {
            if let Some(value) = env::var_os(variable) {
                command.env(variable, value);
            }
        }
        Ok(command)
    }
}

/// Returns the path of a program; a bare name is searched for in `PATH`.
fn resolve_program(program: &Path) -> PathBuf {
    let is_bare_name = program.components().count() == 1;
    let path = env::var_os("PATH")
        .filter(|_| is_bare_name)
        .unwrap_or_default();
    let mut candidates = env::split_paths(&path).map(|folder| folder.join(program));
    let file = candidates.find(|path| path.is_file());
    file.unwrap_or_else(|| program.to_owned())
}
