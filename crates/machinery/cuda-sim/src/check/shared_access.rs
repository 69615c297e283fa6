//! Accesses of shared memory: whether what they read is written, and what they are in conflict with.

use super::accessor::Who;
use super::checker::{Checker, Doing, Lanes, unwritten_lanes};
use super::evidence::Evidence;
use super::finding::Severity;
use super::finding_kind::FindingKind;
use super::ledger::{FindingKey, Occurrence, OtherThread};
use super::runs::{LaneRun, LaneRuns};
use super::shadow::Shadow;
use super::shared::{Conflict, PENDING};
use crate::isa::checked::{Checked, CheckedPlaces};
use crate::isa::{Access, AccessKind};
use crate::lanes::FULL;

/// How many reads of one block are held back at most. Those beyond are noted at once.
const MOST_HELD: usize = 1 << 16;

impl Checker {
    /// Lanes access shared memory. `stored` gives the bytes that a lane stores.
    #[inline(always)]
    pub fn shared(
        &mut self,
        shadow: &mut Shadow,
        places: &CheckedPlaces,
        doing: Doing,
        lanes: Lanes,
        stored: impl Fn(usize) -> [u8; 16],
    ) {
        let Lanes {
            at, mask, bytes, ..
        } = lanes;
        let checks = self.launched.checks;
        let Shadow {
            order,
            shared,
            held,
            unwritten,
            ..
        } = shadow;
        if doing.access.ordered && doing.reads {
            order.acquire(doing.warp);
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
                self.one_store(doing, &run, bytes, &stored);
            }
            if shared.is_suspect(order, now, &run, bytes) {
                for conflict in shared.look_closely(order, now, &run, bytes) {
                    self.suspect(places, doing, lanes, conflict, &stored);
                }
            }
            shared.note(order, now, &run, bytes);
        }
    }

    /// Notes a conflict, unless both threads write the same value.
    #[cold]
    fn suspect(
        &mut self,
        places: &CheckedPlaces,
        doing: Doing,
        lanes: Lanes,
        conflict: Conflict,
        stored: &impl Fn(usize) -> [u8; 16],
    ) {
        let Lanes {
            at,
            mask,
            bytes,
            memory,
        } = lanes;
        let other = conflict.other;
        let address = at.of(conflict.lane);
        let together = other.warp() == doing.warp
            && other.site() == doing.site
            && mask >> other.lane() & 1 == 1
            && at.of(other.lane()) == address;
        let store = doing.access.kind == AccessKind::Store;
        if conflict.other_wrote && store && !conflict.pending {
            let width = bytes as usize;
            let new = stored(conflict.lane);
            let same = match together {
                true => stored(other.lane())[..width] == new[..width],
                false => bytes_of(memory, address, width)[..width] == new[..width],
            };
            if same {
                return;
            }
            if together {
                let pair = (conflict.lane, other.lane());
                return self.note_one_store(doing, pair, address, bytes);
            }
        }
        if !(together && conflict.other_wrote) {
            self.conflict(places, doing, conflict, address, bytes);
        }
    }

    /// Several lanes of one store write to one place: notes it if two of them write different values.
    #[inline(always)]
    fn one_store(
        &mut self,
        doing: Doing,
        run: &LaneRun,
        bytes: u64,
        stored: &impl Fn(usize) -> [u8; 16],
    ) {
        let width = bytes as usize;
        let first = stored(run.first);
        let mut lanes = run.first + 1..run.first + run.lanes;
        if let Some(other) = lanes.find(|&lane| stored(lane)[..width] != first[..width]) {
            self.note_one_store(doing, (other, run.first), run.start, bytes);
        }
    }

    /// Notes that two lanes of one store write different values to one place.
    fn note_one_store(&mut self, doing: Doing, (lane, other): (usize, usize), at: u64, bytes: u64) {
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
            what: Evidence::Shared { at, bytes },
        });
    }

    /// Notes a conflict, unless both accesses are atomic, or both are ordered and of different warps.
    #[cold]
    fn conflict(
        &mut self,
        places: &CheckedPlaces,
        doing: Doing,
        conflict: Conflict,
        at: u64,
        bytes: u64,
    ) {
        let Conflict { other, .. } = conflict;
        let within = other.warp() == doing.warp;
        if let Checked::Access(access) = places.at(other.site()) {
            let atomic = |access: Access| access.kind == AccessKind::Atomic;
            let both_atomic = atomic(access) && atomic(doing.access);
            let both_ordered = access.ordered && doing.access.ordered && !within;
            if both_atomic || both_ordered {
                return;
            }
        }
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
        self.ledger.note(key, doing.block, 1, || Occurrence {
            block: doing.block,
            thread: doing.thread(conflict.lane),
            other: Some(OtherThread {
                block: doing.block,
                thread: other.thread(),
                write: conflict.other_wrote,
            }),
            what: Evidence::Shared { at, bytes },
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
                ..doing
            };
            let now = doing.now();
            shared.settle(order);
            if shared.is_suspect(order, now, &run, bytes) {
                for conflict in shared.look_closely(order, now, &run, bytes) {
                    self.conflict(places, doing, conflict, at, bytes);
                }
            }
            shared.note(order, now, &run, bytes);
            shared.copied(PENDING, Who::new(doing.warp, lane, doing.site), at, bytes);
        }
    }
}

/// `count` bytes of shared memory from `at` on, which are inside. The rest of the 16 is zero.
fn bytes_of(memory: &[u64], at: u64, count: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (nth, byte) in bytes[..count].iter_mut().enumerate() {
        let at = at as usize + nth;
        *byte = memory[at / 8].to_ne_bytes()[at % 8];
    }
    bytes
}
