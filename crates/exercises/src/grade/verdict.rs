//! What came of grading.

use serde::{Deserialize, Serialize};

use crate::data::{Step, Text};
use crate::lang::Lang;
use crate::picture::Picture;

/// What came of grading an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What random sizes and inputs were drawn from.
    pub seed: u64,
    /// The GPU or simulator that ran it; empty where it came to nothing.
    pub device: String,
    /// Why it did not pass; `None` where it did.
    pub failure: Option<Failure>,
    /// The counters that have targets, as far as it came to them.
    pub targets: Vec<Counted>,
    /// All counters of the graded size that are not 0, by name: all launches together.
    pub counters: Vec<(String, u64)>,
    /// Its time, where one is asked and it came to that.
    pub time: Option<Timed>,
    /// A warp's access that makes a counter miss its target, beside what was meant.
    pub picture: Option<Picture>,
    /// The answer's lines with their counters, where that is asked and it came to that.
    pub lines: String,
}

/// Why an answer did not pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// At which step.
    pub step: Step,
    /// What it is, where that says more than the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// At which size, x first; empty where it has nothing to do with sizes.
    pub size: Vec<u32>,
    /// What is wrong, why, and what to do.
    pub message: Text,
}

/// What a failure is, where its step alone would mislead: a headline says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The kernel ran, and left elements unwritten.
    Unwritten,
    /// It was ended because it did not end.
    Endless,
    /// It has other parameters than it is launched with.
    Parameters,
    /// It lacks a kernel or a variable that the course's side names.
    Missing,
    /// It was stopped for what no kernel may do.
    Stopped,
}

/// A counter beside its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Its name; `share_of_limit` for the share of the limit.
    pub counter: String,
    /// Of which kernel, if not of all.
    pub kernel: Option<String>,
    /// What was counted.
    pub value: f64,
    /// What was asked, in words.
    pub asked: String,
    /// Whether it is within.
    pub reached: bool,
    /// What was counted of the solution, where it ran as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<f64>,
}

/// What a kernel takes, beside the file that the student began with and the solution, in milliseconds: by
/// the simulator's model at the graded size, or on a GPU the medians of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// The answer's.
    pub answer_ms: f64,
    /// The start file's, where its results are right; that of a file that does the wrong thing, or
    /// nothing, says nothing.
    pub start_ms: Option<f64>,
    /// The solution's.
    pub solution_ms: f64,
    /// The answer's over the solution's.
    pub ratio: f64,
    /// What is asked of that.
    pub at_most: f64,
    /// Whether it is within.
    pub reached: bool,
}

impl Verdict {
    /// One that has nothing against the answer yet.
    pub fn new(seed: u64) -> Verdict {
        Verdict {
            seed,
            device: String::new(),
            failure: None,
            targets: Vec::new(),
            counters: Vec::new(),
            time: None,
            picture: None,
            lines: String::new(),
        }
    }

    /// Whether the answer passed.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }
}

impl Failure {
    /// One that has nothing to do with a size.
    pub fn at(step: Step, message: Text) -> Failure {
        Failure {
            step,
            kind: None,
            size: Vec::new(),
            message,
        }
    }

    /// The same, and what it is.
    pub fn of_kind(self, kind: FailureKind) -> Failure {
        Failure {
            kind: Some(kind),
            ..self
        }
    }

    /// The same, with what it comes from, if that is known.
    pub fn because(self, reasons: impl Fn(Lang) -> String) -> Failure {
        let message = Text::both(|lang| {
            let message = self.message.of(lang);
            match reasons(lang) {
                reasons if reasons.is_empty() => message.to_owned(),
                reasons => format!("{message}\n\n{reasons}"),
            }
        });
        Failure { message, ..self }
    }
}
