//! The two forms of a verdict: [`Verdict`], the grader's own, and [`Record`], which is sent, stored and printed; and the
//! modelled costs of kernels, which are their times and the counters that have targets.

use chapter::lang::{Lang, Text};
use serde::{Deserialize, Serialize};

use crate::data::Step;
use crate::picture::Picture;

/// The result of grading a submission, as the grader knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The seed of random sizes and inputs.
    pub seed: u64,
    /// The GPU or simulator that ran it; empty if nothing ran.
    pub device: String,
    /// The failure; `None` if the submission passed.
    pub failure: Option<Failure>,
    /// The counters with targets, if grading got that far.
    pub targets: Vec<Counted>,
    /// All nonzero counters of the graded size by name, summed over all launches.
    pub counters: Vec<(String, u64)>,
    /// The submission's time, if the exercise requires one and grading got that far.
    pub time: Option<Timed>,
    /// The costs at each size, if grading got that far.
    pub costs: Option<[Costs; SIZES]>,
    /// A warp's access that makes a counter miss its target, next to the intended access.
    pub picture: Option<Picture>,
    /// The submission's lines with their counters, if requested and grading got that far.
    pub lines: String,
}

/// The reason why a submission did not pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The step that failed.
    pub step: Step,
    /// The kind of failure, if it is more specific than the step.
    pub kind: Option<FailureKind>,
    /// The size at which it failed, x first; empty if the failure does not depend on the size.
    pub size: Vec<u32>,
    /// The explanation: the problem, its cause and the remedy.
    pub message: Text,
}

/// The result of grading a submission as it leaves the grader: sent by the process that grades, stored, and printed
/// by `--json`.
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
    /// The costs at each size, if grading got that far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<[Costs; SIZES]>,
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

/// A kind of failure that is more specific than its step; it becomes the headline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The kernel ran but left elements unwritten.
    Unwritten,
    /// Killed after the time limit.
    #[serde(rename = "endless")]
    TimedOut,
    /// A kernel's parameters differ from those that it is launched with.
    Parameters,
    /// A kernel or a variable that the course's host side uses is missing.
    Missing,
    /// A fault, such as an illegal access, stopped the kernel.
    Stopped,
}

/// A counter and its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// The counter's name; `share_of_limit` for the share of the limit.
    pub counter: String,
    /// The kernel whose launches are counted; `None` for all.
    pub kernel: Option<String>,
    /// The submission's value.
    pub value: f64,
    /// The target in words.
    #[serde(rename = "asked")]
    pub required: String,
    /// True if the target is reached.
    pub reached: bool,
    /// The solution's value, if it ran as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<f64>,
}

/// A kernel's time compared with those of the start file and the solution, in milliseconds: modelled at the
/// graded size on the simulator, or medians of one run on a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// The submission's time.
    #[serde(rename = "answer_ms")]
    pub submission_ms: f64,
    /// The start file's time; `None` if its results are wrong, which makes its time meaningless.
    pub start_ms: Option<f64>,
    /// The solution's time.
    pub solution_ms: f64,
    /// The submission's time divided by the solution's.
    pub ratio: f64,
    /// The maximum of `ratio`.
    pub at_most: f64,
    /// True if the submission is fast enough.
    pub reached: bool,
}

impl Verdict {
    /// Creates a passing verdict, to which grading adds its results.
    pub fn new(seed: u64) -> Verdict {
        Verdict {
            seed,
            device: String::new(),
            failure: None,
            targets: Vec::new(),
            counters: Vec::new(),
            time: None,
            costs: None,
            picture: None,
            lines: String::new(),
        }
    }

    /// Returns true if the submission passed.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }

    /// Sets the failure.
    pub fn failed(self, failure: Failure) -> Verdict {
        Verdict {
            failure: Some(failure),
            ..self
        }
    }
}

impl Failure {
    /// Creates a failure that does not depend on a size.
    pub fn at_step(step: Step, message: Text) -> Failure {
        Failure {
            step,
            kind: None,
            size: Vec::new(),
            message,
        }
    }

    /// Sets the kind of failure.
    pub fn with_kind(self, kind: FailureKind) -> Failure {
        Failure {
            kind: Some(kind),
            ..self
        }
    }

    /// Appends the reasons to the message, if there are any.
    pub fn with_reasons(self, reasons: impl Fn(Lang) -> String) -> Failure {
        let message = Text::from_fn(|lang| {
            let message = self.message.get(lang);
            match reasons(lang) {
                reasons if reasons.is_empty() => message.to_owned(),
                reasons => format!("{message}\n\n{reasons}"),
            }
        });
        Failure { message, ..self }
    }
}

impl Record {
    /// Creates the record of a verdict on a submission to this exercise, with messages in this language.
    pub fn new(exercise: &str, verdict: Verdict, lang: Lang) -> Record {
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
            exercise: exercise.to_owned(),
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
            costs: verdict.costs,
            printed: String::new(),
            seed: verdict.seed,
            device: verdict.device,
            picture: verdict.picture,
            lines: verdict.lines,
        }
    }
}

/// The modelled costs of a kernel at one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// The time in milliseconds, without that of launching.
    pub milliseconds: f64,
    /// The counter of each target; 0 for a share of the limit.
    pub counters: Vec<u64>,
}

/// The number of sizes at which costs are compared: the graded one, one beyond it, one below it, the last of the tests, and
/// one of any proportions.
pub const SIZES: usize = 5;

/// The costs of the course's own files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceCosts {
    /// The start file's time at the graded size in milliseconds, if its results are correct.
    pub start_ms: Option<f64>,
    /// The solution's costs at each size.
    pub solution: [Costs; SIZES],
}
