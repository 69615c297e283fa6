//! Source locations of instructions.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A line of the kernel's source, if the PTX names one, and of the PTX.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SourceLine {
    pub file: Option<String>,
    pub line: u32,
    pub ptx_line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) if self.line > 0 => {
                write!(f, "{file}:{} (PTX line {})", self.line, self.ptx_line)
            }
            _ => write!(f, "PTX line {}", self.ptx_line),
        }
    }
}
