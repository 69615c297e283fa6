//! Grading of Rust submissions. A program compiled around the submission replies to requests, and the
//! exercise's host side compares the replies in this process: the program contains neither the expected
//! results nor the verdict.

mod compile;
mod compiler;
mod libraries;
mod program;
mod sources;

use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};

pub use program::{Program, Unanswered};

use super::job::{Job, Message};
use super::{clang, graded, say};
use crate::data::Step;
use crate::exercise::Exercise;
use crate::grade::{self, Failure, Subject, Verdict};
use crate::host::{Bench, Case, Host, Output};

/// The grader's side of an exercise in which the student writes Rust.
pub trait Asks: Sync {
    /// Sends requests about a case to the student's program and returns its replies with their references.
    ///
    /// # Errors
    ///
    /// Fails with [`Unanswered`] if the program did not reply, and with CUDA's errors.
    fn run(&self, bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>>;
}

/// Compiles, runs and grades a Rust submission.
pub fn run(
    job: &Job,
    exercise: &Exercise,
    asks: &dyn Asks,
    main: &str,
    kernel: &str,
) -> Result<Verdict> {
    let (step, size) = (Step::Compile, Vec::new());
    say(&job.token, Message::At { step, size });
    let folder = job.scratch.as_ref().context("no folder for the program")?;
    let failed = |step, message| {
        let mut verdict = Verdict::new(job.seed);
        verdict.failure = Some(Failure::at(step, message));
        verdict
    };
    let file = match compile::compile(job, main, folder)? {
        Ok(file) => file,
        Err(message) => return Ok(failed(Step::Compile, message)),
    };
    let ptx = match kernel {
        "" => String::new(),
        kernel => {
            let [ptx] = grade::compile_ours([kernel], None, &clang(job), job.lang)?;
            ptx
        }
    };
    let asking = Asking {
        asks,
        program: Mutex::new(Program::start(&file, ptx.clone(), job)?),
    };
    let host = &asking;
    let verdict = graded(job, exercise, Subject::Host { host, ptx })?;
    let program = asking.program.into_inner();
    match program.unwrap_or_else(PoisonError::into_inner).end() {
        Err(Unanswered(message)) if verdict.passed() => Ok(failed(Step::Launch, message)),
        _ => Ok(verdict),
    }
}

/// A host side and the program that it sends requests to.
struct Asking<'a> {
    asks: &'a dyn Asks,
    program: Mutex<Program>,
}

impl Host for Asking<'_> {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        self.asks.run(bench, case, &mut program)
    }
}
