//! Findings at barriers and warp-wide instructions that not all threads reach.

use super::checker::{Checker, record_uninitialized};
use super::evidence::Evidence;
use super::finding::Severity;
use super::finding_kind::FindingKind;
use super::finding_set::{FindingKey, NO_SITE, Occurrence, OtherThread};
use super::shadow::{FirstArrival, PartialWarp, Shadow};

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
        self.findings.record(key, block, count, || Occurrence {
            block,
            thread: warp as u32 * 32 + lane,
            other: None,
            evidence: Evidence::Mask { mask, wrong },
        });
    }
}
