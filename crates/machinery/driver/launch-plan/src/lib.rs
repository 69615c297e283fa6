//! Launch plans: how to launch a kernel without a host program. A plan lists buffers and their initial values,
//! launches and their arguments, buffers to print, and expected results.
//!
//! A plan is TOML in a comment of the kernel's own file that begins with `/* cuda-run`, or TOML or JSON in a file
//! of its own. `docs/records/launch-plan.md` describes the format.
//!
//! ```text
//! plan (as written) → resolve (names resolved, sizes evaluated) → execute (buffers, launches, results)
//!                        └─ expression, contents                     └─ kernels, devices
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`plan`] | the plan as written, and its place in a file |
//! | [`expression`] | arithmetic expressions such as `a[i] + 2 * b[i]` |
//! | [`contents`] | element types, initial contents, and the comparison of results with expected values |
//! | [`resolve`] | the plan with all names resolved and all sizes evaluated |
//! | [`kernels`] | the kernels of a PTX module and their parameters |
//! | [`execute`] | the executor, over any [`Device`] |
//! | [`devices`] | the CUDA driver and the simulator as devices |

pub mod contents;
pub mod devices;
pub mod execute;
pub mod expression;
pub mod kernels;
pub mod plan;
pub mod resolve;

use std::fmt;

pub use contents::Element;
pub use execute::{Device, Execution};
pub use resolve::{Argument, Buffer, Launch, Limits, ResolvedPlan};

/// An error in a launch plan and its line in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// The line, counted from 1, or 0 if the error has no line.
    pub line: usize,
    /// The description of the error.
    pub message: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for PlanError {}
