//! What is around a chapter's own program, and what a reader of the chapter need not open.
//!
//! | module | what it gives |
//! |---|---|
//! | [`Chapter`] | the GPU, how to time work on it, and the report on what comes of it |
//! | [`flags`] | the flags that every chapter takes |
//! | [`report`] | the table and the JSON record |
//! | [`ladder`] | a chapter's table of kernels, from the note's to the limit |
//! | [`limit`] | the limit itself: a copy on the device, the rate of arithmetic |
//! | [`memory`] | checking that an input fits before anything is allocated |
//! | [`shared`] | shared memory beyond what a kernel has of its own |
//! | [`profile`] | what `--profile` prints, and what the record has of it |
//! | [`check`] | what `--check` prints, and what the record has of it |
//! | [`plot`] | what `--plot` draws: times, requests, a roofline |
//! | [`file`] | files that are there whole, or not at all |
//! | [`interrupt`] | Ctrl-C leaves nothing half-written |
//! | [`parallel`] | an array filled on all processors |
//! | [`progress`] | a bar for what lasts |
//! | [`number`] | numbers as a reader takes them in |

mod chapter;
pub mod check;
pub mod file;
pub mod flags;
pub mod interrupt;
pub mod ladder;
pub mod limit;
pub mod memory;
pub mod number;
pub mod parallel;
pub mod plot;
pub mod profile;
pub mod progress;
pub mod report;
pub mod rerun;
pub mod shared;

pub use chapter::Chapter;
pub use report::{Entry, Limit};

/// A chapter's `main`: runs it, and turns what came of it into an exit code (see
/// [`common::error::exit`]). Ctrl-C ends it with 130, and another signal with its own code.
pub fn main(run: impl FnOnce() -> anyhow::Result<()>) -> std::process::ExitCode {
    let code = common::error::exit(check::end(
        interrupt::install("interrupted").and_then(|()| run()),
    ));
    drop(interrupt::hold()); // where it came just now, its code is the program's
    code
}
