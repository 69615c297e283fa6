//! What was found so far, each mistake once: by its kind and its places in the code.

use super::evidence::Evidence;
use super::finding::{Finding, OtherAccess, Severity};
use super::finding_kind::FindingKind;
use crate::isa::{Dims, Listing};
use std::collections::BTreeMap;

/// Stands where a finding has no other instruction.
pub const NOWHERE: u32 = u32::MAX;

/// What makes two findings one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingKey {
    pub severity: Severity,
    pub kind: FindingKind,
    /// The address of the instruction.
    pub site: u32,
    /// The address of the other access's instruction, or [`NOWHERE`].
    pub other: u32,
}

/// One time that a mistake was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The block's number in the launch.
    pub block: u64,
    /// The thread's number in its block.
    pub thread: u32,
    pub other: Option<OtherThread>,
    pub what: Evidence,
}

/// The thread that did the other access of a race.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherThread {
    pub block: u64,
    pub thread: u32,
    pub write: bool,
}

/// The kernel that was launched: from it follows what numbers of blocks, threads and instructions
/// stand for.
#[derive(Clone, Copy)]
pub struct KernelContext<'a> {
    pub listing: &'a Listing,
    /// The kernel's name.
    pub kernel: &'a str,
    pub dims: Dims,
}

/// Findings of one launch, or of what one host thread ran of it.
#[derive(Debug, Default)]
pub struct Ledger {
    found: BTreeMap<FindingKey, Found>,
    /// Findings that are none unless one of two instructions stores different values.
    doubtful: BTreeMap<FindingKey, [u32; 2]>,
    /// What instructions store by which flags are set: one value, or several where it is none.
    stored: BTreeMap<u32, Option<[u8; 16]>>,
}

/// How often a mistake was seen, and the first time.
#[derive(Debug)]
struct Found {
    /// Blocks, and how often it was seen in each.
    counts: Vec<(u64, u64)>,
    /// The first time in the lowest of these blocks.
    first: Occurrence,
}

impl Ledger {
    /// Notes that a mistake was seen `count` times in a block; `seen` describes the first time.
    #[cold]
    pub fn note(
        &mut self,
        key: FindingKey,
        block: u64,
        count: u64,
        seen: impl FnOnce() -> Occurrence,
    ) {
        let found = self.found.entry(key).or_insert_with(|| Found {
            counts: Vec::new(),
            first: seen(),
        });
        match found.counts.last_mut() {
            Some((last, known)) if *last == block => *known += count,
            _ => found.counts.push((block, count)),
        }
    }

    /// What was noted under a key is a mistake only if one of these instructions stores different
    /// values in the course of the launch.
    #[cold]
    pub fn doubt(&mut self, key: FindingKey, sites: [u32; 2]) {
        self.doubtful.insert(key, sites);
    }

    /// An instruction stores a value.
    pub fn stores(&mut self, site: u32, value: [u8; 16]) {
        let known = self.stored.entry(site).or_insert(Some(value));
        if *known != Some(value) {
            *known = None;
        }
    }

    /// Whether a finding is a mistake after all.
    fn stands(&self, key: &FindingKey) -> bool {
        let varies = |site: &u32| self.stored.get(site) == Some(&None);
        self.doubtful
            .get(key)
            .is_none_or(|sites| sites.iter().any(varies))
    }

    /// Adds what another host thread found.
    pub fn add(&mut self, other: Ledger) {
        self.doubtful.extend(other.doubtful);
        for (site, value) in other.stored {
            match value {
                Some(value) => self.stores(site, value),
                None => drop(self.stored.insert(site, None)),
            }
        }
        for (key, found) in other.found {
            match self.found.get_mut(&key) {
                Some(known) => {
                    known.counts.extend(found.counts);
                    if found.first.block < known.first.block {
                        known.first = found.first;
                    }
                }
                None => {
                    self.found.insert(key, found);
                }
            }
        }
    }

    /// Forgets what was found in blocks after `last`: whether they ran is a matter of chance.
    pub fn keep_until(&mut self, last: u64) {
        self.found.retain(|_, found| {
            found.counts.retain(|&(block, _)| block <= last);
            !found.counts.is_empty()
        });
    }

    /// As findings, errors first; `describe` says what was touched.
    pub fn findings(
        mut self,
        place: KernelContext,
        describe: impl Fn(&Evidence) -> String,
    ) -> Vec<Finding> {
        let KernelContext {
            listing,
            kernel,
            dims,
        } = place;
        let mut findings: Vec<Finding> = Vec::new();
        let all = std::mem::take(&mut self.found);
        for (key, found) in all {
            if !self.stands(&key) {
                continue;
            }
            let seen = found.first;
            let finding = Finding {
                check: key.kind.check(),
                kind: key.kind,
                severity: key.severity,
                kernel: kernel.to_owned(),
                block: dims.block_index(seen.block),
                thread: dims.thread_index(seen.thread),
                source: listing.source_of(key.site),
                other: seen.other.map(|other| OtherAccess {
                    block: dims.block_index(other.block),
                    thread: dims.thread_index(other.thread),
                    source: listing.source_of(key.other),
                    write: other.write,
                }),
                what: match seen.what {
                    Evidence::Came {
                        elsewhere: Some(place),
                        ..
                    } => format!(
                        "{}, one of them at {}",
                        describe(&seen.what),
                        listing.source_of(place)
                    ),
                    Evidence::Ended { after, .. } => format!(
                        "{}; the first left at {}",
                        describe(&seen.what),
                        listing.source_of(after)
                    ),
                    ref what => describe(what),
                },
                usually: key.kind.usually().to_owned(),
                count: found.counts.iter().map(|(_, count)| count).sum(),
            };
            // Copies that the compiler made of one line of the source are one mistake.
            match findings.iter_mut().find(|known| known.is_alike(&finding)) {
                Some(known) => known.count += finding.count,
                None => findings.push(finding),
            }
        }
        findings
    }
}
