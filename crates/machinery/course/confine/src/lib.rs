//! Runs a program that can open only listed files, has no network, leaves no process behind, and has resource
//! limits.
//!
//! A process gives up its own rights permanently and then becomes the program to confine. Therefore the
//! program that confines others starts itself again: [`Rules::command`] builds the command, and `main` must
//! begin with [`run_if_child`], which does the rest.
//!
//! | denied | on Linux, by | on macOS | on Windows |
//! |---|---|---|---|
//! | files that are not listed | Landlock | no | no |
//! | the network | seccomp | no | no |
//! | starting other programs, unless `processes` is true | seccomp | no | no |
//! | signalling and tracing other processes, and seeing which there are | Landlock or seccomp | no | no |
//! | new namespaces | seccomp | no | no |
//! | leaving its process group | seccomp | no | no |
//! | exceeding limits of CPU time, memory and file size | resource limits | all except memory | no |
//! | files that the calling program has open, except input and output | closed | closed | no |
//! | environment variables | cleared | cleared | cleared |
//!
//! Linux does not hide whether a file exists, its size and its modification time, which includes the folder of a
//! process in `/proc`. A program that needs no more files after it has started hides them from the code that it
//! then runs with [`forbid_named_files`]. [`support`] reports what the current system supports.

mod rules;

#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
#[path = "linux/mod.rs"]
mod system;

/// Systems without a portable way for a process to give up its rights permanently.
#[cfg(not(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
)))]
mod system {
    use std::env::consts::{ARCH, OS};

    use crate::{Error, Rules};

    /// Returns the reason why this system cannot enforce all rules.
    pub fn unsupported_reason() -> Option<String> {
        Some(format!(
            "on {OS} ({ARCH}) a program's files, network and processes cannot be restricted"
        ))
    }

    /// Does nothing; only the resource limits apply.
    pub fn confine(_rules: &Rules) -> Result<(), Error> {
        Ok(())
    }

    /// Does nothing.
    pub fn forbid_named_files() -> Result<(), Error> {
        Ok(())
    }

    /// Closes all files of this process except its standard input, output and error.
    #[cfg(unix)]
    pub fn close_inherited_files() -> Result<(), Error> {
        let failed = |error| Error::System(format!("cannot close inherited files: {error}"));
        let entries = std::fs::read_dir("/dev/fd").map_err(failed)?;
        let numbers = entries.flatten().filter_map(|entry| {
            let name = entry.file_name();
            name.to_str()?.parse::<libc::c_int>().ok()
        });
        for number in numbers.filter(|&number| number > 2).collect::<Vec<_>>() {
            // SAFETY: no value of this process owns this file, which the caller guarantees; the list of files itself
            // has been read and closed, which makes closing its number again fail harmlessly.
            unsafe { libc::close(number) };
        }
        Ok(())
    }

    /// Does nothing: a Windows process inherits only the files that are passed to it.
    #[cfg(not(unix))]
    pub fn close_inherited_files() -> Result<(), Error> {
        Ok(())
    }
}

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

pub use rules::{Rules, lower_limits, system_libraries};

/// The reason why a program could not be confined.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A limit could not be lowered.
    #[error("cannot lower the limit on {resource}: {error}")]
    Limit {
        /// The limited resource.
        resource: &'static str,
        /// The system's error.
        error: std::io::Error,
    },
    /// A limit is already lower than required.
    #[error(
        "the system limits {resource} to {available}, but {required} are required: raise the limit, for example \
         with `ulimit`"
    )]
    LowLimit {
        /// The limited resource.
        resource: &'static str,
        /// The limit of this process.
        available: u64,
        /// The required limit.
        required: u64,
    },
    /// Landlock or seccomp failed.
    #[error("cannot confine the program: {0}")]
    System(String),
    /// The hidden command got arguments that [`Rules::command`] does not produce.
    #[error("this command is internal: {0}")]
    Arguments(String),
}

/// The level of confinement that this system supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// The system enforces all rules.
    Full,
    /// The system enforces only some rules, for this reason; see the table in the crate's documentation.
    Partial(String),
}

impl Support {
    /// Returns the reason why not all rules are enforced.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Support::Full => None,
            Support::Partial(reason) => Some(reason),
        }
    }
}

/// Queries the system without confining anything.
pub fn support() -> Support {
    system::unsupported_reason().map_or(Support::Full, Support::Partial)
}

/// The exit code if the program could not be started.
pub const EXIT_NOT_STARTED: u8 = 125;

/// Runs the hidden command if [`Rules::command`] started this process; returns `None` otherwise. Any `main`
/// that calls this first can confine programs.
///
/// If the program starts, this function returns only on Windows, after the program has ended.
pub fn run_if_child() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    (arguments.next()? == rules::COMMAND).then(|| {
        start(arguments).unwrap_or_else(|error| {
            eprintln!("error: {error}");
            ExitCode::from(EXIT_NOT_STARTED)
        })
    })
}

fn start(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, Error> {
    close_inherited_files()?;
    let (rules, mut program) = rules::decode(arguments)?;
    if program.is_empty() {
        return Err(Error::Arguments("no program".to_owned()));
    }
    let mut command = Command::new(program.remove(0));
    command.args(program);
    confine_this_process(&rules)?;
    replace_process(command)
}

#[cfg(unix)]
fn replace_process(mut command: Command) -> Result<ExitCode, Error> {
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    Err(start_error(&command, &error))
}

/// Runs the program and waits for it, because a Windows process cannot become another.
#[cfg(not(unix))]
fn replace_process(mut command: Command) -> Result<ExitCode, Error> {
    let status = command
        .status()
        .map_err(|error| start_error(&command, &error))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(EXIT_NOT_STARTED)))
}

fn start_error(command: &Command, error: &std::io::Error) -> Error {
    let program = command.get_program().display();
    Error::System(format!("cannot start {program}: {error}"))
}

/// Confines this process and everything that it starts, permanently. It must have no other thread, because
/// existing threads would keep their rights.
///
/// # Errors
///
/// Fails if the system refuses a restriction that [`support`] reports as supported. Some restrictions
/// may be in effect then.
pub fn confine_this_process(rules: &Rules) -> Result<(), Error> {
    rules::lower_limits(rules)?;
    system::confine(rules)
}

/// Forbids this process, permanently, to use files by name and to start programs, as far as the system supports it.
/// Open files remain usable. It must have no other thread, because existing threads would keep their rights.
///
/// # Errors
///
/// Fails if the system refuses a restriction that [`support`] reports as supported.
pub fn forbid_named_files() -> Result<(), Error> {
    system::forbid_named_files()
}

/// Closes the files that this process inherited from the program that started it, except its standard input, output
/// and error. Must be called before this process opens a file.
///
/// # Errors
///
/// Fails if the system refuses.
pub fn close_inherited_files() -> Result<(), Error> {
    system::close_inherited_files()
}
