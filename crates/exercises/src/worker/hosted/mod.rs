//! An answer in Rust: a program is compiled around it, is asked, and replies. What it replies is compared
//! here, by the exercise's host side: that program has neither what is expected nor the verdict.

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

/// The host side of an exercise where a student writes Rust.
pub trait Asks: Sync {
    /// Asks the student's program about a case, and says what it replied and what it should have.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where it did not reply, and CUDA's own.
    fn run(&self, bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>>;
}

/// Grades it.
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

/// A host side, and the program that it asks.
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
