//! Expected results, from the description or from running the solution.

use anyhow::{Error, Result};
use thiserror::Error as IsError;

use super::{Known, device};
use crate::host::Bench;

/// Returns the expected bytes of each output. The solution runs after the submission, whose kernels therefore
/// cannot find its results in memory.
pub fn expected<'a>(bench: &Bench, known: &'a Known, optional: &[String]) -> Result<&'a [Vec<u8>]> {
    if let Some(expected) = known.expected.get() {
        return Ok(expected);
    }
    let all = known.outputs.iter().map(|place| {
        let buffer = &known.ready.buffers[place.buffer];
        let expected = buffer.expected.as_ref()?;
        let bytes = expected
            .values
            .iter()
            .flat_map(|&value| buffer.of.bytes(value));
        Some(bytes.collect::<Vec<u8>>())
    });
    let said: Vec<Option<Vec<u8>>> = all.collect();
    let expected = match said.iter().all(Option::is_some) {
        true => said.into_iter().flatten().collect(),
        false => {
            let shown = bench.uncounted(|| {
                let solution = bench.solution()?;
                device::run_apart(bench, &solution, known, optional)
            });
            let shown = shown.map_err(broken)?;
            let both = said.into_iter().zip(shown);
            both.map(|(said, shown)| said.unwrap_or(shown.bytes))
                .collect()
        }
    };
    Ok(known.expected.get_or_init(|| expected))
}

/// The error that the solution itself does not run. It is not a verdict on the submission.
#[derive(Debug, IsError)]
#[error("the solution does not run, so nothing can be graded: {0}")]
pub struct Broken(String);

fn broken(error: Error) -> Error {
    let why = match cuda_driver::take_fault() {
        Some(fault) => fault.to_string(),
        None => format!("{error:#}"),
    };
    Broken(why).into()
}
