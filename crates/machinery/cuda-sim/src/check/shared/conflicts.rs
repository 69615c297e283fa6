//! Which accesses of shared memory are in conflict with earlier ones.

use super::{Now, PENDING, SharedShadow, is_single};
use crate::check::accessor::{SITE_BITS, Who};
use crate::check::order::Order;
use crate::check::runs::LaneRun;
use crate::lanes::active;

/// Two accesses of one place that nothing orders.
#[derive(Clone, Copy)]
pub struct Conflict {
    /// The lane of the access that is looked at.
    pub lane: usize,
    pub other: Who,
    /// The stamp of the other access.
    pub stamp: u32,
    pub other_wrote: bool,
    /// The other access is an asynchronous copy that nobody has waited for.
    pub pending: bool,
}

impl SharedShadow {
    /// Whether a run of lanes, all of it inside, may be in conflict with earlier accesses.
    #[inline(always)]
    pub fn is_suspect(&self, order: &Order, now: Now, run: &LaneRun, bytes: u64) -> bool {
        let (floor, own) = (order.floor(), order.floor_in(now.warp));
        if !now.write && self.last_write < floor {
            // Nobody has written since the last barrier.
            return false;
        }
        let (first, count, each) = self.granules(run, bytes);
        let warp = now.warp as u32;
        let range = first..first + count;
        let written = self.written_at[range.clone()].iter();
        let mut suspect = false;
        for (k, (&at, &by)) in (0u32..).zip(written.zip(&self.written_by[range.clone()])) {
            let thread = by >> SITE_BITS;
            let lane = run.first as u32 + (k >> each);
            let same = (thread == (warp << 5 | lane)) & is_single(run);
            let limit = if thread >> 5 == warp { own } else { floor };
            suspect |= (at >= limit) & (!same | (at == PENDING));
        }
        if now.write {
            let reads = self.read_at[range.clone()].iter();
            let reads = reads.zip(&self.read_by[range.clone()]);
            let reads = reads.zip(&self.read_lanes[range.clone()]);
            for (k, ((&at, &by), &read)) in (0u32..).zip(reads) {
                let lane = run.first as u32 + (k >> each);
                let own_warp = by >> (SITE_BITS + 5) == warp;
                let mine = if is_single(run) { 1 << lane } else { 0 };
                let limit = if own_warp { own } else { floor };
                suspect |= (at >= limit) & (!own_warp | (read & !mine != 0));
            }
            let before = self.before_at[range.clone()].iter();
            for (&at, &by) in before.zip(&self.before_by[range]) {
                suspect |= (at >= floor) & (by >> (SITE_BITS + 5) != warp);
            }
        }
        suspect
    }

    /// Finds the conflicts of a run, one a lane.
    #[cold]
    pub fn look_closely(
        &self,
        order: &Order,
        now: Now,
        run: &LaneRun,
        bytes: u64,
    ) -> Vec<Conflict> {
        let mut found: Vec<Conflict> = Vec::new();
        let (first, count, each) = self.granules(run, bytes);
        for k in 0..count {
            let place = first + k;
            let lanes = if run.apart {
                let lane = run.first + (k >> each);
                lane..lane + 1
            } else {
                run.first..run.first + run.lanes
            };
            for lane in lanes {
                let conflict = self.conflict(order, now, place, lane);
                if let Some(conflict) = conflict
                    && found.last().is_none_or(|last| last.lane < lane)
                {
                    found.push(conflict);
                }
            }
        }
        found
    }

    fn conflict(&self, order: &Order, now: Now, place: usize, lane: usize) -> Option<Conflict> {
        let ordered = |stamp: u32, other: Who| {
            if other.warp() == now.warp {
                order.is_before_in(now.warp, stamp, other.lane(), lane)
            } else {
                order.is_before(stamp, other.warp(), now.warp)
            }
        };
        let (at, by) = (self.written_at[place], Who(self.written_by[place]));
        let mine = by.thread() == Who::new(now.warp, lane, 0).thread();
        let pending = at == PENDING;
        if pending || !mine && !ordered(at, by) {
            return Some(Conflict {
                lane,
                other: by,
                stamp: at,
                other_wrote: true,
                pending,
            });
        }
        if !now.write {
            return None;
        }
        let read = |other: Who, stamp: u32| {
            Some(Conflict {
                lane,
                other,
                stamp,
                other_wrote: false,
                pending: false,
            })
        };
        let (at, by) = (self.read_at[place], Who(self.read_by[place]));
        if by.warp() == now.warp {
            let others = self.read_lanes[place] & !(1 << lane);
            for other in active(others) {
                let by = Who::new(now.warp, other, by.site());
                if !ordered(at, by) {
                    return read(by, at);
                }
            }
        } else if !ordered(at, by) {
            let lane = self.read_lanes[place].trailing_zeros() as usize & 31;
            return read(Who::new(by.warp(), lane, by.site()), at);
        }
        let (at, by) = (self.before_at[place], Who(self.before_by[place]));
        if by.warp() != now.warp && !ordered(at, by) {
            return read(by, at);
        }
        None
    }
}
