//! The command-line program of the course.

use std::process::ExitCode;

use exercises::lang::Lang;
use exercises::output::{Unread, complain};
use exercises::{commands, usage};

fn main() -> ExitCode {
    if let Some(code) = confine::asked() {
        return code;
    }
    let done = match usage::flags(Lang::chosen()) {
        Ok(Ok(flags)) => commands::run(&flags),
        Ok(Err(code)) => Ok(code),
        Err(error) => Err(error),
    };
    done.unwrap_or_else(|error| {
        if error.is::<Unread>() {
            return ExitCode::from(Unread::CODE);
        }
        complain(&error);
        ExitCode::from(commands::CANNOT)
    })
}
