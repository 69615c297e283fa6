//! The JSON record of a graded submission, printed by `--json`.

use serde::{Deserialize, Serialize};

use crate::data::{Step, Text};
use crate::exercise::Exercise;
use crate::grade::{Counted, Failure, FailureKind, Timed};
use crate::lang::Lang;
use crate::picture::Picture;
use crate::worker::Graded;

/// A graded submission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The exercise's name.
    pub exercise: String,
    /// True if the submission passed.
    pub passed: bool,
    /// The step at which it was rejected.
    pub step: Option<Step>,
    /// The kind of failure, if it is more specific than the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// The size at which it was rejected, x first.
    pub size: Vec<u32>,
    /// The explanation, in the requested language.
    pub message: String,
    /// The explanation in both languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Text>,
    /// The counters with targets, if grading got that far.
    pub targets: Vec<Counted>,
    /// All nonzero counters of the graded size.
    pub counters: Vec<(String, u64)>,
    /// The submission's time, if the exercise requires one and grading got that far.
    pub time: Option<Timed>,
    /// The beginning of the kernels' output.
    pub printed: String,
    /// The seed of random sizes and inputs.
    pub seed: u64,
    /// The GPU, or the simulator and the GPU that it models; empty if nothing ran.
    pub device: String,
    /// A warp's access that makes a counter miss its target, next to the intended access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
    /// The submission's lines with their counters, if requested and grading got that far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lines: String,
}

impl Record {
    /// Creates the record of a graded submission, with messages in this language.
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
            message: messages
                .as_ref()
                .map_or("", |text| text.get(lang))
                .to_owned(),
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
