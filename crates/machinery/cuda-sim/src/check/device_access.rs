//! Accesses of device memory: whether what they read is written, and which blocks use it.

use super::blocks::Use;
use super::checker::{Checker, Doing, RECENT, note_unwritten, unwritten_lanes};
use super::device::Tracked;
use super::evidence::Evidence;
use super::fenced::{Fences, Words};
use super::finding::Severity;
use super::finding_kind::FindingKind;
use super::ledger::{FindingKey, Ledger, Occurrence, OtherThread};
use super::runs::{Addresses, LaneRuns};
use crate::isa::AccessKind;
use crate::isa::checked::CheckedPlaces;

impl Checker {
    /// The lanes in `mask` access device memory.
    #[inline(always)]
    pub fn device(
        &mut self,
        places: &CheckedPlaces,
        doing: Doing,
        at: Addresses,
        mask: u32,
        bytes: u64,
    ) {
        if !self.launched.watches_device {
            return;
        }
        let Checker {
            launched,
            ledger,
            recent,
            lately,
        } = self;
        let by = Use {
            block: doing.block,
            site: places.device_number(doing.site),
            write: doing.writes,
        };
        // A place that was in order just now.
        let mut before = None;
        for run in LaneRuns::new(at, mask, bytes) {
            let place = (run.start >> 20) as usize % RECENT;
            let span = run.span(bytes);
            if before == Some((run.start, span)) {
                continue;
            }
            before = Some((run.start, span));
            let known = launched.device.at(recent[place]);
            let known = match known.filter(|known| known.offset(run.start, span).is_some()) {
                Some(known) => known,
                None => {
                    // What lies outside is about to fail.
                    let Some(number) = launched.device.find(run.start) else {
                        return;
                    };
                    recent[place] = number;
                    match launched.device.at(number) {
                        Some(known) => known,
                        None => return,
                    }
                }
            };
            let Some(offset) = known.offset(run.start, span) else {
                return;
            };
            if let Some(written) = &known.written {
                if doing.reads && !written.has(offset, span) {
                    before = None;
                    let has = |at| written.has(at - known.base, bytes);
                    for held in unwritten_lanes(doing, &run, bytes, has) {
                        note_unwritten(ledger, FindingKind::UnwrittenDevice, doing.block, held);
                    }
                }
                if doing.leaves_written() {
                    written.set(offset, span);
                }
            }
            if let Some(lines) = &known.lines
                && doing.access.kind != AccessKind::Atomic
                && !doing.access.ordered
            {
                lines.touch(lately, offset, span, by);
            }
            if let (Some(words), Some(fences)) = (&known.words, &launched.fences) {
                before = None;
                let place = FencedAccess {
                    known,
                    words,
                    fences,
                    offset,
                    span,
                };
                ordered_by_fences(ledger, places, doing, place);
            }
        }
    }

    /// A block goes past a fence.
    pub fn fence(&self, block: u64) {
        if let Some(fences) = &self.launched.fences {
            fences.fence(block);
        }
    }
}

/// An access of an allocation's bytes in a launch whose blocks may order themselves by fences.
struct FencedAccess<'a> {
    known: &'a Tracked,
    words: &'a Words,
    fences: &'a Fences,
    offset: u64,
    span: u64,
}

/// An access in a launch whose blocks may order themselves: notes what is not in order.
#[cold]
fn ordered_by_fences(
    ledger: &mut Ledger,
    places: &CheckedPlaces,
    doing: Doing,
    place: FencedAccess,
) {
    let FencedAccess {
        known,
        words,
        fences,
        offset,
        span,
    } = place;
    if doing.access.kind == AccessKind::Atomic || doing.access.ordered {
        if doing.reads {
            fences.look(doing.block);
        }
    } else if doing.writes {
        let site = places.device_number(doing.site);
        words.write(fences, offset, span, doing.block, site);
    } else {
        for (at, wrote) in words.read(fences, offset, span, doing.block) {
            let key = FindingKey {
                severity: Severity::Warning,
                kind: FindingKind::BetweenBlocks,
                site: places.device_site(wrote.site),
                other: doing.site,
            };
            let block = u64::from(wrote.block);
            ledger.note(key, block, 1, || Occurrence {
                block,
                thread: 0,
                other: Some(OtherThread {
                    block: doing.block,
                    thread: 0,
                    write: false,
                }),
                what: Evidence::Device {
                    at: known.base + at,
                    bytes: 4,
                },
            });
        }
    }
}
