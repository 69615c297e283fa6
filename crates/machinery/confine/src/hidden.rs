//! The hidden command: it gives up rights, and becomes the program.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::{Error, Rules, arguments, limits, system};

/// Its name.
pub const COMMAND: &str = "confined";

/// Its exit code where the program did not start.
pub const CANNOT: u8 = 125;

/// Does what [`Rules::command`] asked for, if that is how this program was started; `None` if not. A
/// `main` that calls this first can confine programs.
///
/// Where the program starts, this does not return, but on Windows when the program has ended.
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

/// A process of Windows cannot become another: this one waits for it.
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

/// Confines this process, for good, and all that it starts from now on. It has to be its only thread: others
/// would keep their rights.
///
/// # Errors
///
/// Where the system refuses what it can do by [`crate::kept`]. Then some of it may be done.
pub fn this_process(rules: &Rules) -> Result<(), Error> {
    limits::lower(rules)?;
    system::confine(rules)
}
