//! What checks the blocks of one multiprocessor.

use super::blocks::Lately;
use super::deed::Deed;
use super::evidence::Evidence;
use super::finding::Severity;
use super::finding_kind::FindingKind;
use super::in_order::InOrder;
use super::launch_checks::LaunchChecks;
use super::ledger::{FindingKey, Ledger, NOWHERE, Occurrence};
use super::runs::{Addresses, LaneRun};
use super::shadow::Held;
use super::shared::Now;
use crate::isa::Access;
use crate::lanes::LANES;
use std::sync::Arc;

/// How many allocations are remembered.
pub const RECENT: usize = 16;

/// Checks the blocks that a multiprocessor runs.
pub struct Checker {
    pub launched: Arc<LaunchChecks>,
    pub ledger: Ledger,
    /// Numbers of allocations used lately; an address is looked for in one element, which some of
    /// its bits choose.
    pub recent: [usize; RECENT],
    /// What blocks have used of device memory.
    pub lately: Lately,
    /// What blocks have used of device memory that run one after the other.
    pub in_order: Option<Box<InOrder>>,
}

/// Who does what, as a check sees it.
#[derive(Clone, Copy)]
pub struct Doing {
    /// The block's number in the launch.
    pub block: u64,
    /// The warp's number in its block.
    pub warp: usize,
    /// The instruction's address.
    pub site: u32,
    pub access: Access,
    pub deed: Deed,
    /// The access reads. Most atomics read and write.
    pub reads: bool,
    /// The access writes.
    pub writes: bool,
}

/// The lanes of an access.
#[derive(Clone, Copy)]
pub struct Lanes<'a> {
    pub at: Addresses<'a>,
    pub mask: u32,
    /// How many bytes each lane accesses.
    pub bytes: u64,
}

/// The values that an access is about.
#[derive(Clone, Copy)]
pub struct Values<S, B> {
    /// What a lane stores. Only asked of stores.
    pub stored: S,
    /// So many bytes, up to 16, that lie at an address before the access.
    pub before: B,
}

impl Doing {
    pub fn thread(&self, lane: usize) -> u32 {
        (self.warp * LANES + lane) as u32
    }

    pub fn now(&self) -> Now {
        Now {
            warp: self.warp,
            site: self.site,
            write: self.writes,
        }
    }

    /// Whether what it accesses is written afterwards, whatever it was before: what an atomic adds to
    /// is as undefined as it was.
    pub fn leaves_written(&self) -> bool {
        self.writes && !self.reads
    }

    pub fn key(&self, kind: FindingKind, severity: Severity) -> FindingKey {
        FindingKey {
            severity,
            kind,
            site: self.site,
            other: NOWHERE,
        }
    }
}

impl Checker {
    /// With nothing found yet.
    pub fn new(launched: Arc<LaunchChecks>) -> Checker {
        let ordered = launched.in_order();
        Checker {
            in_order: ordered.then(|| Box::new(InOrder::new(launched.blocks))),
            launched,
            ledger: Ledger::default(),
            recent: [usize::MAX; RECENT],
            lately: Lately::default(),
        }
    }
}

/// The reads of those lanes of a run that read what nobody has written: `written` tells for an
/// address whether all the bytes there are.
#[cold]
pub fn unwritten_lanes(
    doing: Doing,
    run: &LaneRun,
    bytes: u64,
    written: impl Fn(u64) -> bool,
) -> Vec<Held> {
    let lanes = (0..run.lanes).map(|nth| {
        let step = if run.apart { nth as u64 * bytes } else { 0 };
        Held {
            site: doing.site,
            thread: doing.thread(run.first + nth),
            at: run.start + step,
            bytes,
        }
    });
    lanes.filter(|held| !written(held.at)).collect()
}

/// Notes that a thread has read what nobody has written.
pub fn note_unwritten(ledger: &mut Ledger, kind: FindingKind, block: u64, held: Held) {
    let key = FindingKey {
        severity: Severity::Error,
        kind,
        site: held.site,
        other: NOWHERE,
    };
    let Held {
        thread, at, bytes, ..
    } = held;
    ledger.note(key, block, 1, || Occurrence {
        block,
        thread,
        other: None,
        what: match kind {
            FindingKind::UnwrittenShared => Evidence::Shared { at, bytes },
            FindingKind::UnwrittenLocal => Evidence::Local { at, bytes },
            _ => Evidence::Device { at, bytes },
        },
    });
}
