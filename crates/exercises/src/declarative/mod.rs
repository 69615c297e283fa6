//! The host side of exercises whose `exercise.toml` describes the launches, in the format of
//! `docs/records/launch-plan.md`. Expected results come from the description or from running the solution.

mod device;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use anyhow::{Context as _, Error, Result, anyhow};
use launch_plan::contents::{ElementScope, evaluate};
use launch_plan::expression::{Expression, Operator};
use launch_plan::plan::{Fill, FillTable, Number};
use launch_plan::{Limits, PlanError, ResolvedPlan};
use thiserror::Error as ThisError;

use crate::data::{self, Data};
use crate::host::{Bench, Case, Host, InputValues, Output, Terms};

/// A host side that executes the description in `exercise.toml`.
pub struct DeclarativeHost<'a> {
    data: &'a Data,
    /// The text of `exercise.toml`, for the lines of errors.
    toml: &'a str,
    /// Recently resolved descriptions: a submission runs several times at each size.
    cache: RefCell<Vec<(Case, Rc<ResolvedCase>)>>,
}

/// A description resolved at one size.
struct ResolvedCase {
    ready: ResolvedPlan,
    outputs: Vec<OutputBuffer>,
    /// The expected bytes of each output, once known.
    expected: OnceCell<Vec<Vec<u8>>>,
}

/// An output.
struct OutputBuffer {
    /// The index of its buffer.
    buffer: usize,
    name: String,
    shape: Vec<usize>,
    /// The labels of its elements, if they are predicted.
    labels: Vec<String>,
    /// True if the description initializes the buffer before the launch.
    is_filled: bool,
}

/// The maximum number of elements of an exercise's buffers at one size, 512 MiB of floats.
const MAX_ELEMENTS: usize = 1 << 27;

/// The maximum number of operations to check an exercise's expressions, which take less than a second.
const MAX_STEPS: u128 = 100_000_000;

/// The capacity of the cache of cases, enough for all runs of one submission.
const CACHE_CAPACITY: usize = 64;

impl<'a> DeclarativeHost<'a> {
    /// Creates a host side from the data in `exercise.toml` and the text of that file.
    pub fn new(data: &'a Data, toml: &'a str) -> DeclarativeHost<'a> {
        DeclarativeHost {
            data,
            toml,
            cache: RefCell::default(),
        }
    }

    /// Checks that the description can be resolved at all sizes of the tests, the largest random one, and the graded
    /// one.
    ///
    /// # Errors
    ///
    /// Fails with the first error in the description and its line.
    pub fn verify(&self) -> Result<()> {
        let limits = Limits::new(MAX_ELEMENTS, MAX_STEPS);
        let sizes = &self.data.sizes;
        for size in sizes
            .tests
            .iter()
            .chain([&sizes.random.to])
            .chain(&sizes.graded)
        {
            let case = Case {
                size: size.clone(),
                seed: 1,
            };
            self.resolve(&case, &limits)
                .with_context(|| format!("at the size {size:?}"))?;
        }
        Ok(())
    }

    fn resolved(&self, case: &Case) -> Result<Rc<ResolvedCase>> {
        let mut cache = self.cache.borrow_mut();
        if let Some((_, resolved)) = cache.iter().find(|(of, _)| of == case) {
            return Ok(Rc::clone(resolved));
        }
        // The process that grades has a time limit of its own.
        let limits = Limits::new(MAX_ELEMENTS, u128::MAX);
        let resolved = Rc::new(self.resolve(case, &limits)?);
        if cache.len() >= CACHE_CAPACITY {
            cache.remove(0);
        }
        cache.push((case.clone(), Rc::clone(&resolved)));
        Ok(resolved)
    }

    fn resolve(&self, case: &Case, limits: &Limits) -> Result<ResolvedCase> {
        let data = self.data;
        let draw = (case.seed ^ case.seed >> 32) as u32;
        let numbers = data.sizes.named(&case.size);
        let mut plan = data.plan();
        if data.sizes.is_beyond_tests(&case.size) {
            // Evaluating `expect` for this many elements would take longer than the rest of the grading. Run
            // the solution instead, which the tests compare with the description.
            plan.buffer
                .iter_mut()
                .for_each(|buffer| buffer.expect = None);
        }
        if data.sizes.tests.contains(&case.size) {
            // The fixed sizes come first, so messages mostly show their numbers, which should be easy to read.
            for buffer in &mut plan.buffer {
                let fill = buffer.fill.as_mut().map(toml::Spanned::get_mut);
                if let Some(Fill::Table(FillTable::Random(random))) = fill {
                    random.exponents = None;
                    random.huge = None;
                }
            }
        }
        let ready = ResolvedPlan::within(&plan, self.toml, &numbers, draw, limits);
        let ready = ready.map_err(|error| plan_error(&error))?;
        let resolve_output = |output: &data::Output| {
            let buffer = ready
                .buffers
                .iter()
                .position(|buffer| buffer.name == output.buffer);
            let buffer = buffer.context("the data has been validated")?;
            let shape = shape(output, &ready, buffer, limits)?;
            Ok(OutputBuffer {
                buffer,
                name: output.buffer.clone(),
                shape,
                labels: prediction_labels(output, ready.buffers[buffer].count)?,
                is_filled: data.buffer[buffer].fill.is_some(),
            })
        };
        let outputs = data
            .outputs
            .iter()
            .map(resolve_output)
            .collect::<Result<_>>()?;
        Ok(ResolvedCase {
            ready,
            outputs,
            expected: OnceCell::new(),
        })
    }
}

