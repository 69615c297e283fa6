//! The rules of a confined program, their encoding as arguments of the hidden command, which preserves paths with any
//! bytes, and the resource limits among them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

use crate::Error;

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

/// The name of the hidden command.
pub const COMMAND: &str = "confined";

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
        // A relative path is resolved in the working directory of the confined process.
        rules.execute.push(program.clone());
        let mut command = Command::new(env::current_exe()?);
        command
            .arg(COMMAND)
            .args(encode(&rules))
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

/// The end of the rules' arguments.
const SEPARATOR: &str = "--";

/// Encodes rules as pairs of a keyword and a value, followed by [`SEPARATOR`].
pub fn encode(rules: &Rules) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |word: &str, value: &OsStr| all.extend([word.into(), value.to_owned()]);
    let lists = [
        ("read", &rules.read),
        ("write", &rules.write),
        ("execute", &rules.execute),
        ("device", &rules.devices),
    ];
    for (word, paths) in lists {
        for path in paths {
            add(word, path.as_os_str());
        }
    }
    let numbers = [
        ("processes", Some(u64::from(rules.processes))),
        ("computing", Some(rules.cpu_seconds)),
        ("memory", rules.memory),
        ("file", Some(rules.file)),
    ];
    for (word, number) in numbers {
        if let Some(number) = number {
            add(word, number.to_string().as_ref());
        }
    }
    all.push(SEPARATOR.into());
    all
}

/// Decodes rules. Returns them with the remaining arguments: the program and its arguments.
pub fn decode(
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<(Rules, Vec<OsString>), Error> {
    let mut rules = Rules::default();
    loop {
        let keyword = arguments.next().unwrap_or_default();
        if keyword == SEPARATOR {
            return Ok((rules, arguments.collect()));
        }
        let invalid = || Error::Arguments(format!("'{}'", keyword.display()));
        let value = arguments.next().ok_or_else(invalid)?;
        let number = || {
            let digits = value.to_str().and_then(|value| value.parse().ok());
            digits.ok_or_else(invalid)
        };
        match keyword.to_str().unwrap_or_default() {
            "read" => rules.read.push(value.into()),
            "write" => rules.write.push(value.into()),
            "execute" => rules.execute.push(value.into()),
            "device" => rules.devices.push(value.into()),
            "processes" => rules.processes = number()? == 1,
            "computing" => rules.cpu_seconds = number()?,
            "memory" => rules.memory = Some(number()?),
            "file" => rules.file = number()?,
            _ => return Err(invalid()),
        }
    }
}

/// Lowers this process's limits permanently, without other restrictions.
///
/// # Errors
///
/// Fails if the system does not lower a limit, or if a limit is already lower.
#[cfg(unix)]
pub fn lower_limits(rules: &Rules) -> Result<(), Error> {
    use rlimit::Resource;

    let mut lowered = vec![
        (Resource::CPU, "the CPU time in seconds", rules.cpu_seconds),
        (Resource::FSIZE, "the size of a file in bytes", rules.file),
        (Resource::CORE, "core dumps", 0),
    ];
    // macOS does not enforce a limit on memory.
    if let Some(memory) = rules.memory.filter(|_| cfg!(not(target_vendor = "apple"))) {
        lowered.push((Resource::AS, "the memory in bytes", memory));
    }
    for (limit, resource, maximum) in lowered {
        let failed = |error| Error::Limit { resource, error };
        let (_, hard) = limit.get().map_err(failed)?;
        // A program that fails within less than the rules promise is not at fault.
        if hard < maximum {
            return Err(Error::LowLimit {
                resource,
                available: hard,
                required: maximum,
            });
        }
        // At the soft CPU limit the process gets a signal of its own, SIGXCPU; at the hard limit it is just
        // killed.
        let hard_limit = maximum.saturating_add(u64::from(limit == Resource::CPU));
        limit.set(maximum, hard_limit.min(hard)).map_err(failed)?;
    }
    Ok(())
}

/// Does nothing on Windows, where the parent must enforce the limits.
#[cfg(not(unix))]
pub fn lower_limits(_rules: &Rules) -> Result<(), Error> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules {
            read: vec!["a b".into(), "--".into()],
            write: vec!["\"\n".into()],
            execute: Vec::new(),
            devices: vec!["/dev/gpu0".into()],
            processes: true,
            cpu_seconds: 7,
            memory: Some(4 << 30),
            file: 9,
        }
    }

    #[test]
    fn rules_round_trip_with_any_paths() {
        let none = Rules::default();
        for rules in [rules(), none] {
            let program = ["clang", "--", "-x"].map(OsString::from);
            let all = encode(&rules).into_iter().chain(program.clone());
            let (decoded, rest) = decode(all).expect("valid arguments");
            assert_eq!(decoded, rules);
            assert_eq!(rest, program);
        }
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        for arguments in [
            &[][..],
            &["read"],
            &["read", "a"],
            &["computing", "soon", "--"],
            &["rights", "all", "--"],
        ] {
            let all = arguments.iter().map(OsString::from);
            assert!(decode(all).is_err(), "{arguments:?}");
        }
    }
}
