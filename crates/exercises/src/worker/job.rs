//! The messages between the program and a worker.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use confine::Rules;
use kernel_build::Clang;
use serde::{Deserialize, Serialize};

use crate::course::custom::{self, ExerciseFiles};
use crate::data::Step;
use crate::exercise::Exercise;
use crate::grade::{ReferenceTimes, Verdict};
use crate::lang::Lang;
use crate::random::random;

/// A submission to grade.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// A secret included in every line of the worker, by which the parent recognizes them.
    pub token: String,
    /// The exercise's name.
    pub exercise: String,
    /// The exercise's files, if it belongs to a teacher's course.
    pub custom_files: Option<ExerciseFiles>,
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
            token: format!("{:016x}{:016x}", random(), random()),
            exercise: exercise.name.to_owned(),
            custom_files: custom::exercises().map(|_| ExerciseFiles::from_exercise(exercise)),
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

/// The maximum file size: the program around a Rust submission, including the objects that it is linked from.
const FILE: u64 = 512 << 20;

/// The resource limits of grading a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The wall-clock limit of a launch, in seconds.
    pub launch_seconds: u64,
    /// The CPU time limit of the worker and of each compiler, in seconds.
    pub cpu_seconds: u64,
    /// The wall-clock limit of the whole grading, in seconds.
    pub seconds: u64,
    /// The memory limit of the worker and of each compiler, in bytes.
    pub memory: u64,
}

impl Limits {
    /// Derives the limits from the total time in seconds. The course's own submissions take less than one
    /// second on an idle machine.
    pub fn within(seconds: u64) -> Limits {
        Limits {
            launch_seconds: (seconds / 2).clamp(1, 5),
            cpu_seconds: (seconds / 2).clamp(1, 30),
            seconds,
            memory: 4 << 30,
        }
    }

    /// Converts the limits to rules of a process, to which permitted files are to be added.
    pub fn rules(&self) -> Rules {
        Rules {
            cpu_seconds: self.cpu_seconds,
            // On a GPU, leave memory unlimited: NVIDIA's driver reserves hundreds of gigabytes of address
            // space.
            memory: (!super::on_gpu()).then_some(self.memory),
            file: FILE,
            ..Rules::default()
        }
    }

    /// Returns the wall-clock limit of the whole grading.
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
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
    Verdict(Box<Verdict>),
    /// Grading is impossible for a reason outside the submission.
    #[serde(rename = "broken")]
    InternalError(String),
}
