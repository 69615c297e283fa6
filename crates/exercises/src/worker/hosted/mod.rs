//! Grading of Rust submissions. A program compiled around the submission replies to requests, and the
//! exercise's host side compares the replies in this process: the program contains neither the expected
//! results nor the verdict.

mod compile;
mod safety;

use std::cell::RefCell;

use anyhow::{Context as _, Result};

use super::{Job, Message, clang, grade_submission, send};
use crate::course::Exercise;
use crate::data::Step;
use crate::grade::{Compiler, Failure, Subject, Verdict};
use crate::host::{Bench, Case, Host, HostExercise, NoReply, Output, Program};

/// Compiles, runs and grades a Rust submission.
pub fn run(job: &Job, exercise: &Exercise, grader: &dyn HostExercise) -> Result<Verdict> {
    let [main, kernel] = exercise.program().context("the exercise has no main.rs")?;
    let (step, size) = (Step::Compile, Vec::new());
    send(&job.token, Message::Progress { step, size });
    let folder = job
        .scratch
        .as_ref()
        .context("cannot create a folder for the program")?;
    let failed = |step, message| Verdict::new(job.seed).failed(Failure::at_step(step, message));
    let refusal = safety::refusal(&job.text);
    let compiled = match &refusal {
        Ok(Some(message)) => Err(message.clone()),
        // The compiler explains what cannot be read.
        Ok(None) | Err(_) => compile::compile(job, main, folder)?,
    };
    let file = match (compiled, refusal) {
        (Ok(file), Ok(_)) => file,
        (Ok(_), Err(message)) | (Err(message), _) => return Ok(failed(Step::Compile, message)),
    };
    let ptx = match kernel {
        "" => String::new(),
        kernel => {
            let compiler = Compiler {
                clang: clang(job),
                lang: job.lang,
                scratch: folder.clone(),
                limits: job.limits,
                architecture: None,
            };
            compiler.course_file(kernel)?
        }
    };
    let program_folder = folder.join(compile::PROGRAM_FOLDER);
    let program = Program::start(&program_folder, &file, ptx.clone(), job.limits, job.lang)?;
    let rust_host = RustHost {
        grader,
        program: RefCell::new(program),
    };
    let host = &rust_host;
    let verdict = grade_submission(job, exercise, Subject::Host { host, ptx })?;
    match rust_host.program.into_inner().end() {
        Err(NoReply(message)) if verdict.passed() => Ok(failed(Step::Launch, message)),
        _ => Ok(verdict),
    }
}

/// A host side and the program that it sends requests to.
struct RustHost<'a> {
    grader: &'a dyn HostExercise,
    program: RefCell<Program>,
}

impl Host for RustHost<'_> {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        self.grader.run(bench, case, &mut self.program.borrow_mut())
    }
}
