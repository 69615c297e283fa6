//! Expected results, from the description or from running the solution.

use anyhow::{Error, Result};
use thiserror::Error as ThisError;

use super::{ResolvedCase, device};
use crate::host::Bench;

/// Returns the expected bytes of each output. The solution runs after the submission, whose kernels therefore
/// cannot find its results in memory.
pub fn expected<'a>(
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
    let expected = if described.iter().all(Option::is_some) {
        described.into_iter().flatten().collect()
    } else {
        let computed = bench.uncounted(|| {
            let solution = bench.solution()?;
            device::run_unwatched(bench, &solution, resolved, optional)
        });
        let computed = computed.map_err(solution_failed)?;
        let both = described.into_iter().zip(computed);
        both.map(|(described, computed)| described.unwrap_or(computed.bytes))
            .collect()
    };
    Ok(resolved.expected.get_or_init(|| expected))
}

/// The error that the solution itself does not run. It is not a verdict on the submission.
#[derive(Debug, ThisError)]
#[error("the solution failed to run, so nothing can be graded: {0}")]
pub struct SolutionFailed(String);

fn solution_failed(error: Error) -> Error {
    let reason = match cuda_driver::take_fault() {
        Some(fault) => fault.to_string(),
        None => format!("{error:#}"),
    };
    SolutionFailed(reason).into()
}
