//! Accesses of shared memory: whether what they read is written, and what they are in conflict with.

use super::accessor::Who;
use super::checker::{Checker, Doing, Lanes, Values, unwritten_lanes};
use super::deed::{Deed, Unordered};
use super::evidence::Evidence;
use super::finding::Severity;
use super::finding_kind::FindingKind;
use super::ledger::{FindingKey, Occurrence, OtherThread};
use super::order::Order;
use super::runs::{LaneRun, LaneRuns};
use super::shadow::Shadow;
use super::shared::{Conflict, PENDING, SharedShadow};
use crate::isa::AccessKind;
use crate::isa::checked::{Array, Checked, CheckedPlaces};
use crate::lanes::{FULL, active};

/// How many reads of one block are held back at most. Those beyond are noted at once.
const MOST_HELD: usize = 1 << 16;

/// An access that nothing orders with an earlier one, and the bytes that are meant.
pub struct Suspect {
    pub conflict: Conflict,
    pub what: Evidence,
}

impl Checker {
    /// Lanes access shared memory.
    #[inline(always)]
    pub fn shared(
        &mut self,
        shadow: &mut Shadow,
        places: &CheckedPlaces,
        doing: Doing,
        lanes: Lanes,
        values: Values<impl Fn(usize) -> [u8; 16], impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        let Lanes { at, mask, bytes } = lanes;
        let checks = self.launched.checks;
        let Shadow {
            order,
            shared,
            held,
            unwritten,
            ..
        } = shadow;
        if doing.access.ordered.is_some() && checks.race {
            learn(order, doing);
            self.note_stored(doing, lanes, &values.stored);
        }
        let array = places.array(doing.site);
        if checks.memory && active(mask).any(|lane| !array.holds(at.of(lane), bytes)) {
            self.outside_array(shared, doing, lanes, array);
        }
        let now = doing.now();
        if doing.writes {
            shared.settle(order);
        } else if checks.race && mask == FULL && shared.note_plain_read(order, now, at, bytes) {
            return;
        }
        for run in LaneRuns::new(at, mask, bytes) {
            let span = run.span(bytes);
            if !shared.holds(run.start, span) || run.start & (bytes - 1) != 0 {
                // It is about to fail.
                return;
            }
            if checks.init {
                if doing.reads && !shared.written.has(run.start, span) {
                    let has = |at| shared.written.has(at, bytes);
                    let new = unwritten_lanes(doing, &run, bytes, has);
                    // What somebody writes yet before the next barrier is told as a race.
                    match checks.race && held.len() < MOST_HELD {
                        true => held.extend(new),
                        false => unwritten.extend(new),
                    }
                }
                if doing.leaves_written() {
                    shared.written.set(run.start, span);
                }
            }
            if !checks.race {
                continue;
            }
            if doing.access.kind == AccessKind::Store && !run.apart && run.lanes > 1 {
                let what = Evidence::Shared {
                    at: run.start,
                    bytes,
                };
                self.one_store(doing, &run, what, &values.stored);
            }
            if shared.is_suspect(order, now, &run, bytes) {
                for conflict in shared.look_closely(order, now, &run, bytes) {
                    let what = Evidence::Shared {
                        at: at.of(conflict.lane),
                        bytes,
                    };
                    let suspect = Suspect { conflict, what };
                    self.suspect(order, places, (doing, lanes), suspect, &values);
                }
            }
            shared.note(order, now, &run, bytes);
        }
    }

    /// Lanes access shared memory outside of the array whose address they started from. What is outside of
    /// all shared memory is about to fail, and is told then.
    #[cold]
    fn outside_array(&mut self, shared: &SharedShadow, doing: Doing, lanes: Lanes, array: Array) {
        let Lanes { at, mask, bytes } = lanes;
        let outside =
            |&lane: &usize| !array.holds(at.of(lane), bytes) && shared.holds(at.of(lane), bytes);
        for lane in active(mask).filter(outside) {
            let key = doing.key(FindingKind::OtherArray, Severity::Warning);
            let at = at.of(lane);
            self.ledger.note(key, doing.block, 1, || Occurrence {
                block: doing.block,
                thread: doing.thread(lane),
                other: None,
                what: Evidence::OutsideArray { at, bytes, array },
            });
        }
    }

    /// Notes a conflict, unless both threads write the same value.
    #[cold]
    pub fn suspect(
        &mut self,
        order: &Order,
        places: &CheckedPlaces,
        (doing, lanes): (Doing, Lanes),
        Suspect { conflict, what }: Suspect,
        values: &Values<impl Fn(usize) -> [u8; 16], impl Fn(u64, usize) -> [u8; 16]>,
    ) {
        let Lanes { at, mask, bytes } = lanes;
        let other = conflict.other;
        let address = at.of(conflict.lane);
        let together = other.warp() == doing.warp
            && other.site() == doing.site
            && mask >> other.lane() & 1 == 1
            && at.of(other.lane()) == address;
        let store = doing.access.kind == AccessKind::Store;
        if conflict.other_wrote && store && !conflict.pending {
            let width = bytes as usize;
            let new = (values.stored)(conflict.lane);
            let same = match together {
                true => (values.stored)(other.lane())[..width] == new[..width],
                false => (values.before)(address, width)[..width] == new[..width],
            };
            if same {
                return;
            }
            if together {
                return self.note_one_store(doing, (conflict.lane, other.lane()), what);
            }
        }
        if !(together && conflict.other_wrote) {
            self.conflict(order, places, doing, Suspect { conflict, what });
        }
    }

