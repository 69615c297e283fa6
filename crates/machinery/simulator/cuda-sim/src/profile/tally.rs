//! The profile of a launch: the counts of the kernel and of each source line, summed over their instructions.

use crate::isa::{AccessClass, AccessSet, Direction};
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

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

/// The counts of a kernel or of one source line.
///
/// Everything is counted per warp, as hardware does. A *request* is one warp's load or store; a *sector* is 32
/// bytes; a *wavefront* is one pass through the L1 cache's data stage. Adjacent loads that NVIDIA's assembler
/// merges into one wide load are one request here as well (see `lower/analysis/vectorizer.rs`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// PTX instructions, per warp that reached them.
    pub instructions: u64,
    /// PTX instructions, per thread that reached them.
    pub thread_instructions: u64,
    /// Matrix instructions on tensor cores, per warp.
    #[serde(rename = "products")]
    pub tensor_instructions: u64,
    /// Conditional branches, per warp.
    pub branches: u64,
    /// Branches at which the lanes of a warp diverged and that are branches in machine code too.
    pub divergent_branches: u64,
    /// Arrivals of warps at block barriers.
    pub barriers: u64,
    /// The accesses of each class, indexed by class: `tally[AccessClass::GlobalLoad]`.
    #[serde(with = "nonzero")]
    pub accesses: [AccessCounts; AccessClass::COUNT],
}

/// The accesses of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessCounts {
    /// Warp-level instructions with at least one active lane.
    pub requests: u64,
    /// The requests, and the executions by warps without active lanes: NVIDIA's assembler converts a short
    /// branch around an access into a predicate. For constant memory, which has no such counter, the requests
    /// only.
    pub issued: u64,
    /// Active threads, summed over the requests.
    pub threads: u64,
    /// Bytes moved by those threads.
    pub bytes: u64,
    /// Distinct sectors per request, summed. Zero for shared and constant memory.
    pub sectors: u64,
    /// Distinct addresses per request to constant memory, summed: the constant cache serves one address at a
    /// time. Zero for other memories.
    pub addresses: u64,
    /// The sectors, or addresses, that hit the modelled cache in front of the memory. Zero for stores and
    /// atomics.
    pub hits: u64,
    /// For atomics on global memory: passes of a request to the L2 cache. Lanes that share an address are
    /// serialized. Zero for all others.
    #[serde(rename = "turns")]
    pub output_wavefronts: u64,
    /// Passes through the data stage: for shared memory those that bank conflicts and wide accesses cause,
    /// for other memories the number of 128-byte lines. Zero for constant memory.
    pub wavefronts: u64,
    /// Wavefronts of shared memory in excess of those that the same bytes would need without conflicts.
    pub conflicts: u64,
}

/// Serialization of the classes that have accesses, each with its index: few lines have more than one.
mod nonzero {
    use super::{AccessClass, AccessCounts};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    type Counts = [AccessCounts; AccessClass::COUNT];

    pub fn serialize<S: Serializer>(accesses: &Counts, serializer: S) -> Result<S::Ok, S::Error> {
        let classes = accesses.iter().enumerate();
        // A collected list, because some formats need its length first.
        let used: Vec<(usize, &AccessCounts)> = classes
            .filter(|(_, counts)| **counts != AccessCounts::default())
            .collect();
        serializer.collect_seq(used)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Counts, D::Error> {
        let mut accesses = Counts::default();
        for (class, counts) in Vec::<(usize, AccessCounts)>::deserialize(deserializer)? {
            let slot = accesses.get_mut(class);
            *slot.ok_or_else(|| D::Error::custom("no such class of accesses"))? = counts;
        }
        Ok(accesses)
    }
}

/// The traffic from the L1 caches to the L2 cache, which all SMs share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct L2Traffic {
    /// Sectors read: those that missed the L1 cache.
    pub read_sectors: u64,
    pub written_sectors: u64,
}

impl Tally {
    /// Creates a tally that has only accesses of some classes.
    pub fn of<const N: usize>(accesses: [(AccessClass, AccessCounts); N]) -> Tally {
        let mut tally = Tally::default();
        for (class, counts) in accesses {
            tally[class] = counts;
        }
        tally
    }

    /// Adds the counts of other instructions.
    pub fn add(&mut self, other: &Tally) {
        self.instructions += other.instructions;
        self.thread_instructions += other.thread_instructions;
        self.tensor_instructions += other.tensor_instructions;
        self.branches += other.branches;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        for (sum, part) in self.accesses.iter_mut().zip(&other.accesses) {
            sum.add(part);
        }
    }

    /// Returns the sum of the accesses of some classes.
    pub fn sum(&self, classes: AccessSet) -> AccessCounts {
        let mut sum = AccessCounts::default();
        for class in classes.iter() {
            sum.add(&self[class]);
        }
        sum
    }

    /// Returns the sectors that go to the L2 cache: reads that miss the L1 cache, and all writes.
    pub fn l2(&self) -> L2Traffic {
        let reads = AccessSet::DEVICE.intersection(AccessSet::with_direction(Direction::Reads));
        L2Traffic {
            read_sectors: self.sum(reads).misses(),
            written_sectors: self.sum(AccessSet::DEVICE.difference(reads)).misses(),
        }
    }
}

impl Index<AccessClass> for Tally {
    type Output = AccessCounts;

    fn index(&self, class: AccessClass) -> &AccessCounts {
        &self.accesses[class as usize]
    }
}

impl IndexMut<AccessClass> for Tally {
    fn index_mut(&mut self, class: AccessClass) -> &mut AccessCounts {
        &mut self.accesses[class as usize]
    }
}

impl AccessCounts {
    /// Adds other counts.
    pub fn add(&mut self, other: &AccessCounts) {
        self.requests += other.requests;
        self.issued += other.issued;
        self.threads += other.threads;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.addresses += other.addresses;
        self.hits += other.hits;
        self.output_wavefronts += other.output_wavefronts;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
    }

    /// Returns the sectors that missed the L1 cache.
    pub fn misses(&self) -> u64 {
        self.sectors.saturating_sub(self.hits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serialized_tally_has_only_the_used_classes() {
        let counts = AccessCounts {
            requests: 3,
            ..AccessCounts::default()
        };
        let tally = Tally::of([(AccessClass::GlobalStore, counts)]);
        let json = serde_json::to_string(&tally).unwrap();
        assert_eq!(json.matches("requests").count(), 1, "{json}");
        assert_eq!(serde_json::from_str::<Tally>(&json).unwrap(), tally);
        let index = format!("[{},", AccessClass::GlobalStore as usize);
        let unknown = json.replace(&index, &format!("[{},", AccessClass::COUNT));
        let error = serde_json::from_str::<Tally>(&unknown).unwrap_err();
        assert!(error.to_string().contains("no such class"), "{error}");
    }
}
