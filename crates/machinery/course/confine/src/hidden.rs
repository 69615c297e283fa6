//! The hidden command, which gives up its rights and then becomes the confined program.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::{Error, Rules, arguments, limits, system};

/// The name of the hidden command.
pub const COMMAND: &str = "confined";

/// The exit code if the program could not be started.
pub const EXIT_NOT_STARTED: u8 = 125;

/// Runs the hidden command if [`Rules::command`] started this process; returns `None` otherwise. Any `main`
/// that calls this first can confine programs.
///
/// If the program starts, this function returns only on Windows, after the program has ended.
pub fn run_if_child() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    (arguments.next()? == COMMAND).then(|| {
        start(arguments).unwrap_or_else(|error| {
            eprintln!("error: {error}");
            ExitCode::from(EXIT_NOT_STARTED)
        })
    })
}

fn start(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode, Error> {
    let (rules, mut program) = arguments::decode(arguments)?;
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
/// Fails if the system refuses a restriction that [`crate::support`] reports as supported. Some restrictions
/// may be in effect then.
pub fn confine_this_process(rules: &Rules) -> Result<(), Error> {
    limits::lower(rules)?;
    system::confine(rules)
}
