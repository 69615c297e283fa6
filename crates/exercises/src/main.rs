//! The course's program: flags in, a command done.

use std::process::ExitCode;

use clap::Parser;
use exercises::commands;
use exercises::flags::Flags;
use exercises::lang::Lang;

fn main() -> ExitCode {
    match commands::run(&Flags::parse()) {
        Ok(code) => code,
        Err(error) => {
            let why = common::error::in_words(&error);
            eprintln!("{}{why}", Lang::chosen().pick("error: ", "错误："));
            ExitCode::from(commands::CANNOT)
        }
    }
}
