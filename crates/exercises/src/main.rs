//! The course's program: flags in, a command done.

use std::process::ExitCode;

use exercises::lang::Lang;
use exercises::{commands, usage};

fn main() -> ExitCode {
    if let Some(code) = confine::asked() {
        return code;
    }
    let lang = Lang::chosen();
    let flags = match usage::flags(lang) {
        Ok(flags) => flags,
        Err(code) => return code,
    };
    match commands::run(&flags) {
        Ok(code) => code,
        Err(error) => {
            let why = exercises::error::in_words(&error, lang);
            eprintln!("{}{why}", lang.pick("error: ", "错误："));
            ExitCode::from(commands::CANNOT)
        }
    }
}
