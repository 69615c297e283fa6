//! The host side of exercises whose `exercise.toml` describes the launches, in the format of
//! `docs/records/launch-plan.md`. Expected results come from the description or from running the solution.

mod device;
mod reference;
mod terms;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, Result, anyhow};
use launch_plan::plan::Number;
use launch_plan::{Mistake, Ready, fill};

pub use reference::Broken;

use crate::data::{self, Data};
use crate::host::{Bench, Case, Given, Host, Output, Terms};

/// A host side that executes the description in `exercise.toml`.
pub struct Described {
    toml: &'static str,
    data: OnceLock<Data>,
    /// Recently resolved descriptions: a submission runs several times at each size.
    known: Mutex<Vec<(Case, Arc<Known>)>>,
}

/// A description resolved at one size.
struct Known {
    ready: Ready,
    outputs: Vec<Place>,
    /// The expected bytes of each output, once known.
    expected: OnceLock<Vec<Vec<u8>>>,
}

/// An output.
struct Place {
    /// The index of its buffer.
    buffer: usize,
    name: &'static str,
    shape: Vec<usize>,
    /// The labels of its elements, if they are predicted.
    predicts: &'static [&'static str],
    /// True if the description initializes the buffer before the launch.
    is_filled: bool,
}

/// The capacity of the cache of cases, enough for all runs of one submission.
const KEPT: usize = 64;

impl Described {
    /// Creates a host side from the text of `exercise.toml`.
    pub const fn new(toml: &'static str) -> Described {
        Described {
            toml,
            data: OnceLock::new(),
            known: Mutex::new(Vec::new()),
        }
    }

    /// Checks that the description can be resolved at all sizes of the tests.
    ///
    /// # Errors
    ///
    /// Fails with the first error in the description and its line.
    pub fn verify(&self) -> Result<()> {
        let data = self.data()?;
        for size in &data.sizes.tests {
            let case = Case {
                size: size.clone(),
                seed: 1,
            };
            self.made(&case)
                .with_context(|| format!("at the size {size:?}"))?;
        }
        Ok(())
    }

    fn data(&self) -> Result<&Data> {
        if let Some(data) = self.data.get() {
            return Ok(data);
        }
        let data = data::of("exercise.toml", self.toml, true)?;
        Ok(self.data.get_or_init(|| data))
    }

    fn known(&self, case: &Case) -> Result<Arc<Known>> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(of, _)| of == case) {
            return Ok(Arc::clone(known));
        }
        let known = Arc::new(self.made(case)?);
        let mut all = lock();
        if all.len() >= KEPT {
            all.remove(0);
        }
        all.push((case.clone(), Arc::clone(&known)));
        Ok(known)
    }

    fn made(&self, case: &Case) -> Result<Known> {
        let data = self.data()?;
        let draw = (case.seed ^ case.seed >> 32) as u32;
        let given = data.sizes.named(&case.size);
        let mut plan = data.plan();
        if data.sizes.is_beyond_tests(&case.size) {
            // Evaluating `expect` for this many elements would take longer than the rest of the grading. Run
            // the solution instead, which the tests compare with the description.
            plan.buffer.iter_mut().for_each(|it| it.expect = None);
        }
        let ready = Ready::within(&plan, self.toml, Path::new(""), &given, draw);
        let ready = ready.map_err(|mistake| told(&mistake))?;
        let place = |output: &data::Output| {
            let found = ready.buffers.iter().position(|it| it.name == output.buffer);
            let buffer = found.context("the data has been looked at")?;
            let shape = shape(output, &ready, buffer)?;
            Ok(Place {
                buffer,
                // Leaked once per output of an exercise, which the number of exercises bounds.
                name: Box::leak(output.buffer.clone().into_boxed_str()),
                shape,
                predicts: predicts(output, ready.buffers[buffer].count)?,
                is_filled: data.buffer[buffer].fill.is_some(),
            })
        };
        let outputs = data.outputs.iter().map(place).collect::<Result<_>>()?;
        Ok(Known {
            ready,
            outputs,
            expected: OnceLock::new(),
        })
    }
}

/// Converts a plan's error, which contains the line.
fn told(mistake: &Mistake) -> anyhow::Error {
    anyhow!("{mistake}")
}

/// Evaluates the lengths of an output's dimensions.
fn shape(output: &data::Output, ready: &Ready, buffer: usize) -> Result<Vec<usize>> {
    let count = ready.buffers[buffer].count;
    if output.shape.is_empty() {
        return Ok(vec![count]);
    }
    let length = |number: &Number| {
        let value = fill::number(number, ready).map_err(|why| anyhow!(why))?;
        usize::try_from(value.whole()).context("a length below 0")
    };
    let lengths = output.shape.iter().map(length).collect::<Result<Vec<_>>>();
    let lengths = lengths.with_context(|| format!("[[output]] {}: shape", output.buffer))?;
    anyhow::ensure!(
        lengths.iter().product::<usize>() == count,
        "[[output]] {}: shape {lengths:?} is not of its {count} elements",
        output.buffer
    );
    Ok(lengths)
}

/// Returns the labels of a predicted output's elements, leaked like the output's name.
fn predicts(output: &data::Output, count: usize) -> Result<&'static [&'static str]> {
    let many = output.predicts.len();
    anyhow::ensure!(
        many == 0 || many == count,
        "[[output]] {}: predicts has {many} names, and there are {count} elements",
        output.buffer
    );
    let kept = |name: &String| -> &'static str { Box::leak(name.clone().into_boxed_str()) };
    Ok(Vec::leak(output.predicts.iter().map(kept).collect()))
}

impl Host for Described {
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>> {
        let (data, known) = (self.data()?, self.known(case)?);
        let got = device::run(bench, &known, &data.optional)?;
        let expected = reference::expected(bench, &known, &data.optional)?;
        let outputs = known.outputs.iter().zip(got).zip(expected);
        outputs
            .map(|((place, got), expected)| {
                let of = known.ready.buffers[place.buffer].of;
                let output = device::output(place, of, &got, expected)?;
                Ok(output.predicting(place.predicts))
            })
            .collect()
    }

    /// Returns the description's number `bytes`.
    fn bytes(&self, case: &Case) -> u64 {
        let known = self.known(case).ok();
        let bytes = known.and_then(|known| known.ready.numbers.get("bytes").copied());
        bytes.map_or(0, |bytes| u64::try_from(bytes.whole()).unwrap_or(0))
    }

    fn terms(&self, case: &Case, output: &str, indices: &[usize]) -> Option<Vec<Terms>> {
        let known = self.known(case).ok()?;
        let buffer = known.ready.buffers.iter().find(|it| it.name == output)?;
        terms::of(&buffer.expected.as_ref()?.text, &known.ready, indices)
    }

    fn given(&self, case: &Case) -> Vec<Given> {
        let Ok(known) = self.known(case) else {
            return Vec::new();
        };
        let is_output = |number| known.outputs.iter().any(|place| place.buffer == number);
        let buffers = known.ready.buffers.iter().enumerate();
        let read = buffers.filter(|&(number, buffer)| {
            !is_output(number) && (buffer.symbol || device::is_passed(&known.ready, number))
        });
        let given = read.filter_map(|(_, buffer)| {
            let bytes = buffer.start.as_ref()?.chunks_exact(buffer.of.size());
            Some(Given {
                name: buffer.name.clone(),
                values: bytes.map(|it| buffer.of.value(it).float()).collect(),
            })
        });
        given.collect()
    }
}

#[cfg(test)]
mod tests;
