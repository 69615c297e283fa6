//! What a host side is written with: cases, inputs that are watched, buffers that show what was not
//! written, references.

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

/// The host side of an exercise: what a program that uses the student's kernel does.
pub trait Host: Sync {
    /// Runs it once at a size and says what came out and what should have.
    ///
    /// # Errors
    ///
    /// CUDA's own, such as those of a kernel that failed.
    fn run(&self, bench: &Bench, case: &Case) -> Result<Vec<Output>>;

    /// Bytes that a launch at this size has to move at least, for a target `share_of_limit`.
    fn bytes(&self, _case: &Case) -> u64 {
        0
    }

    /// What elements of an output are sums of, where that is known.
    fn terms(&self, _case: &Case, _output: &str, _indices: &[usize]) -> Option<Vec<Terms>> {
        None
    }

    /// What the kernels are given to read, where that is known.
    fn given(&self, _case: &Case) -> Vec<Given> {
        Vec::new()
    }
}