/// Converts a plan's error, which contains the line.
fn plan_error(error: &PlanError) -> anyhow::Error {
    anyhow!("{error}")
}

/// Evaluates the lengths of an output's dimensions.
fn shape(
    output: &data::Output,
    ready: &ResolvedPlan,
    buffer: usize,
    limits: &Limits,
) -> Result<Vec<usize>> {
    let count = ready.buffers[buffer].count;
    if output.shape.is_empty() {
        return Ok(vec![count]);
    }
    let length = |number: &Number| {
        let value = evaluate(number, &limits.scope(ready)).map_err(|error| anyhow!(error))?;
        usize::try_from(value.to_integer()).context("a length below 0")
    };
    let lengths = output.shape.iter().map(length).collect::<Result<Vec<_>>>();
    let lengths = lengths.with_context(|| format!("[[output]] {}: shape", output.buffer))?;
    anyhow::ensure!(
        lengths
            .iter()
            .try_fold(1, |all: usize, &length| all.checked_mul(length))
            == Some(count),
        "[[output]] {}: shape {lengths:?} does not match its {count} elements",
        output.buffer
    );
    Ok(lengths)
}

/// Returns the labels of a predicted output's elements.
fn prediction_labels(output: &data::Output, count: usize) -> Result<Vec<String>> {
    let names = output.predicts.len();
    anyhow::ensure!(
        names == 0 || names == count,
        "[[output]] {}: predicts has {names} names, but there are {count} elements",
        output.buffer
    );
    Ok(output.predicts.clone())
}

impl Host for DeclarativeHost<'_> {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (optional, resolved) = (&self.data.optional, self.resolved(case)?);
        let actual = device::run(bench, &resolved, optional)?;
        let expected = expected_outputs(bench, &resolved, optional)?;
        let outputs = resolved.outputs.iter().zip(actual).zip(expected);
        outputs
            .map(|((buffer, actual), expected)| {
                let of = resolved.ready.buffers[buffer.buffer].element;
                let output = device::pair(buffer, of, &actual, expected)?;
                Ok(output.predicted(&buffer.labels))
            })
            .collect()
    }

    /// Returns the description's number `bytes`.
    fn bytes(&self, case: &Case) -> u64 {
        let resolved = self.resolved(case).ok();
        let bytes = resolved.and_then(|resolved| resolved.ready.numbers.get("bytes").copied());
        bytes.map_or(0, |bytes| u64::try_from(bytes.to_integer()).unwrap_or(0))
    }

    fn terms(&self, case: &Case, output: &str, indices: &[usize]) -> Option<Vec<Terms>> {
        let resolved = self.resolved(case).ok()?;
        let buffer = resolved
            .ready
            .buffers
            .iter()
            .find(|buffer| buffer.name == output)?;
        sum_terms(&buffer.expected.as_ref()?.text, &resolved.ready, indices)
    }

    fn input_values(&self, case: &Case) -> Vec<InputValues> {
        let Ok(resolved) = self.resolved(case) else {
            return Vec::new();
        };
        let is_output = |number| {
            resolved
                .outputs
                .iter()
                .any(|output| output.buffer == number)
        };
        let buffers = resolved.ready.buffers.iter().enumerate();
        let inputs = buffers.filter(|&(number, buffer)| {
            !is_output(number)
                && (buffer.symbol || device::is_launch_argument(&resolved.ready, number))
        });
        let inputs = inputs.filter_map(|(_, buffer)| {
            let bytes = buffer.initial.as_ref()?.chunks_exact(buffer.element.size());
            Some(InputValues {
                name: buffer.name.clone(),
                values: bytes
                    .map(|bytes| buffer.element.value(bytes).to_float())
                    .collect(),
            })
        });
        inputs.collect()
    }
}

