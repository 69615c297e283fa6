//! What every chapter shares, and nothing of any one chapter.
//!
//! | module | what it gives |
//! |---|---|
//! | [`gpu`] | opening the GPU, or the simulator in its place |
//! | [`module`] | loading PTX, with the compiler's words when it refuses |
//! | [`memory`] | checking that an input fits before anything is allocated |
//! | [`launch`] | grids that cover an input, within the device's limits |
//! | [`timing`] | how often to launch, and what the samples say |
//! | [`verify`] | comparing a result with its reference |
//! | [`ladder`] | from the note's kernel to the limit: which kernels to run |
//! | [`limit`] | the limit itself: a copy on the device, the rate of arithmetic |
//! | [`counters`] | what the simulator counted |
//! | [`report`] | the table and the JSON record |
//! | `profile` | what `--profile` prints, and what the record has of it |
//! | `check` | what `--check` prints, and what the record has of it |
//! | [`plot`] | the picture: times, requests, a roofline |
//! | [`flags`] | the flags that every chapter takes |
//! | [`progress`] | a bar for what lasts |
//! | [`interrupt`] | Ctrl-C leaves nothing half-written |
//! | [`number`] | numbers as a reader takes them in |
//! | [`error`] | one `error:` line and the exit code |
//!
//! A chapter itself is plain `cust`: buffers, symbols, launches and events are in its own code.

// cust calls the CUDA driver's functions; this crate defines them (NVIDIA's driver or the
// simulator behind them), so it has to be linked even where nothing names it.
extern crate cuda_driver as _;

mod check;
pub mod counters;
pub mod error;
pub mod flags;
pub mod gpu;
pub mod interrupt;
pub mod ladder;
pub mod launch;
pub mod limit;
pub mod memory;
pub mod module;
pub mod number;
pub mod plot;
mod profile;
pub mod progress;
pub mod report;
mod rerun;
pub mod timing;
pub mod verify;

pub use gpu::Gpu;

/// A chapter's `main`: runs it, and turns what came of it into an exit code (see
/// [`error::exit`]). Ctrl-C ends it with 130.
pub fn main(run: impl FnOnce() -> anyhow::Result<()>) -> std::process::ExitCode {
    error::exit(check::end(interrupt::install().and_then(|()| run())))
}
