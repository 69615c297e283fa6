//! The counters of one launch.

use serde::{Deserialize, Serialize};

use super::Tally;

/// The counters of a launch, and those of its source's lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchProfile {
    /// All lines together.
    pub total: Tally,
    /// Sectors read that the L2 cache, cold when the launch begins, does not have.
    pub l2_read_misses: u64,
    /// Sectors of device memory that were written, each once.
    pub written_sectors: u64,
    /// Line by line, in the order of files and numbers; only lines that came to something.
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

impl LaunchProfile {
    /// Adds another launch of the same program.
    pub(crate) fn add(&mut self, other: &LaunchProfile) {
        self.total.add(&other.total);
        self.l2_read_misses += other.l2_read_misses;
        self.written_sectors += other.written_sectors;
        for line in &other.lines {
            let place = |known: &LineProfile| {
                (known.file.as_str(), known.line).cmp(&(&line.file, line.line))
            };
            match self.lines.binary_search_by(place) {
                Ok(index) => self.lines[index].tally.add(&line.tally),
                Err(index) => self.lines.insert(index, line.clone()),
            }
        }
    }
}
