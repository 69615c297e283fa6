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

pub use program::{NoReply, Program};

use super::job::{Job, Message};
use super::{clang, grade_submission, send};
use crate::data::Step;
use crate::exercise::Exercise;
use crate::grade::{self, Failure, Subject, Verdict};
use crate::host::{Bench, Case, Host, Output};

/// The grader's side of an exercise in which the student writes Rust.
pub trait HostExercise: Sync {
    /// Sends requests about a case to the student's program and returns its replies with their references.
    ///
    /// # Errors
    ///
    /// Fails with [`NoReply`] if the program did not reply, and with CUDA's errors.
    fn run(&self, bench: &Bench, case: &Case, program: &mut Program) -> Result<Vec<Output>>;
}

/// Compiles, runs and grades a Rust submission.
pub fn run(
    job: &Job,
    exercise: &Exercise,
    grader: &dyn HostExercise,
    main: &str,
    kernel: &str,
) -> Result<Verdict> {
    let (step, size) = (Step::Compile, Vec::new());
    send(&job.token, Message::Progress { step, size });
    let folder = job
        .scratch
        .as_ref()
        .context("cannot create a folder for the program")?;
    let failed = |step, message| {
        let mut verdict = Verdict::new(job.seed);
        verdict.failure = Some(Failure::at_step(step, message));
        verdict
    };
    let file = match compile::compile(job, main, folder)? {
        Ok(file) => file,
        Err(message) => return Ok(failed(Step::Compile, message)),
    };
    let ptx = match kernel {
        "" => String::new(),
        kernel => {
            let [ptx] = grade::compile_course_files([kernel], None, &clang(job), job.lang)?;
            ptx
        }
    };
    let rust_host = RustHost {
        grader,
        program: Mutex::new(Program::start(&file, ptx.clone(), job)?),
    };
    let host = &rust_host;
    let verdict = grade_submission(job, exercise, Subject::Host { host, ptx })?;
    let program = rust_host.program.into_inner();
    match program.unwrap_or_else(PoisonError::into_inner).end() {
        Err(NoReply(message)) if verdict.passed() => Ok(failed(Step::Launch, message)),
        _ => Ok(verdict),
    }
}

/// A host side and the program that it sends requests to.
struct RustHost<'a> {
    grader: &'a dyn HostExercise,
    program: Mutex<Program>,
}

impl Host for RustHost<'_> {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        self.grader.run(bench, case, &mut program)
    }
}
