//! What was found so far, each mistake once: by its kind and its places in the code.

use super::finding::{Finding, Kind, Other, Severity};
use crate::exec::grid::{Grid, unfold};
use std::collections::BTreeMap;

/// No place in the code.
pub const NOWHERE: u32 = u32::MAX;

/// What makes two findings one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub severity: Severity,
    pub kind: Kind,
    /// The address of the instruction, and of the other access's.
    pub site: u32,
    pub other: u32,
}

/// One time that it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The block's and the thread's number.
    pub block: u64,
    pub thread: u32,
    pub other: Option<OtherSeen>,
    pub what: What,
}

/// The other access of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherSeen {
    pub block: u64,
    pub thread: u32,
    pub write: bool,
}

/// What was touched, or who was there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Bytes of shared memory.
    Shared { at: u64, bytes: u64 },
    /// Bytes of device memory.
    Device { at: u64, bytes: u64 },
    /// Lanes of a warp that came to a barrier, of those that live.
    Came {
        came: u32,
        alive: u32,
        /// Where one of the others was.
        elsewhere: Option<u32>,
    },
    /// A mask, and the lanes of it, or of the warp, that are wrong.
    Mask { mask: u32, wrong: u32 },
    /// Nothing more.
    Nothing,
}

/// Findings of one launch, or of what one host thread ran of it.
#[derive(Debug, Default)]
pub struct Ledger {
    found: BTreeMap<Key, (u64, Seen)>,
}

impl Ledger {
    /// Notes that it was seen `count` times; `seen` describes the first.
    #[cold]
    pub fn note(&mut self, key: Key, count: u64, seen: impl FnOnce() -> Seen) {
        let entry = self.found.entry(key);
        let known = entry.or_insert_with(|| (0, seen()));
        known.0 += count;
    }

    /// Adds what another host thread found: of each the lowest block is kept.
    pub fn add(&mut self, other: Ledger) {
        for (key, (count, seen)) in other.found {
            match self.found.get_mut(&key) {
                Some(known) => {
                    known.0 += count;
                    if seen.block < known.1.block {
                        known.1 = seen;
                    }
                }
                None => {
                    self.found.insert(key, (count, seen));
                }
            }
        }
    }

    /// As findings, errors first; `describe` says what was touched.
    pub fn findings(self, grid: &Grid, describe: impl Fn(&What) -> String) -> Vec<Finding> {
        let program = &grid.program;
        let found = self.found.into_iter();
        found
            .map(|(key, (count, seen))| Finding {
                check: key.kind.check(),
                kind: key.kind,
                severity: key.severity,
                kernel: program.kernels[grid.kernel].name.clone(),
                block: unfold(seen.block, grid.grid),
                thread: grid.thread(seen.thread),
                source: program.source_of(key.site),
                other: seen.other.map(|other| Other {
                    block: unfold(other.block, grid.grid),
                    thread: grid.thread(other.thread),
                    source: program.source_of(key.other),
                    write: other.write,
                }),
                what: match seen.what {
                    What::Came {
                        elsewhere: Some(place),
                        ..
                    } => format!(
                        "{}, one of them at {}",
                        describe(&seen.what),
                        program.source_of(place)
                    ),
                    ref what => describe(what),
                },
                usually: key.kind.usually().to_owned(),
                count,
            })
            .collect()
    }
}
