//! The checks of one simulated streaming multiprocessor (SM), and those of local memory, barriers and warp-wide
//! instructions. Accesses to shared and device memory are checked in `shared_access` and `device_access`.

use super::blocks::RecentAccesses;
use super::cause::Cause;
use super::details::{BlockBytes, Bytes};
use super::finding::{FindingKind, Severity};
use super::finding_set::{Evidence, FindingKey, FindingSet, NO_SITE, Occurrence, OtherThread};
use super::lane_runs::{Addresses, LaneRun};
use super::launch_checks::LaunchChecks;
use super::semantics::AccessSemantics;
use super::serial_blocks::SerialBlocks;
use super::shadow::{CopiedBytes, DeferredRead, FirstArrival, PartialWarp, Shadow};
use super::shared::ShadowAccess;
use crate::isa::Access;
use crate::isa::check_event::{CheckEvents, LoadedBytes};
use crate::lanes::{LANES, active};
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
    /// The values that the lanes store.
    pub stored: S,
    /// Returns the first bytes, at most 16, at an address before the access.
    pub before: B,
}

impl WarpAccess {
    pub fn thread(&self, lane: usize) -> u32 {
        (self.warp * LANES + lane) as u32
    }

    /// Returns the semantics of the access for other blocks: one of block scope is neither atomic nor ordered for them.
    pub fn semantics_between_blocks(&self) -> AccessSemantics {
        match self.access.ordered {
            Some(ordered) if ordered.is_block && self.writes => AccessSemantics::Store,
            Some(ordered) if ordered.is_block => AccessSemantics::Load(self.access.loaded),
            _ => self.semantics,
        }
    }

    pub fn shadow_access(&self) -> ShadowAccess {
        ShadowAccess {
            warp: self.warp,
            site: self.site,
            write: self.writes,
            ordered: self.semantics.is_ordered(),
            atomic: matches!(self.semantics, AccessSemantics::Atomic { .. }),
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
            recent_accesses: RecentAccesses::new(launch.tracks_blocks()),
            launch,
            findings: FindingSet::default(),
            recent_allocations: [usize::MAX; RECENT],
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
    let lanes = run.addresses(bytes).map(|(lane, at)| DeferredRead {
        site: current.site,
        thread: current.thread(lane),
        at,
        bytes,
    });
    lanes.filter(|deferred| !written(deferred.at)).collect()
}

/// Removes those uninitialized reads by a warp that only copy the padding of structures. `initialized` returns true for the
/// address of an initialized byte.
#[cold]
pub fn remove_padding(
    reads: &mut Vec<DeferredRead>,
    copied: &mut CopiedBytes,
    (warp, loaded): (usize, Option<LoadedBytes>),
    initialized: impl Fn(u64) -> bool,
) {
    let Some(loaded) = loaded else {
        return;
    };
    reads.retain(|read| {
        let thread = (warp, read.thread as usize % LANES);
        !copied.copy_padding(thread, read.bytes, loaded, |byte| {
            initialized(read.at.wrapping_add_signed(byte))
        })
    });
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
            FindingKind::UninitializedShared => Evidence::shared(at, bytes),
            FindingKind::UninitializedLocal => Evidence::Block(BlockBytes::Local(Bytes(bytes), at)),
            _ => Evidence::Device { at, bytes },
        },
    });
}

impl Checker {
    /// Checks an access of `lanes` to local variables.
    pub fn check_local(
        &mut self,
        shadow: &mut Shadow,
        events: &CheckEvents,
        current: WarpAccess,
        lanes: Lanes,
    ) {
        if !self.launch.checks.init {
            return;
        }
        let Lanes { at, mask, bytes } = lanes;
        // A compiler loads the padding of a structure that it keeps in registers from memory that nothing writes.
        let is_narrow = current.access.element.bytes < 4;
        let loaded = events.loaded(current.site).filter(|_| current.reads);
        let only_copies = is_narrow && loaded.is_some_and(|loaded| loaded.used == 0);
        if let (false, Some(loaded)) = (shadow.copied.is_empty(), loaded) {
            shadow.copied.overwrite(current.warp, mask, loaded);
        }
        for lane in active(mask) {
            let (warp, at) = (current.warp, at.of(lane));
            // A read is fine if any of its bytes are initialized: structures with padding are copied as a
            // whole.
            let is_missing = || !shadow.local.is_any_written(warp, lane, at, bytes);
            if current.reads && !only_copies && is_missing() {
                let mut reads = vec![DeferredRead {
                    site: current.site,
                    thread: current.thread(lane),
                    at,
                    bytes,
                }];
                let Shadow { copied, local, .. } = &mut *shadow;
                remove_padding(&mut reads, copied, (warp, loaded), |byte| {
                    local.is_any_written(warp, lane, byte, 1)
                });
                for deferred in reads {
                    record_uninitialized(
                        &mut self.findings,
                        FindingKind::UninitializedLocal,
                        current.block,
                        deferred,
                    );
                }
            }
            if current.writes {
                shadow.local.write(warp, lane, at, bytes);
            }
        }
    }
}

