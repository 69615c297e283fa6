//! The messages between the program and a worker.

use std::ffi::OsString;
use std::path::PathBuf;

use kernel_build::Clang;
use serde::{Deserialize, Serialize};

use crate::course::{Exercise, ExerciseFiles};
use crate::data::Step;
use crate::grade::{Record, ReferenceTimes};
use crate::lang::Lang;
use crate::process::Limits;

/// A submission to grade.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// A secret included in every line of the worker, by which the parent recognizes them.
    pub token: String,
    /// The exercise's files.
    pub exercise: ExerciseFiles,
    /// The name of the submission's file in messages.
    pub display_name: String,
    /// The text of the submission.
    pub text: String,
    /// The seed of random sizes and inputs.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// The program and the version of the clang that compiles kernels.
    pub clang: (OsString, String),
    /// The modelled times of the course's own files, if known.
    pub reference_times: Option<ReferenceTimes>,
    /// True if the report includes the submission's lines with their counters.
    pub lines: bool,
    /// The resource limits.
    pub limits: Limits,
    /// A folder for temporary files, deleted after grading.
    pub scratch: Option<PathBuf>,
}

/// Settings that the jobs of one run share.
#[derive(Clone, Debug)]
pub struct JobSettings {
    /// The seed of random sizes and inputs.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// The clang to compile kernels with.
    pub clang: Clang,
    /// The resource limits of each job.
    pub limits: Limits,
}

impl Job {
    /// Creates a job for a submission to this exercise, whose file is called `display_name`.
    pub fn new(
        exercise: &Exercise,
        display_name: String,
        text: String,
        settings: &JobSettings,
    ) -> Job {
        let clang = &settings.clang;
        // Strip the byte-order mark that some editors write.
        let text = match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        };
        Job {
            token: format!("{:032x}", u128::from_ne_bytes(random())),
            exercise: exercise.files().clone(),
            display_name,
            text,
            seed: settings.seed,
            lang: settings.lang,
            clang: (clang.program().to_owned(), clang.version().to_owned()),
            reference_times: None,
            lines: false,
            limits: settings.limits,
            scratch: None,
        }
    }
}

impl JobSettings {
    /// Returns a random seed with few digits, so that it is easy to retype.
    pub fn random_seed() -> u64 {
        u64::from_ne_bytes(random()) % 1_000_000
    }
}

/// Returns bytes of the system's entropy, which submissions cannot guess.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Every supported system has a source of entropy, without which no process is safe to grade in.
    getrandom::fill(&mut bytes).expect("the system provides random bytes");
    bytes
}

/// A line of a worker's output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The job's token.
    pub token: String,
    /// The message.
    pub message: Message,
}

/// A message of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Message {
    /// A step starts, at a size.
    #[serde(rename = "at")]
    Progress {
        /// The step.
        step: Step,
        /// The size, x first; empty if the step does not depend on one.
        size: Vec<u32>,
    },
    /// Grading is done.
    Graded(Box<Record>),
    /// Grading is impossible for a reason outside the submission.
    #[serde(rename = "broken")]
    InternalError(String),
}
