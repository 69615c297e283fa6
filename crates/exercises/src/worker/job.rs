//! What a worker is asked and what it answers.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use confine::Rules;
use kernel_build::Clang;
use serde::{Deserialize, Serialize};

use crate::course::folder::{self, Files};
use crate::data::Step;
use crate::exercise::Exercise;
use crate::grade::{Ours, Verdict};
use crate::lang::Lang;
use crate::random::random;

/// An answer to grade.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Stands in every line of the worker's; nobody else knows it.
    pub token: String,
    /// The exercise's name.
    pub exercise: String,
    /// Its files, where it is one of a teacher's own.
    pub files: Option<Files>,
    /// What the answer's file is called in messages.
    pub shown: String,
    /// The answer.
    pub text: String,
    /// What random sizes and inputs are drawn from.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// The clang to compile kernels with: its program and its version.
    pub clang: (OsString, String),
    /// What the course's own files take by the simulator's model, where that is known.
    pub ours: Option<Ours>,
    /// Whether the answer's lines are to be told with their counters.
    pub lines: bool,
    /// What it may use.
    pub limits: Limits,
    /// A folder for temporary files, which goes when it is done.
    pub scratch: Option<PathBuf>,
}

/// What the jobs of one run have in common.
#[derive(Clone, Debug)]
pub struct Terms {
    /// What random sizes and inputs are drawn from.
    pub seed: u64,
    /// The language of messages.
    pub lang: Lang,
    /// The clang to compile kernels with.
    pub clang: Clang,
    /// What each may use.
    pub limits: Limits,
}

impl Job {
    /// An answer to this exercise, whose file is called `shown`.
    pub fn new(exercise: &Exercise, shown: String, text: String, terms: &Terms) -> Job {
        let clang = &terms.clang;
        // Some editors begin a file with a mark of its encoding, which is no part of the text.
        let text = match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => text,
        };
        Job {
            token: format!("{:016x}{:016x}", random(), random()),
            exercise: exercise.name.to_owned(),
            files: folder::chosen().map(|_| Files::of(exercise)),
            shown,
            text,
            seed: terms.seed,
            lang: terms.lang,
            clang: (clang.program().to_owned(), clang.version().to_owned()),
            ours: None,
            lines: false,
            limits: terms.limits,
            scratch: None,
        }
    }
}

/// The longest file: the program around an answer in Rust, with what it is linked from.
const FILE: u64 = 512 << 20;

/// What grading an answer may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds that a launch may take, on the clock.
    pub launch: u64,
    /// Seconds of computing, of the grading and of a compiler each.
    pub computing: u64,
    /// Seconds that all of it may take, on the clock.
    pub seconds: u64,
    /// Bytes of memory, of the grading and of a compiler each.
    pub memory: u64,
}

impl Limits {
    /// For an answer that may take so many seconds. Those of the course take less than one, on a machine
    /// that has nothing else to do.
    pub fn within(seconds: u64) -> Limits {
        Limits {
            launch: (seconds / 2).clamp(1, 5),
            computing: (seconds / 2).clamp(1, 30),
            seconds,
            memory: 4 << 30,
        }
    }

    /// As rules of a process, to which files and what else it may do are to be added.
    pub fn rules(&self) -> Rules {
        Rules {
            computing: self.computing,
            // NVIDIA's driver reserves hundreds of gigabytes of addresses.
            memory: (!super::on_gpu()).then_some(self.memory),
            file: FILE,
            ..Rules::default()
        }
    }

    /// All of it, on the clock.
    pub fn time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// A line of a worker's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// The job's.
    pub token: String,
    /// What it says.
    pub message: Message,
}

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Message {
    /// It begins a step, at a size.
    At {
        /// The step.
        step: Step,
        /// The size, x first; empty where the step has nothing to do with one.
        size: Vec<u32>,
    },
    /// It is done.
    Verdict(Box<Verdict>),
    /// It cannot grade, which says nothing of the answer.
    Broken(String),
}
