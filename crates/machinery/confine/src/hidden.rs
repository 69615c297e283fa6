//! The hidden command, which gives up its rights and then becomes the confined program.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::{Error, Rules, arguments, limits, system};

/// The name of the hidden command.
pub const COMMAND: &str = "confined";

/// The exit code if the program could not be started.
pub const CANNOT: u8 = 125;

/// Runs the hidden command if [`Rules::command`] started this process; returns `None` otherwise. Any `main`
/// that calls this first can confine programs.
///
/// If the program starts, this function returns only on Windows, after the program has ended.
pub fn asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    (arguments.next()? == COMMAND).then(|| {
        start(arguments).unwrap_or_else(|why| {
            eprintln!("error: {why}");
            ExitCode::from(CANNOT)
        })
    })
}

fn start(given: impl Iterator<Item = OsString>) -> Result<ExitCode, Error> {
    let (rules, mut program) = arguments::read(given)?;
    if program.is_empty() {
        return Err(Error::Arguments("no program".to_owned()));
    }
    let mut command = Command::new(program.remove(0));
    command.args(program);
    this_process(&rules)?;
    become_it(command)
}

#[cfg(unix)]
fn become_it(mut command: Command) -> Result<ExitCode, Error> {
    let why = std::os::unix::process::CommandExt::exec(&mut command);
    Err(not_started(&command, &why))
}

/// Runs the program and waits for it, because a Windows process cannot become another.
#[cfg(not(unix))]
fn become_it(mut command: Command) -> Result<ExitCode, Error> {
    let status = command
        .status()
        .map_err(|why| not_started(&command, &why))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(CANNOT)))
}

fn not_started(command: &Command, why: &std::io::Error) -> Error {
    let program = command.get_program().display();
    Error::System(format!("{program} does not start: {why}"))
}

/// Confines this process and everything that it starts, permanently. It must have no other thread, because
/// existing threads would keep their rights.
///
/// # Errors
///
/// Fails if the system refuses a restriction that [`crate::kept`] reports as supported. Some restrictions may
/// be in effect then.
pub fn this_process(rules: &Rules) -> Result<(), Error> {
    limits::lower(rules)?;
    system::confine(rules)
}
