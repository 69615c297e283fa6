//! Grading in steps. The first step that fails ends the grading with a message that explains the failure. This file has a
//! submission, the settings of its grading, and the reasons why the grading stops.
//!
//! Each submission is graded in a separate process with resource limits; see the module `worker`.

mod accesses;
mod checks;
mod compile;
mod counters;
mod includes;
mod launch;
mod patterns;
mod picture;
mod results;
mod signature;
mod steps;
mod time;
mod tokens;
mod trial;
mod verdict;

use std::path::PathBuf;

use anyhow::Result;
use chapter::lang::{Lang, Text};
use kernel_build::Clang;

use crate::course::Exercise;
use crate::data::Step;
use crate::host::{Case, Host};
use crate::process::Limits;

pub use compile::{Compiler, compiler_files, find_compiler};
pub use counters::{counter_label, format_target};
pub use time::format_times;
pub use verdict::{Costs, Counted, Failure, FailureKind, Record, ReferenceCosts, Timed, Verdict};

/// Grades a submission.
///
/// # Errors
///
/// Fails if the submission cannot be graded for reasons outside it, for example without a compiler or GPU.
pub fn grade(
    exercise: &Exercise,
    subject: Subject,
    submission: &Submission,
    grading: &mut Grading,
) -> Result<Verdict> {
    let mut verdict = Verdict::new(grading.seed);
    match steps::run_steps(exercise, subject, submission, grading, &mut verdict) {
        Ok(()) => Ok(verdict),
        Err(Stop::Failed(failure)) => Ok(verdict.failed(failure)),
        Err(Stop::InternalError(error)) => Err(error),
    }
}

/// A student's submission to an exercise.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The file's name in messages.
    pub display_name: String,
    /// The file's text.
    pub text: String,
}

/// Strips the comment from a line of code.
pub fn strip_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Settings of a grading.
pub struct Grading<'a> {
    /// The seed of random sizes and inputs.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// The compiler for kernels.
    pub clang: Clang,
    /// The minimum architecture of the exercise, 80 for sm_80; `None` for any.
    pub architecture: Option<u32>,
    /// The modelled costs of the course's own files, if known.
    pub reference: Option<ReferenceCosts>,
    /// True if the report includes the submission's lines with their counters.
    pub lines: bool,
    /// The folder for the compiler's temporary files.
    pub scratch: PathBuf,
    /// The limits of the compiler.
    pub limits: Limits,
    /// A callback that receives each step and size when it starts.
    pub on_step: &'a mut dyn FnMut(Step, &[u32]),
}

/// The times of the course's own files in milliseconds, from the run in which a submission is compared with
/// them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferenceTimes {
    /// The start file's time, if its results are correct.
    pub start_ms: Option<f64>,
    /// The solution's time.
    pub solution_ms: f64,
}

/// The reason why grading stops.
pub enum Stop {
    /// The submission failed a step.
    Failed(Failure),
    /// The grading itself failed; the submission is not at fault.
    InternalError(anyhow::Error),
}

impl Stop {
    /// Stops because the submission failed a step at the size of `case`.
    pub fn at_size(step: Step, case: &Case, message: Text) -> Stop {
        Stop::Failed(Failure {
            size: case.size.clone(),
            ..Failure::at_step(step, message)
        })
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Stop::InternalError(error)
    }
}

/// The kind of program that is graded.
pub enum Subject<'a> {
    /// A kernel: the submission is CUDA C, the host side is the course's.
    Kernel(&'a dyn Host),
    /// A host side that sends requests to the program around the submission.
    Host {
        /// The grader's host side.
        host: &'a dyn Host,
        /// The PTX of the course's kernel; empty if there is none.
        ptx: String,
    },
}

#[cfg(test)]
mod sample {
    use cuda_driver::{AccessKind, Memory, SourceLine, Traced};

    /// A load of 4 bytes by the first lane of a grid.
    pub fn load(address: u64) -> Traced {
        Traced {
            block: 0,
            warp: 0,
            source: SourceLine::default(),
            kind: AccessKind::Load,
            memory: Memory::Global,
            bytes: 4,
            mask: 1,
            addresses: [address; 32],
            units: 1,
            wavefronts: 1,
            conflicts: 0,
            bytes_in_flight: 0,
            phase: 0,
            phase_bytes_in_flight: 0,
        }
    }
}
