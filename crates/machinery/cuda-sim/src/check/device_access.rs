//! Accesses of device memory: whether what they read is written, which threads of the block use it,
//! and which blocks.

use super::blocks::Use;
use super::checker::{Checker, Doing, Lanes, RECENT, Values, note_unwritten, unwritten_lanes};
use super::evidence::Evidence;
use super::finding::Severity;
use super::finding_kind::FindingKind;
use super::in_order::{Contested, Doer, WORD};
use super::ledger::{FindingKey, Occurrence, OtherThread};
use super::lines::LINE;
use super::runs::{LaneRun, LaneRuns};
use super::shadow::Shadow;
use super::shared_access::{Suspect, learn};
use crate::isa::AccessKind;
use crate::isa::checked::CheckedPlaces;
use crate::lanes::active;

/// What is known of the place that lanes access.
enum Known {
    /// It is inside of an allocation, and written where it is read.
    All,
    /// Some of what is read there is not written.
    NotWritten,
    /// It is not inside of an allocation, or misaligned.
    Outside,
}

impl Checker {
    /// The lanes in `mask` access device memory.
    #[inline(always)]
    pub fn device(
        &mut self,
        shadow: &mut Shadow,
        places: &CheckedPlaces,
        doing: Doing,
        lanes: Lanes,
        values: Values<impl Fn(usize) -> [u8; 16], impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        if !self.launched.watches_device {
            return;
        }
        let Lanes { at, mask, bytes } = lanes;
        let race = self.launched.checks.race;
        if doing.access.ordered.is_some() && race {
            learn(&mut shadow.order, doing);
            self.before_ordered(doing, lanes, &values.stored);
        }
        let number = places.device_number(doing.site);
        // A place that was in order just now.
        let mut before = None;
        for run in LaneRuns::new(at, mask, bytes) {
            let place = (run.start, run.span(bytes));
            if before != Some(place) {
                match self.in_allocation(doing, number, &run, bytes) {
                    Known::All => before = Some(place),
                    Known::NotWritten => before = None,
                    // It is about to fail.
                    Known::Outside => return,
                }
                if race && self.in_order.is_some() {
                    self.in_order(doing, run.start, run.span(bytes));
                }
            }
            if !race {
                continue;
            }
            let several = run.lanes > 1 && !run.apart;
            if several && doing.access.kind == AccessKind::Store {
                let what = Evidence::Device {
                    at: run.start,
                    bytes,
                };
                self.one_store(doing, &run, what, &values.stored);
            }
            self.in_block(shadow, places, (doing, lanes), &run, &values);
        }
        if doing.deed.publishes()
            && let Some(in_order) = &mut self.in_order
        {
            for lane in active(mask) {
                in_order.publish(doing.block, at.of(lane) / WORD);
            }
        }
    }

    /// Looks at a run of lanes as far as the whole launch is concerned: whether what it reads is
    /// written, and which blocks use it. `number` is the instruction's among those that access device
    /// memory.
    #[inline(always)]
    fn in_allocation(&mut self, doing: Doing, number: u32, run: &LaneRun, bytes: u64) -> Known {
        let Checker {
            launched,
            ledger,
            recent,
            lately,
            ..
        } = self;
        let place = (run.start >> 20) as usize % RECENT;
        let span = run.span(bytes);
        let known = launched.device.at(recent[place]);
        let known = match known.filter(|known| known.offset(run.start, span).is_some()) {
            Some(known) => known,
            None => {
                let Some(number) = launched.device.find(run.start) else {
                    return Known::Outside;
                };
                recent[place] = number;
                match launched.device.at(number) {
                    Some(known) => known,
                    None => return Known::Outside,
                }
            }
        };
        let Some(offset) = known.offset(run.start, span) else {
            return Known::Outside;
        };
        if run.start & (bytes - 1) != 0 && bytes.is_power_of_two() {
            return Known::Outside;
        }
        let mut all = Known::All;
        if let (Some(written), true) = (&known.written, launched.checks.init) {
            if doing.reads && !written.has(offset, span) {
                all = Known::NotWritten;
                let has = |at| written.has(at - known.base, bytes);
                for held in unwritten_lanes(doing, run, bytes, has) {
                    let kind = FindingKind::UnwrittenDevice;
                    note_unwritten(ledger, kind, doing.block, held);
                }
            }
            if doing.leaves_written() {
                written.set(offset, span);
            }
        }
        if let Some(lines) = &known.lines
            && doing.access.ordered.is_none()
        {
            let by = Use {
                block: doing.block,
                site: number,
                write: doing.writes,
            };
            lines.touch(lately, offset, span, by);
        }
        all
    }