/// Returns the expected bytes of each output. The solution runs after the submission, whose kernels therefore
/// cannot find its results in memory.
fn expected_outputs<'a>(
    bench: &Bench,
    resolved: &'a ResolvedCase,
    optional: &[String],
) -> Result<&'a [Vec<u8>]> {
    if let Some(expected) = resolved.expected.get() {
        return Ok(expected);
    }
    let all = resolved.outputs.iter().map(|output| {
        let buffer = &resolved.ready.buffers[output.buffer];
        let expected = buffer.expected.as_ref()?;
        let bytes = expected
            .values
            .iter()
            .flat_map(|&value| buffer.element.bytes(value));
        Some(bytes.collect::<Vec<u8>>())
    });
    let described: Vec<Option<Vec<u8>>> = all.collect();
    let expected = match described.iter().all(Option::is_some) {
        true => described.into_iter().flatten().collect(),
        false => {
            let computed = bench.uncounted(|| {
                let solution = bench.solution()?;
                device::run_unwatched(bench, &solution, resolved, optional)
            });
            let computed = computed.map_err(|error| solution_failed(bench, error))?;
            let both = described.into_iter().zip(computed);
            both.map(|(described, computed)| described.unwrap_or(computed.bytes))
                .collect()
        }
    };
    Ok(resolved.expected.get_or_init(|| expected))
}

/// The error that the solution itself does not run. It is not a verdict on the submission.
#[derive(Debug, ThisError)]
#[error("the solution failed to run, so nothing can be graded: {0}")]
pub struct SolutionFailed(String);

fn solution_failed(bench: &Bench, error: Error) -> Error {
    let reason = match bench.take_fault() {
        Some(fault) => fault.to_string(),
        None => format!("{error:#}"),
    };
    SolutionFailed(reason).into()
}

/// Returns the terms of these elements; `None` if `expect` is not a sum.
fn sum_terms(expect: &str, ready: &ResolvedPlan, indices: &[usize]) -> Option<Vec<Terms>> {
    let sum = Expression::parse(expect).ok()?;
    let equal = with_equality(&sum);
    let terms_of = |&index: &usize| {
        let values = ElementScope {
            index,
            values: ready,
        };
        let terms = sum.terms(&values)?.ok()?;
        let equal = equal.as_ref().and_then(|equal| equal.value(&values).ok());
        Some(Terms {
            values: terms.iter().map(|term| term.to_float()).collect(),
            equal: equal.map(|equal| equal.to_float()),
        })
    };
    indices.iter().map(terms_of).collect()
}

/// Returns the sum with `==` instead of the ordering comparison in each term; `None` if the terms are no
/// ordering comparisons.
fn with_equality(sum: &Expression) -> Option<Expression> {
    use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual};
    let Expression::Sum(name, operands) = sum else {
        return None;
    };
    let [from, to, of] = (**operands).clone();
    let Expression::Binary(Greater | GreaterOrEqual | Less | LessOrEqual, both) = of else {
        return None;
    };
    let equal = Expression::Binary(Operator::Equal, both);
    Some(Expression::Sum(name.clone(), Box::new([from, to, equal])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_count_equal_pairs() {
        let text = "[[buffer]]\nname = \"in\"\ntype = \"int\"\ncount = 4\nfill = { values = [3, 5, 3, 1] }\n";
        let plan = toml::from_str(text).unwrap();
        let ready = ResolvedPlan::within(&plan, text, &[], 0, &Limits::none()).unwrap();
        let sum_terms = |expect| sum_terms(expect, &ready, &[0, 3]);
        let terms = sum_terms("sum(k, i, 4, in[k] > 3)").unwrap();
        assert_eq!(terms[0].values, [0.0, 1.0, 0.0, 0.0]);
        assert_eq!((terms[0].equal, terms[1].equal), (Some(2.0), Some(0.0)));
        let terms = sum_terms("sum(k, i, 4, in[k])").unwrap();
        assert_eq!((&terms[1].values[..], terms[1].equal), (&[1.0][..], None));
        assert!(sum_terms("in[i]").is_none());
    }
}
