//! The state of the checks of one simulated streaming multiprocessor (SM).

use super::blocks::RecentAccesses;
use super::evidence::Evidence;
use super::finding::Severity;
use super::finding_kind::FindingKind;
use super::finding_set::{FindingKey, FindingSet, NO_SITE, Occurrence};
use super::lane_runs::{Addresses, LaneRun};
use super::launch_checks::LaunchChecks;
use super::semantics::AccessSemantics;
use super::serial_blocks::SerialBlocks;
use super::shadow::DeferredRead;
use super::shared::ShadowAccess;
use crate::isa::Access;
use crate::lanes::LANES;
use std::sync::Arc;

/// The number of entries of [`Checker::recent_allocations`].
pub const RECENT: usize = 16;

/// The checker of the blocks that one SM runs.
pub struct Checker {
    pub launch: Arc<LaunchChecks>,
    pub findings: FindingSet,
    /// A direct-mapped cache of allocation indices, indexed by address bits 20 and up.
    pub recent_allocations: [usize; RECENT],
    /// A cache of accesses to device memory that are already recorded.
    pub recent_accesses: RecentAccesses,
    /// The race detector for launches whose blocks may synchronize and therefore run one after the other.
    pub serial: Option<Box<SerialBlocks>>,
}

/// An access by a warp, as the checks see it.
#[derive(Clone, Copy)]
pub struct WarpAccess {
    /// The block's index in the launch.
    pub block: u64,
    /// The warp's index in its block.
    pub warp: usize,
    /// The instruction's address.
    pub site: u32,
    pub access: Access,
    pub semantics: AccessSemantics,
    /// True if the access reads. Most atomics both read and write.
    pub reads: bool,
    /// True if the access writes.
    pub writes: bool,
}

/// The lanes of an access.
#[derive(Clone, Copy)]
pub struct Lanes<'a> {
    pub at: Addresses<'a>,
    pub mask: u32,
    /// Bytes accessed per lane.
    pub bytes: u64,
}

/// The values before and after an access.
#[derive(Clone, Copy)]
pub struct Values<S, B> {
    /// Returns the value that a lane stores. Called only for stores.
    pub stored: S,
    /// Returns the first bytes, at most 16, at an address before the access.
    pub before: B,
}

impl WarpAccess {
    pub fn thread(&self, lane: usize) -> u32 {
        (self.warp * LANES + lane) as u32
    }

    pub fn shadow_access(&self) -> ShadowAccess {
        ShadowAccess {
            warp: self.warp,
            site: self.site,
            write: self.writes,
        }
    }

    /// Returns true if the accessed bytes are initialized afterwards, whatever they were before. An atomic
    /// does not initialize: its result is undefined if its input was.
    pub fn initializes(&self) -> bool {
        self.writes && !self.reads
    }

    pub fn key(&self, kind: FindingKind, severity: Severity) -> FindingKey {
        FindingKey {
            severity,
            kind,
            site: self.site,
            other: NO_SITE,
        }
    }
}

impl Checker {
    /// Creates a checker without findings.
    pub fn new(launch: Arc<LaunchChecks>) -> Checker {
        let serial = launch.is_serial();
        Checker {
            serial: serial.then(|| Box::new(SerialBlocks::new(launch.blocks))),
            launch,
            findings: FindingSet::default(),
            recent_allocations: [usize::MAX; RECENT],
            recent_accesses: RecentAccesses::default(),
        }
    }
}

/// Returns the reads of those lanes of a run that read uninitialized bytes. `written` returns true for an
/// address if all bytes of an access there are initialized.
#[cold]
pub fn uninitialized_reads(
    current: WarpAccess,
    run: &LaneRun,
    bytes: u64,
    written: impl Fn(u64) -> bool,
) -> Vec<DeferredRead> {
    let lanes = (0..run.lanes).map(|nth| {
        let step = if run.contiguous {
            nth as u64 * bytes
        } else {
            0
        };
        DeferredRead {
            site: current.site,
            thread: current.thread(run.first + nth),
            at: run.start + step,
            bytes,
        }
    });
    lanes.filter(|deferred| !written(deferred.at)).collect()
}

/// Records that a thread has read uninitialized memory.
pub fn record_uninitialized(
    findings: &mut FindingSet,
    kind: FindingKind,
    block: u64,
    deferred: DeferredRead,
) {
    let key = FindingKey {
        severity: Severity::Error,
        kind,
        site: deferred.site,
        other: NO_SITE,
    };
    let DeferredRead {
        thread, at, bytes, ..
    } = deferred;
    findings.record(key, block, 1, || Occurrence {
        block,
        thread,
        other: None,
        evidence: match kind {
            FindingKind::UninitializedShared => Evidence::Shared { at, bytes },
            FindingKind::UninitializedLocal => Evidence::Local { at, bytes },
            _ => Evidence::Device { at, bytes },
        },
    });
}
