//! Grading in steps. The first step that fails ends the grading with a message that explains the failure.
//!
//! Each submission is graded in a separate process with resource limits; see the module `worker`.

mod accesses;
mod checks;
mod compile;
mod costs;
mod counters;
mod declarations;
mod finding_kinds;
mod includes;
mod launch;
mod patterns;
mod picture;
mod results;
mod signature;
mod steps;
mod submission;
mod time;
mod tokens;
mod trial;
mod undeclared;
mod verdict;

use anyhow::Result;

pub use compile::{Compiler, compiler_files, find_compiler};
pub use costs::{Costs, ReferenceCosts};
pub use counters::{counter_label, format_target};
pub use submission::{Grading, Subject, Submission};
pub use time::format_times;
pub use verdict::{Counted, Failure, FailureKind, Record, Timed, Verdict};

use crate::course::Exercise;
use submission::{ReferenceTimes, Stop, strip_comment};

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
