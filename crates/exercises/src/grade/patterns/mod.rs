//! Patterns in wrong results: the sizes at which they occur, the wrong elements, and the differences. A
//! pattern is reported only if it holds for all runs.

mod sums;
mod values;

use chapter::lang::Lang;
use cuda_driver::Traced;

use super::results;
use crate::data::{Sizes, Tolerance};
use crate::host::{Case, Host, InputLocation, Output};

/// The results at one size.
pub struct Run {
    /// The size and seed.
    pub case: Case,
    /// The outputs with their references.
    pub outputs: Vec<Output>,
}

/// The data about a submission with wrong results.
pub struct Evidence<'a> {
    /// The exercise's sizes.
    pub sizes: &'a Sizes,
    /// The grader's host side.
    pub host: &'a dyn Host,
    /// The run with wrong results, then those at other sizes.
    pub runs: Vec<Run>,
    /// The permitted deviation.
    pub tolerance: Tolerance,
    /// The locations of the inputs in the first run.
    pub inputs: Vec<InputLocation>,
    /// The memory accesses of the first run's launches, by kernel.
    pub traces: Vec<(String, Vec<Traced>)>,
}

impl Evidence<'_> {
    /// Describes all patterns that hold, one per line; empty if there are none.
    pub fn describe(&self, lang: Lang) -> String {
        let Some((first, wrong)) = self.first_wrong() else {
            return String::new();
        };
        // Do not reveal anything about correct predictions.
        if !first.labels.is_empty() {
            return String::new();
        }
        let patterns = [
            describe_sizes(self, lang),
            sums::describe(self, &first.name, lang),
            values::describe(self, first, &wrong, lang),
            describe_unread(&self.inputs, &self.traces, lang),
        ];
        patterns
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns the first wrong output of the first run and a mask of its wrong elements.
    fn first_wrong(&self) -> Option<(&Output, Vec<bool>)> {
        let outputs = &self.runs.first()?.outputs;
        let wrong = |output| (output, results::wrong_mask(output, self.tolerance));
        outputs
            .iter()
            .map(wrong)
            .find(|(_, wrong)| wrong.contains(&true))
    }
}

/// The maximum number of sizes listed of each kind.
const MAX_SIZES: usize = 4;
/// The maximum number of sizes listed of each kind if sizes consist of several numbers.
const MAX_MULTI_SIZES: usize = 2;