    /// Notes what an ordered store stores.
    pub fn note_stored(&mut self, doing: Doing, lanes: Lanes, stored: &impl Fn(usize) -> [u8; 16]) {
        if doing.deed == Deed::OrderedStore {
            for lane in active(lanes.mask) {
                self.ledger.stores(doing.site, stored(lane));
            }
        }
    }

    /// Several lanes of one store write to one place: notes it if two of them write different values.
    #[inline(always)]
    pub fn one_store(
        &mut self,
        doing: Doing,
        run: &LaneRun,
        what: Evidence,
        stored: &impl Fn(usize) -> [u8; 16],
    ) {
        let width = doing.access.bytes as usize;
        let first = stored(run.first);
        let mut lanes = run.first + 1..run.first + run.lanes;
        if let Some(other) = lanes.find(|&lane| stored(lane)[..width] != first[..width]) {
            self.note_one_store(doing, (other, run.first), what);
        }
    }

    /// Notes that two lanes of one store write different values to one place.
    fn note_one_store(&mut self, doing: Doing, (lane, other): (usize, usize), what: Evidence) {
        let key = FindingKey {
            other: doing.site,
            ..doing.key(FindingKind::OneStore, Severity::Error)
        };
        self.ledger.note(key, doing.block, 1, || Occurrence {
            block: doing.block,
            thread: doing.thread(lane),
            other: Some(OtherThread {
                block: doing.block,
                thread: doing.thread(other),
                write: true,
            }),
            what,
        });
    }

    /// Notes a conflict, unless both accesses are made for it.
    #[cold]
    fn conflict(
        &mut self,
        order: &Order,
        places: &CheckedPlaces,
        doing: Doing,
        Suspect { conflict, what }: Suspect,
    ) {
        let Conflict { other, .. } = conflict;
        let within = other.warp() == doing.warp;
        let kind = match (conflict.pending, doing.writes, conflict.other_wrote) {
            (true, ..) => FindingKind::CopyNotAwaited,
            (_, true, true) => FindingKind::WriteAfterWrite,
            (_, true, false) => FindingKind::WriteAfterRead,
            (_, false, _) => FindingKind::ReadAfterWrite,
        };
        let severity = match within && !conflict.pending {
            true => Severity::Warning,
            false => Severity::Error,
        };
        let key = FindingKey {
            other: other.site(),
            ..doing.key(kind, severity)
        };
        let unordered = match places.at(other.site()) {
            Checked::Access(access) if within => {
                let both = [access, doing.access];
                match both.iter().all(|access| access.kind.is_update()) {
                    true => Unordered::Fine,
                    false => Unordered::Race,
                }
            }
            Checked::Access(access) => doing.deed.against(Deed::of(access)),
            _ => Unordered::Race,
        };
        match unordered {
            Unordered::Fine => return,
            // Who waits until another has stored, and stores then, has the other's store behind it.
            Unordered::UnlessConstant
                if doing.writes && order.may_have_waited(doing.warp, conflict.stamp) =>
            {
                return;
            }
            Unordered::UnlessConstant => self.ledger.doubt(key, [doing.site, other.site()]),
            Unordered::Race => {}
        }
        self.ledger.note(key, doing.block, 1, || Occurrence {
            block: doing.block,
            thread: doing.thread(conflict.lane),
            other: Some(OtherThread {
                block: doing.block,
                thread: other.thread(),
                write: conflict.other_wrote,
            }),
            what,
        });
    }

    /// A lane begins a copy to shared memory: until it has waited nobody may use what is there.
    pub fn copy_begins(
        &mut self,
        shadow: &mut Shadow,
        places: &CheckedPlaces,
        doing: Doing,
        lane: usize,
        at: u64,
        bytes: u64,
    ) {
        let Shadow { order, shared, .. } = shadow;
        if !shared.holds(at, bytes) || at & (bytes - 1) != 0 {
            return;
        }
        if self.launched.checks.init {
            shared.written.set(at, bytes);
        }
        if self.launched.checks.race {
            let run = LaneRun {
                start: at,
                first: lane,
                lanes: 1,
                apart: true,
            };
            let doing = Doing {
                writes: true,
                deed: Deed::Store,
                ..doing
            };
            let now = doing.now();
            shared.settle(order);
            if shared.is_suspect(order, now, &run, bytes) {
                for conflict in shared.look_closely(order, now, &run, bytes) {
                    let what = Evidence::Shared { at, bytes };
                    self.conflict(order, places, doing, Suspect { conflict, what });
                }
            }
            shared.note(order, now, &run, bytes);
            shared.copied(PENDING, Who::new(doing.warp, lane, doing.site), at, bytes);
        }
    }
}

/// A warp may learn from what it is about to read that another one has gone past a fence, or that it
/// has stored what it waits for.
#[inline(always)]
pub fn learn(order: &mut Order, doing: Doing) {
    // What it makes known is known to whoever reads there afterwards, as behind a fence.
    if doing.deed.publishes() && doing.access.ordered.is_some_and(|ordered| ordered.releases) {
        order.fence(doing.warp);
    }
    if doing.deed.acquires() {
        order.acquire(doing.warp);
        if doing.deed.polls() {
            order.poll(doing.warp);
        }
    }
}
