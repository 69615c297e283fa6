//! What came of an answer, as `--json` prints it.

use serde::{Deserialize, Serialize};

use crate::data::{Step, Text};
use crate::exercise::Exercise;
use crate::grade::{Counted, Failure, FailureKind, Timed};
use crate::lang::Lang;
use crate::picture::Picture;
use crate::worker::Graded;

/// An answer, graded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The exercise's name.
    pub exercise: String,
    /// Whether it passed.
    pub passed: bool,
    /// The step at which it was rejected.
    pub step: Option<Step>,
    /// What kind of failure, where that says more than the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// The size at which it was, x first.
    pub size: Vec<u32>,
    /// Why, in the language asked for.
    pub message: String,
    /// The same in both languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Text>,
    /// The counters that have targets, as far as it came to them.
    pub targets: Vec<Counted>,
    /// All counters of the graded size that are not 0.
    pub counters: Vec<(String, u64)>,
    /// Its time, where one is asked and it came to that.
    pub time: Option<Timed>,
    /// What its kernels printed, the beginning.
    pub printed: String,
    /// What random sizes and inputs were drawn from.
    pub seed: u64,
    /// The GPU, or the simulator and what it models; empty where it did not come to run.
    pub device: String,
    /// A warp's access that makes a counter miss its target, beside what was meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
    /// The answer's lines with their counters, where that was asked and it came to that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lines: String,
}

impl Record {
    /// What came of an answer to this exercise, in this language.
    pub fn new(exercise: &Exercise, graded: Graded, lang: Lang) -> Record {
        let Graded { verdict, printed } = graded;
        let passed = verdict.passed();
        let (step, kind, size, messages) = match verdict.failure {
            Some(failure) => {
                let Failure {
                    step,
                    kind,
                    size,
                    message,
                } = failure;
                (Some(step), kind, size, Some(message))
            }
            None => (None, None, Vec::new(), None),
        };
        Record {
            exercise: exercise.name.to_owned(),
            passed,
            step,
            kind,
            size,
            message: messages.as_ref().map_or("", |it| it.of(lang)).to_owned(),
            messages,
            targets: verdict.targets,
            counters: verdict.counters,
            time: verdict.time,
            printed,
            seed: verdict.seed,
            device: verdict.device,
            picture: verdict.picture,
            lines: verdict.lines,
        }
    }
}