impl Checker {
    /// Records the findings that were deferred until the block ended or faulted. `stuck` is true if its
    /// threads are deadlocked at barriers. `elsewhere` returns the current instruction of some lanes of a
    /// warp, or `None` if they have exited.
    pub fn finish_block(
        &mut self,
        shadow: &mut Shadow,
        block: u64,
        stuck: bool,
        elsewhere: impl Fn(usize, u32) -> Option<u32>,
    ) {
        shadow.flush_deferred();
        for site in shadow.overtaking_reads.drain(..) {
            self.findings.record_overtaking_read(site);
        }
        for deferred in shadow.uninitialized.drain(..) {
            record_uninitialized(
                &mut self.findings,
                FindingKind::UninitializedShared,
                block,
                deferred,
            );
        }
        for missed in shadow.exited.missed.drain(..) {
            if !self.launch.checks.sync {
                continue;
            }
            let key = FindingKey {
                severity: Severity::Warning,
                kind: FindingKind::EndedBeforeBarrier,
                site: missed.site,
                other: NO_SITE,
            };
            self.findings
                .record(key, block, missed.ended.into(), || Occurrence {
                    block,
                    thread: missed.arrived,
                    other: None,
                    evidence: Evidence::ExitedThreads {
                        threads: missed.ended,
                        after: missed.first.site,
                    },
                });
        }
        let partial_warps = std::mem::take(&mut shadow.partial_warps);
        // Lanes that have exited meanwhile are not missing.
        let misses_lanes =
            |part: &PartialWarp| elsewhere(part.warp, part.alive & !part.mask).is_some();
        let waiting = partial_warps
            .into_iter()
            .filter(|part| stuck && misses_lanes(part));
        for part in shadow.divergent.drain(..).chain(waiting) {
            let key = FindingKey {
                severity: Severity::Error,
                kind: FindingKind::DivergentBarrier,
                site: part.site,
                other: NO_SITE,
            };
            let count = part.mask.count_ones().into();
            self.findings.record(key, block, count, || Occurrence {
                block,
                thread: part.warp as u32 * 32 + part.mask.trailing_zeros(),
                other: None,
                evidence: Evidence::PartialArrival {
                    arrived: part.mask,
                    live: part.alive,
                    elsewhere: elsewhere(part.warp, part.alive & !part.mask),
                },
            });
        }
    }

    /// Records that a warp arrives at a barrier at which others wait from a different instruction.
    pub fn report_mixed_barriers(&mut self, current: (u64, usize, u32), first: FirstArrival) {
        let (block, warp, site) = current;
        let key = FindingKey {
            severity: Severity::Error,
            kind: FindingKind::MixedBarriers,
            site,
            other: first.site,
        };
        self.findings.record(key, block, 1, || Occurrence {
            block,
            thread: warp as u32 * 32,
            other: Some(OtherThread {
                block,
                thread: first.thread,
                write: false,
            }),
            evidence: Evidence::None,
        });
    }

    /// Records that a warp-wide instruction has an invalid mask: it omits lanes that participate, or includes
    /// lanes that do not.
    pub fn mask(
        &mut self,
        current: (u64, usize, u32),
        (kind, severity): (FindingKind, Severity),
        lane: u32,
        mask: u32,
        wrong: u32,
    ) {
        let (block, warp, site) = current;
        let key = FindingKey {
            severity,
            kind,
            site,
            other: NO_SITE,
        };
        let count = wrong.count_ones().into();
        if kind == FindingKind::MaskLacksCaller && matches!(mask, 31 | 32) {
            self.findings.set_cause(key, Cause::NumberAsMask(mask));
        }
        self.findings.record(key, block, count, || Occurrence {
            block,
            thread: warp as u32 * 32 + lane,
            other: None,
            evidence: Evidence::Mask { mask, wrong },
        });
    }
}
