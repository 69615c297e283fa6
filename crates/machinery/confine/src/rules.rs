//! What a program may do.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{arguments, hidden};

/// What a program may do. All that is not said here is refused.
///
/// Files and folders need not be there. A folder stands for all that is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Files and folders that it may read.
    pub read: Vec<PathBuf>,
    /// Files and folders that it may read, change, make and remove.
    pub write: Vec<PathBuf>,
    /// Files and folders that it may read and start. The program itself is always one of them.
    pub execute: Vec<PathBuf>,
    /// Devices that it may read, write and give orders to, as a GPU's driver does.
    pub devices: Vec<PathBuf>,
    /// Whether it may start other processes, as a compiler starts a linker. They are confined as it is,
    /// and may make the files executable that they have made.
    pub processes: bool,
    /// Seconds of computing, of each process.
    pub computing: u64,
    /// Bytes of memory, of each process; no limit where there is none.
    pub memory: Option<u64>,
    /// Bytes of the longest file that it may write.
    pub file: u64,
}

/// Variables that a program needs to find what it is made of, and that tell nothing.
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

/// Where Linux has the libraries that programs are linked with, and what it needs to load them.
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

/// What any program that is linked with libraries of the system's has to be able to open: for
/// [`Rules::execute`], since the loader among them is started.
pub fn system_libraries() -> Vec<PathBuf> {
    LIBRARIES.map(PathBuf::from).into()
}

impl Rules {
    /// A command that starts the program within these rules. Its environment is empty but for the few
    /// variables without which programs do not start; more arguments and variables can be added.
    ///
    /// The program that calls this has to begin with [`crate::asked`].
    ///
    /// # Errors
    ///
    /// Where the program that calls this does not find its own file.
    pub fn command(&self, program: impl AsRef<OsStr>) -> io::Result<Command> {
        let program = found(Path::new(program.as_ref()));
        let mut rules = self.clone();
        rules
            .execute
            .push(fs::canonicalize(&program).unwrap_or_else(|_| program.clone()));
        let mut command = Command::new(env::current_exe()?);
        command
            .arg(hidden::COMMAND)
            .args(arguments::written(&rules))
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

/// Where a program's file is: what is no path is looked for where programs are.
fn found(program: &Path) -> PathBuf {
    let named = program.components().count() == 1;
    let path = env::var_os("PATH").filter(|_| named).unwrap_or_default();
    let mut candidates = env::split_paths(&path).map(|folder| folder.join(program));
    let found = candidates.find(|path| path.is_file());
    found.unwrap_or_else(|| program.to_owned())
}
