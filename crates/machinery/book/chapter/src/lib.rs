//! Infrastructure shared by the chapter programs: timing, reports, profiles, plots and flags. The chapters'
//! own code can be understood without opening this crate.
//!
//! | module | contents |
//! |---|---|
//! | [`Chapter`] | the GPU, timing on it, and the report on the results |
//! | [`flags`] | the flags that every chapter takes |
//! | [`report`] | the table and the JSON record |
//! | [`ladder`] | a chapter's table of kernels, from the note's kernel to the hardware's limit |
//! | [`launch`] | grids that cover an input, within the device's limits |
//! | [`limit`] | measured hardware limits: a copy on the device, the arithmetic rate |
//! | [`memory`] | the check that an input fits into memory, dynamic shared memory, the number of resident blocks |
//! | [`profile`] | the counters, advice and listings of `--profile` and their JSON form |
//! | [`check`] | the findings of `--check` and their JSON form |
//! | [`plot`] | the charts of `--plot`: times, requests, a roofline |
//! | [`lang`], [`chinese`] | the languages, English and Chinese; Chinese sentences about findings |
//! | [`file`](mod@file) | files that are written atomically; those of the installation or checkout |
//! | [`interrupt`] | a clean exit on Ctrl-C |
//! | [`progress`] | a progress bar for long work; arrays filled by all processors |
//! | [`number`], [`text`](mod@text) | numbers, lines and tables formatted for readers |
//! | [`rerun`] | command lines that repeat the run, also under NVIDIA's tools |

#[macro_use]
pub mod lang;

mod chapter;
pub mod check;
pub mod chinese;
pub mod file;
pub mod flags;
pub mod interrupt;
pub mod ladder;
pub mod launch;
pub mod limit;
pub mod memory;
pub mod number;
pub mod plot;
pub mod profile;
pub mod progress;
pub mod report;
pub mod rerun;
pub mod text;

pub use chapter::Chapter;
pub use report::{Entry, Limit};

/// Runs a chapter's `main` and turns its result into an exit code (see [`common::error::exit`]). Ctrl-C ends
/// the program with 130, any other handled signal with the code of that signal.
pub fn main(run: impl FnOnce() -> anyhow::Result<()>) -> std::process::ExitCode {
    let code = common::error::exit(check::finish(
        interrupt::install("interrupted").and_then(|()| run()),
    ));
    drop(interrupt::defer()); // if a signal arrived during the run, the program exits here with the signal's code
    code
}
