//! Barriers and warp-wide instructions: who comes, and who does not.

use super::checker::{Checker, note_unwritten};
use super::evidence::Evidence;
use super::finding::Severity;
use super::finding_kind::FindingKind;
use super::ledger::{FindingKey, NOWHERE, Occurrence, OtherThread};
use super::shadow::{Come, PartialWarp, Shadow};

impl Checker {
    /// A block ends, or fails: notes what was held back until then. `stuck` tells whether its
    /// threads wait for each other at barriers, and `elsewhere` at which instruction some lanes of
    /// a warp are, if they have not ended.
    pub fn close(
        &mut self,
        shadow: &mut Shadow,
        block: u64,
        stuck: bool,
        elsewhere: impl Fn(usize, u32) -> Option<u32>,
    ) {
        shadow.release_held();
        for held in shadow.unwritten.drain(..) {
            note_unwritten(&mut self.ledger, FindingKind::UnwrittenShared, block, held);
        }
        for missed in shadow.ends.missed.drain(..) {
            if !self.launched.checks.sync {
                continue;
            }
            let key = FindingKey {
                severity: Severity::Warning,
                kind: FindingKind::EndedBeforeBarrier,
                site: missed.site,
                other: NOWHERE,
            };
            self.ledger
                .note(key, block, missed.ended.into(), || Occurrence {
                    block,
                    thread: missed.came,
                    other: None,
                    what: Evidence::Ended {
                        threads: missed.ended,
                        after: missed.first.site,
                    },
                });
        }
        let parts = std::mem::take(&mut shadow.parts);
        // Lanes that have ended meanwhile are waited for by nobody.
        let misses = |part: &PartialWarp| elsewhere(part.warp, part.alive & !part.mask).is_some();
        let waiting = parts.into_iter().filter(|part| stuck && misses(part));
        for part in shadow.divergent.drain(..).chain(waiting) {
            let key = FindingKey {
                severity: Severity::Error,
                kind: FindingKind::DivergentBarrier,
                site: part.site,
                other: NOWHERE,
            };
            let count = part.mask.count_ones().into();
            self.ledger.note(key, block, count, || Occurrence {
                block,
                thread: part.warp as u32 * 32 + part.mask.trailing_zeros(),
                other: None,
                what: Evidence::Came {
                    came: part.mask,
                    alive: part.alive,
                    elsewhere: elsewhere(part.warp, part.alive & !part.mask),
                },
            });
        }
    }

    /// A warp comes to a barrier at which others wait that have come from another place.
    pub fn mixed(&mut self, doing: (u64, usize, u32), first: Come) {
        let (block, warp, site) = doing;
        let key = FindingKey {
            severity: Severity::Error,
            kind: FindingKind::MixedBarriers,
            site,
            other: first.site,
        };
        self.ledger.note(key, block, 1, || Occurrence {
            block,
            thread: warp as u32 * 32,
            other: Some(OtherThread {
                block,
                thread: first.thread,
                write: false,
            }),
            what: Evidence::Nothing,
        });
    }

    /// A warp-wide instruction's mask is wrong: it lacks lanes that are here, or names some that do
    /// not come.
    pub fn mask(
        &mut self,
        doing: (u64, usize, u32),
        (kind, severity): (FindingKind, Severity),
        lane: u32,
        mask: u32,
        wrong: u32,
    ) {
        let (block, warp, site) = doing;
        let key = FindingKey {
            severity,
            kind,
            site,
            other: NOWHERE,
        };
        let count = wrong.count_ones().into();
        self.ledger.note(key, block, count, || Occurrence {
            block,
            thread: warp as u32 * 32 + lane,
            other: None,
            what: Evidence::Mask { mask, wrong },
        });
    }
}
