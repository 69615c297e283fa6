//! Grading, step by step. The first step that fails ends it, with a message that teaches.
//!
//! This runs in a process of its own for each answer, and within limits; see the module `worker`.

mod advice;
mod cases;
mod checks;
mod chinese;
mod compile;
mod constants;
mod contested;
mod counters;
mod includes;
mod kinds;
mod launch;
mod lines;
mod missing;
mod modelled;
mod patterns;
mod picture;
mod predictions;
mod right;
mod signature;
mod steps;
mod time;
mod tokens;
mod trial;
mod verdict;
mod writers;

use std::path::PathBuf;

use anyhow::Result;
use kernel_build::Clang;

pub use compile::files as compiler_files;
pub use compile::ours as compile_ours;
pub use counters::{line, plain};
pub use time::{Ours, line as time_line};
pub use verdict::{Counted, Failure, FailureKind, Timed, Verdict};

use crate::data::Step;
use crate::exercise::Exercise;
use crate::host::Host;
use crate::lang::Lang;
use crate::worker::Limits;

/// An answer to an exercise.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What its file is called in messages.
    pub shown: String,
    /// Its text.
    pub text: String,
}

/// A line of a program without the comment behind it.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// How to grade.
pub struct Grading<'a> {
    /// What random sizes and inputs are drawn from.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// What compiles kernels.
    pub clang: Clang,
    /// The oldest GPUs that the exercise is for, 80 for sm_80; none for any.
    pub architecture: Option<u32>,
    /// What the course's own files take by the simulator's model, where that is known.
    pub ours: Option<Ours>,
    /// Whether the answer's lines are to be told with their counters.
    pub lines: bool,
    /// A folder for the compiler of the answer.
    pub scratch: PathBuf,
    /// What that compiler may use.
    pub limits: Limits,
    /// Told what is begun: a step, and at what size.
    pub at: &'a mut dyn FnMut(Step, &[u32]),
}

/// Why grading does not go on.
enum Stop {
    /// The answer failed.
    Failed(Failure),
    /// The course failed: no fault of the answer's.
    Broken(anyhow::Error),
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Stop::Broken(error)
    }
}

/// What is graded.
pub enum Subject<'a> {
    /// A kernel: the answer is CUDA C, the host side the course's.
    Kernel(&'a dyn Host),
    /// A host side that asks the program around an answer, with the course's kernel, if there is one.
    Host {
        /// The host side.
        host: &'a dyn Host,
        /// The PTX of the course's kernel; empty where there is none.
        ptx: String,
    },
}

/// Grades an answer.
///
/// # Errors
///
/// Where it cannot be graded, which says nothing of the answer: no compiler, no GPU.
pub fn grade(
    exercise: &Exercise,
    subject: Subject,
    answer: &Answer,
    grading: &mut Grading,
) -> Result<Verdict> {
    let mut verdict = Verdict::new(grading.seed);
    match steps::all(exercise, subject, answer, grading, &mut verdict) {
        Ok(()) => {}
        Err(Stop::Failed(failure)) => verdict.failure = Some(failure),
        Err(Stop::Broken(error)) => return Err(error),
    }
    Ok(verdict)
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
        }
    }
}
