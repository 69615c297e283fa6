//! The toolkit for host sides: cases, watched inputs, poisoned output buffers and references.

mod bench;
mod case;
mod case_data;
mod code;
mod inputs;
mod output;

use anyhow::Result;

pub use bench::{Bench, RunResult};
pub use case::Case;
pub use case_data::{InputValues, Terms};
pub use code::{Code, Missing};
pub use inputs::{InputVariable, ModifiedInput};
#[cfg(test)]
pub use output::sample;
pub use output::{Element, Output, Values};

/// The host side of an exercise, which launches the student's kernels.
pub trait Host: Sync {
    /// Runs the exercise at one size and returns the outputs with their references.
    ///
    /// # Errors
    ///
    /// Fails with CUDA's errors, such as those of a kernel that failed.
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>>;

    /// Returns the number of bytes that a launch at this size must move, for a target `share_of_limit`.
    fn bytes(&self, _case: &Case) -> u64 {
        0
    }

    /// Returns the terms of sums that elements of an output are, if known.
    fn terms(&self, _case: &Case, _output: &str, _indices: &[usize]) -> Option<Vec<Terms>> {
        None
    }

    /// Returns the inputs of the kernels, if known.
    fn input_values(&self, _case: &Case) -> Vec<InputValues> {
        Vec::new()
    }
}