/// Lists the correct and the wrong sizes; `None` if all are wrong.
fn describe_sizes(evidence: &Evidence, lang: Lang) -> Option<String> {
    let (mut correct, mut wrong) = (Vec::new(), Vec::new());
    for run in &evidence.runs {
        let mut outputs = run.outputs.iter();
        let is_wrong =
            outputs.any(|output| results::first_wrong(output, evidence.tolerance).is_some());
        let sizes = if is_wrong { &mut wrong } else { &mut correct };
        let size = evidence.sizes.format(&run.case.size);
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    // A size may occur with several inputs; it is correct only if all are.
    correct.retain(|size| !wrong.contains(size));
    if correct.is_empty() {
        return None;
    }
    Some(localize!(
        lang,
        "Correct at size {}. Wrong at size {}.",
        "结果正确的规模：{}。结果错误的规模：{}。";
        format_sizes(&correct, lang), format_sizes(&wrong, lang)
    ))
}

/// Lists the first sizes and the number of the others.
fn format_sizes(sizes: &[String], lang: Lang) -> String {
    // Sizes with several numbers contain commas themselves.
    let is_of_several = sizes.iter().any(|size| size.contains(','));
    let (limit, separator) = match is_of_several {
        true => (MAX_MULTI_SIZES, lang.pick("; ", "；")),
        false => (MAX_SIZES, lang.pick(", ", "、")),
    };
    let listed = sizes.iter().take(limit).map(String::as_str);
    let listed = listed.collect::<Vec<_>>().join(separator);
    match sizes.len().saturating_sub(limit) {
        0 => listed,
        more => localize!(lang, "{} and {} more", "{}，另有 {} 个"; listed, more),
    }
}

/// Lists the variables that no traced access reads; `None` if there are none.
fn describe_unread(
    inputs: &[InputLocation],
    traces: &[(String, Vec<Traced>)],
    lang: Lang,
) -> Option<String> {
    let accesses = || traces.iter().flat_map(|(_, trace)| trace);
    let touches = |access: &Traced, variable: &InputLocation| {
        let mut lanes = access.lanes();
        lanes.any(|(_, address)| variable.overlaps(address, access.bytes))
    };
    let variables = inputs.iter().filter(|input| input.is_variable);
    let unread = variables.filter(|variable| !accesses().any(|access| touches(access, variable)));
    let names: Vec<String> = unread
        .map(|variable| format!("`{}`", variable.name))
        .collect();
    if names.is_empty() {
        return None;
    }
    Some(localize!(
        lang,
        "No thread read the variable {}, which the host sets.",
        "没有线程读取主机端设置的变量 {}。";
        names.join(lang.pick(", ", "、"))
    ))
}

#[cfg(test)]
mod sample {
    use super::*;
    use crate::data::Random;
    use crate::host::{Bench, Terms, Values, sample};

    /// A host side whose outputs sum 1, 2, 4 … up to the size, so that every subset of terms has a distinct
    /// sum.
    struct Powers;

    impl Host for Powers {
        fn run(&self, _: &Bench, _: &Case) -> anyhow::Result<Vec<Output>> {
            Ok(Vec::new())
        }

        fn terms(&self, case: &Case, _: &str, indices: &[usize]) -> Option<Vec<Terms>> {
            let terms = Terms {
                values: powers(case.size[0]),
                equal: Some(case.size[0].into()),
            };
            Some(vec![terms; indices.len()])
        }
    }

    fn powers(size: u32) -> Vec<f64> {
        (0..size).map(|power| f64::from(1 << power)).collect()
    }

    /// Builds runs at the sizes 1, 2 and so on with these actual and expected results.
    pub fn runs(actual: &[f32], expected: impl Fn(u32) -> f32) -> Vec<Run> {
        let run = |(size, &actual): (u32, &f32)| Run {
            case: Case {
                size: vec![size],
                seed: 1,
            },
            outputs: vec![sample::output(
                &[1],
                Values::Floats(vec![actual]),
                Values::Floats(vec![expected(size)]),
            )],
        };
        (1..).zip(actual).map(run).collect()
    }

    /// Builds runs that should sum the terms of [`Powers`] but compute `of` instead.
    pub fn sums(of: impl Fn(u32, &[f64]) -> f64) -> Vec<Run> {
        let actual: Vec<f32> = (1..=8).map(|size| of(size, &powers(size)) as f32).collect();
        runs(&actual, |size| powers(size).iter().sum::<f64>() as f32)
    }

    /// Sizes without names.
    static UNNAMED: Sizes = Sizes {
        tests: Vec::new(),
        random: Random {
            from: Vec::new(),
            to: Vec::new(),
            count: 0,
        },
        graded: None,
        beyond: None,
        names: Vec::new(),
        unit: None,
        at_most: Vec::new(),
    };

    /// Wraps runs of [`Powers`] for the patterns.
    pub fn evidence(runs: Vec<Run>) -> Evidence<'static> {
        Evidence {
            sizes: &UNNAMED,
            host: &Powers,
            runs,
            tolerance: sample::EXACT,
            inputs: Vec::new(),
            traces: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::sample::load;

    #[test]
    fn predictions_have_no_patterns() {
        let mut evidence = sample::evidence(sample::runs(&[1.0, 3.0], |_| 1.0));
        assert!(evidence.describe(Lang::En).is_empty());
        evidence.runs.reverse();
        assert!(
            evidence
                .describe(Lang::En)
                .starts_with("Correct at size 1.")
        );
        evidence.runs[0].outputs[0].labels = vec!["one".to_owned()];
        assert!(evidence.describe(Lang::En).is_empty());
    }

    #[test]
    fn sizes_are_listed_if_some_are_correct() {
        let runs = |actual: &[f32]| sample::runs(actual, |_| 1.0);
        let message = |actual: &[f32]| describe_sizes(&sample::evidence(runs(actual)), Lang::En);
        assert_eq!(
            message(&[2.0, 1.0, 3.0]).as_deref(),
            Some("Correct at size 2. Wrong at size 1, 3.")
        );
        assert_eq!(message(&[2.0, 2.0]), None);
        // A size counts as correct only if it is correct with all inputs.
        let mut same_size = runs(&[1.0, 2.0]);
        same_size[1].case.size = vec![1];
        assert_eq!(describe_sizes(&sample::evidence(same_size), Lang::En), None);
    }

    #[test]
    fn only_the_first_sizes_are_listed() {
        let sizes: Vec<String> = (1..=6).map(|n| n.to_string()).collect();
        assert_eq!(format_sizes(&sizes, Lang::En), "1, 2, 3, 4 and 2 more");
        let sizes: Vec<String> = (1..=3).map(|n| format!("M = {n}, N = 1")).collect();
        assert_eq!(
            format_sizes(&sizes, Lang::Zh),
            "M = 1, N = 1；M = 2, N = 1，另有 1 个"
        );
    }

    #[test]
    fn unread_variables_are_listed() {
        let variable = |name: &str, address| InputLocation {
            name: name.to_owned(),
            address,
            bytes: 8,
            is_variable: true,
        };
        let variables = [variable("a", 0x1000), variable("b", 0x2000)];
        let message =
            |traces: &[(String, Vec<Traced>)]| describe_unread(&variables, traces, Lang::En);
        let traces = [("k".to_owned(), vec![load(0x1004)])];
        assert_eq!(
            message(&traces).as_deref(),
            Some("No thread read the variable `b`, which the host sets.")
        );
        assert!(message(&[]).unwrap().contains("`a`, `b`"));
        let both = [("k".to_owned(), vec![load(0x1004), load(0x2000)])];
        assert_eq!(message(&both), None);
    }
}
