//! Launch plans: how to launch a kernel without a host program. A plan lists buffers and their initial values,
//! launches and their arguments, buffers to print, and expected results.
//!
//! A plan is TOML in a comment of the kernel's own file that begins with `/* cuda-run`, or in a file of its
//! own. `docs/records/launch-plan.md` describes the format. This crate launches nothing: it parses plans,
//! computes the buffers' initial contents, and compares results with the expected ones.
//!
//! | module | contents |
//! |---|---|
//! | [`plan`] | the plan as written |
//! | [`comment`] | locating the plan in a file |
//! | [`expression`] | arithmetic expressions such as `a[i] + 2 * b[i]` |
//! | [`element`] | element types and their representation in memory |
//! | [`fill`] | the initial contents of buffers |
//! | [`verify`] | comparison of results with expected values |
//! | [`resolved`] | the plan with all names resolved and all sizes evaluated |

pub mod comment;
pub mod element;
pub mod expression;
pub mod fill;
pub mod plan;
pub mod resolved;
pub mod verify;

use std::fmt;

pub use element::Element;
pub use resolved::{Argument, Buffer, Launch, ResolvedPlan};

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
