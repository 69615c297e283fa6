//! How a kernel without a host program is launched: buffers and how they are filled, launches and their
//! arguments, what to print, and what to compare with.
//!
//! The description is TOML, in a comment of the kernel's own file that begins with `/* cuda-run`, or in a
//! file. `docs/records/launch-plan.md` says what may be in it. Nothing is launched here: this crate reads
//! descriptions, computes what is in buffers, and judges what came out.
//!
//! | module | what is in it |
//! |---|---|
//! | [`plan`] | the description as it is written |
//! | [`comment`] | finding it in a file |
//! | [`expression`] | arithmetic in it: `a[i] + 2 * b[i]` |
//! | [`element`] | numbers in memory, by type |
//! | [`fill`] | what is in a buffer before the first launch |
//! | [`judge`] | what came out beside what is expected |
//! | [`ready`] | a description with all names looked up and all sizes known |

pub mod comment;
pub mod element;
pub mod expression;
pub mod fill;
pub mod judge;
pub mod plan;
pub mod ready;

use std::fmt;

pub use element::Element;
pub use ready::{Argument, Buffer, Launch, Ready};

/// What is wrong with a description, and in which of its file's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// From 1; 0 where it is of no line.
    pub line: usize,
    /// A sentence.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl std::error::Error for Mistake {}
