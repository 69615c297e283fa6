//! The command-line program of the course.

use std::panic;
use std::process::ExitCode;

use chapter::lang::Lang;
use exercises::output::{BrokenPipe, EXIT_NOT_GRADED, print_error};
use exercises::{commands, flags};

fn main() -> ExitCode {
    if let Some(code) = confine::run_if_child() {
        return code;
    }
    // A panic, for example because no thread can be started, has printed its message.
    panic::catch_unwind(run).unwrap_or(ExitCode::from(EXIT_NOT_GRADED))
}

fn run() -> ExitCode {
    let result = match flags::flags(Lang::current()) {
        Ok(Ok(flags)) => commands::run(&flags),
        Ok(Err(code)) => Ok(code),
        Err(error) => Err(error),
    };
    result.unwrap_or_else(|error| {
        if error.is::<BrokenPipe>() {
            return ExitCode::from(BrokenPipe::EXIT_CODE);
        }
        print_error(&error);
        ExitCode::from(EXIT_NOT_GRADED)
    })
}
