//! The counters of one launch.

use serde::{Deserialize, Serialize};

use super::Tally;

/// The counters of a launch, and those of its source's lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchProfile {
    /// All lines together.
    pub total: Tally,
    /// Sectors read that the second cache, cold when the launch begins, does not have.
    pub l2_read_misses: u64,
    /// Sectors of device memory that were written, each once.
    pub written_sectors: u64,
    /// Line by line, by file and number; only lines that came to something.
    pub lines: Vec<LineProfile>,
}

/// The counters of one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineProfile {
    /// The file as the PTX names it, `kernels/matmul-tiled.cu`; empty where it names none.
    pub file: String,
    /// Its number, from 1; that of the PTX where it names no file. 0 for what the compiler added and
    /// gave no line.
    pub line: u32,
    /// What its instructions did.
    pub tally: Tally,
}
