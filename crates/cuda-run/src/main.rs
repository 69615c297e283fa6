//! Compiles a CUDA program with clang and runs it, on the GPU or the simulator; or runs any program that
//! loads CUDA's driver itself, on the simulator.
//!
//!     cargo run -p cuda-run -- program.cu -- its arguments
//!     cargo run -p cuda-run -- -- any-program its arguments
//!
//! | module | what it does |
//! |---|---|
//! | [`flags`], [`nvcc`] | the command line |
//! | [`compile`] | files to a library, or to PTX |
//! | [`inside`] | the process of the program itself: loads the library, calls its `main` |
//! | [`outside`] | starts that process, waits for it, ends it |
//! | [`described`], [`entries`] | a kernel without a host program, launched as its description says |
//! | [`library`] | the driver's library, for programs that nobody here compiles |
//! | [`program`] | a run of such a program |
//! | [`ptxas`] | what such a program finds in place of NVIDIA's assembler |
//!
//! What the one process tells the other, and what is told at the end, is in the crate `summary`.

mod compile;
mod described;
mod entries;
mod flags;
mod inside;
mod library;
mod missing;
mod module;
mod nvcc;
mod outside;
mod program;
mod ptxas;
mod run;

use std::process;

use chapter::interrupt;
use clap::Parser as _;
use common::error::{in_words, note};

/// Where the program itself cannot be run.
const FAILED: i32 = 1;

/// Where its command line is not understood, as clap has it.
const USAGE: i32 = 2;

fn main() {
    let words: Vec<_> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == inside::NAME) {
        inside::main(&words);
    }
    if ptxas::is_called(&words) {
        process::exit(ptxas::main(&words));
    }
    let words = nvcc::translated(words).unwrap_or_else(|why| {
        note(format_args!("error: {why}"));
        process::exit(USAGE);
    });
    let flags = flags::Flags::parse_from(words);
    let ended = match flags.files.is_empty() {
        true => program::run(&flags),
        false => interrupt::install("interrupted").and_then(|()| run::run(&flags)),
    };
    if interrupt::ending() {
        interrupt::wait();
    }
    process::exit(ended.unwrap_or_else(|error| {
        note(format_args!("error: {}", in_words(&error)));
        FAILED
    }));
}
