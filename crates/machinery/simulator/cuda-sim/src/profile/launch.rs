//! The profile of one launch: its counters, in all and per source line.

use serde::{Deserialize, Serialize};

use super::Tally;

/// The counters of a launch and of its source lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchProfile {
    /// The sum over all lines.
    pub total: Tally,
    /// Sectors read that miss the L2 cache, which is cold when the launch starts.
    pub l2_read_misses: u64,
    /// Sectors of device memory that were written, each counted once.
    pub written_sectors: u64,
    /// The counters per line, sorted by file and line. Lines without any counts are omitted.
    pub lines: Vec<LineProfile>,
}

/// The counters of one source line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineProfile {
    /// The file, as named in the PTX: `kernels/matmul-tiled.cu`. Empty if the PTX names none.
    pub file: String,
    /// The line number, starting at 1. If the PTX names no file, the line of the PTX. 0 for code that the
    /// compiler added without a line.
    pub line: u32,
    /// The counts of its instructions.
    pub tally: Tally,
}

impl LaunchProfile {
    /// Adds another launch of the same program.
    pub(crate) fn add(&mut self, other: &LaunchProfile) {
        self.total.add(&other.total);
        self.l2_read_misses += other.l2_read_misses;
        self.written_sectors += other.written_sectors;
        for line in &other.lines {
            let by_line = |existing: &LineProfile| {
                (existing.file.as_str(), existing.line).cmp(&(&line.file, line.line))
            };
            match self.lines.binary_search_by(by_line) {
                Ok(index) => self.lines[index].tally.add(&line.tally),
                Err(index) => self.lines.insert(index, line.clone()),
            }
        }
    }
}
