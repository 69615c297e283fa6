//! The toolkit for host sides: cases, watched inputs, poisoned output buffers and references.

mod bench;
mod case;
mod code;
mod given;
mod inputs;
mod output;

use anyhow::Result;

pub use bench::{Bench, Ran};
pub use case::Case;
pub use code::{Code, Missing};
pub use given::{Given, Terms};
pub use inputs::{Changed, Place};
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
    fn given(&self, _case: &Case) -> Vec<Given> {
        Vec::new()
    }
}
