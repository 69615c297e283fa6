//! Patterns in wrong results: the sizes at which they occur, the wrong elements, and the differences. A
//! pattern is reported only if it holds for all runs.

mod sizes;
mod sums;
mod unread;
mod values;

use cuda_driver::Traced;

use super::results;
use crate::data::{Sizes, Tolerance};
use crate::host::{Case, Host, InputVariable, Output};
use crate::lang::Lang;

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
    /// The locations of the submission's input variables in the first run.
    pub variables: Vec<InputVariable>,
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
            sizes::describe(self, lang),
            sums::describe(self, &first.name, lang),
            values::describe(self, first, &wrong, lang),
            unread::describe(&self.variables, &self.traces, lang),
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

#[cfg(test)]
mod tests {
    use super::*;

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
    };

    /// Wraps runs of [`Powers`] for the patterns.
    pub fn evidence(runs: Vec<Run>) -> Evidence<'static> {
        Evidence {
            sizes: &UNNAMED,
            host: &Powers,
            runs,
            tolerance: sample::EXACT,
            variables: Vec::new(),
            traces: Vec::new(),
        }
    }
}
