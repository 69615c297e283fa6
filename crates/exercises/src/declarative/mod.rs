//! The host side of exercises whose `exercise.toml` describes the launches, in the format of
//! `docs/records/launch-plan.md`. Expected results come from the description or from running the solution.

mod device;
mod reference;
mod terms;

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, Result, anyhow};
use launch_plan::plan::Number;
use launch_plan::{PlanError, ResolvedPlan, fill};

pub use reference::SolutionFailed;

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

    /// Checks that the description can be resolved at all sizes of the tests.
    ///
    /// # Errors
    ///
    /// Fails with the first error in the description and its line.
    pub fn verify(&self) -> Result<()> {
        for size in &self.data.sizes.tests {
            let case = Case {
                size: size.clone(),
                seed: 1,
            };
            self.resolve(&case)
                .with_context(|| format!("at the size {size:?}"))?;
        }
        Ok(())
    }

    fn resolved(&self, case: &Case) -> Result<Rc<ResolvedCase>> {
        let mut cache = self.cache.borrow_mut();
        if let Some((_, resolved)) = cache.iter().find(|(of, _)| of == case) {
            return Ok(Rc::clone(resolved));
        }
        let resolved = Rc::new(self.resolve(case)?);
        if cache.len() >= CACHE_CAPACITY {
            cache.remove(0);
        }
        cache.push((case.clone(), Rc::clone(&resolved)));
        Ok(resolved)
    }

    fn resolve(&self, case: &Case) -> Result<ResolvedCase> {
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
        let ready = ResolvedPlan::within(&plan, self.toml, Path::new(""), &numbers, draw);
        let ready = ready.map_err(|error| plan_error(&error))?;
        let resolve_output = |output: &data::Output| {
            let buffer = ready
                .buffers
                .iter()
                .position(|buffer| buffer.name == output.buffer);
            let buffer = buffer.context("the data has been validated")?;
            let shape = shape(output, &ready, buffer)?;
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
fn shape(output: &data::Output, ready: &ResolvedPlan, buffer: usize) -> Result<Vec<usize>> {
    let count = ready.buffers[buffer].count;
    if output.shape.is_empty() {
        return Ok(vec![count]);
    }
    let length = |number: &Number| {
        let value = fill::evaluate(number, ready).map_err(|error| anyhow!(error))?;
        usize::try_from(value.to_integer()).context("a length below 0")
    };
    let lengths = output.shape.iter().map(length).collect::<Result<Vec<_>>>();
    let lengths = lengths.with_context(|| format!("[[output]] {}: shape", output.buffer))?;
    anyhow::ensure!(
        lengths.iter().product::<usize>() == count,
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
        let expected = reference::expected(bench, &resolved, optional)?;
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
        terms::evaluate(&buffer.expected.as_ref()?.text, &resolved.ready, indices)
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