    /// A block goes past a fence.
    pub fn fence(&mut self, block: u64) {
        if let Some(in_order) = &mut self.in_order {
            in_order.fence(block);
        }
    }

    /// An access that is ordered: what it makes known or learns of others, and what it stores.
    #[cold]
    fn before_ordered(&mut self, doing: Doing, lanes: Lanes, stored: &impl Fn(usize) -> [u8; 16]) {
        self.note_stored(doing, lanes, stored);
        let releases = doing.access.ordered.is_some_and(|ordered| ordered.releases);
        if let Some(in_order) = &mut self.in_order {
            if releases {
                in_order.fence(doing.block);
            }
            if doing.deed.acquires() {
                for lane in active(lanes.mask) {
                    in_order.acquire(doing.block, lanes.at.of(lane) / WORD);
                }
            }
        }
    }

    /// Looks at a run of lanes, all inside of an allocation, beside what other threads of the block
    /// have done.
    #[inline(always)]
    fn in_block(
        &mut self,
        shadow: &mut Shadow,
        places: &CheckedPlaces,
        (doing, lanes): (Doing, Lanes),
        run: &LaneRun,
        values: &Values<impl Fn(usize) -> [u8; 16], impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        let Shadow { order, device, .. } = shadow;
        let (now, bytes) = (doing.now(), lanes.bytes);
        let mut lane = run.first;
        while lane < run.first + run.lanes {
            let part = device.part(order, now, (run, lane), bytes);
            lane += part.lanes;
            let shadow = &mut device.lines;
            if shadow.is_suspect(order, now, &part, bytes) {
                for conflict in shadow.look_closely(order, now, &part, bytes) {
                    let what = Evidence::Device {
                        at: lanes.at.of(conflict.lane),
                        bytes,
                    };
                    let suspect = Suspect { conflict, what };
                    self.suspect(order, places, (doing, lanes), suspect, values);
                }
            }
            shadow.note(order, now, &part, bytes);
        }
    }

    /// Looks at bytes that a block uses, all inside of an allocation, in a launch whose blocks run
    /// one after the other.
    #[cold]
    fn in_order(&mut self, doing: Doing, start: u64, bytes: u64) {
        let by = Doer {
            block: doing.block,
            site: doing.site,
            deed: doing.deed,
        };
        let mut at = start;
        while at < start + bytes {
            let next = (at - at % LINE + LINE).min(start + bytes);
            let in_order = self.in_order.as_mut();
            let found = in_order.and_then(|in_order| in_order.use_line(by, at, next - at));
            if let Some(found) = found {
                self.note_contested(by, at - at % LINE, found);
            }
            at = next;
        }
    }

    /// Notes two uses of a line that nothing orders.
    fn note_contested(&mut self, by: Doer, line: u64, found: Contested) {
        let (writer, user) = match found.earlier.deed.writes() {
            true => (found.earlier, by),
            false => (by, found.earlier),
        };
        let key = FindingKey {
            severity: Severity::Warning,
            kind: FindingKind::BetweenBlocks,
            site: writer.site,
            other: user.site,
        };
        if found.unless_constant {
            self.ledger.doubt(key, [writer.site, user.site]);
        }
        let (first, count) = (found.words.trailing_zeros(), found.words.count_ones());
        self.ledger
            .note(key, writer.block, count.into(), || Occurrence {
                block: writer.block,
                thread: 0,
                other: Some(OtherThread {
                    block: user.block,
                    thread: 0,
                    write: user.deed.writes(),
                }),
                what: Evidence::Device {
                    at: line + u64::from(first) * WORD,
                    bytes: WORD,
                },
            });
    }
}
