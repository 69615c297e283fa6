//! Detection of conflicts with earlier accesses.

use super::{PENDING, ShadowAccess, SharedShadow, has_distinct_addresses};
use crate::check::accessor::{Accessor, SITE_BITS};
use crate::check::happens_before::HappensBefore;
use crate::check::lane_runs::LaneRun;
use crate::lanes::active;

/// Two accesses to one granule that nothing orders.
#[derive(Clone, Copy)]
pub struct Conflict {
    /// The lane of the current access.
    pub lane: usize,
    pub other: Accessor,
    /// The stamp of the other access.
    pub stamp: u32,
    pub other_wrote: bool,
    /// True if the other access is an asynchronous copy that has not been waited for.
    pub pending: bool,
}

impl SharedShadow {
    /// Returns true if a run of lanes, all of it in bounds, may conflict with earlier accesses. May return
    /// true without a conflict: it compares stamps only with the floors, in a form that the compiler
    /// vectorizes.
    #[inline(always)]
    pub fn may_conflict(
        &self,
        order: &HappensBefore,
        access: ShadowAccess,
        run: &LaneRun,
        bytes: u64,
    ) -> bool {
        let (floor, warp_floor) = (order.floor(), order.warp_floor(access.warp));
        if !access.write && self.last_write < floor {
            // No thread has written since the last barrier.
            return false;
        }
        let (first, count, lane_shift) = self.granules(run, bytes);
        let warp = access.warp as u32;
        let range = first..first + count;
        let written = self.write_time[range.clone()].iter();
        let mut suspect = false;
        for (k, (&at, &by)) in (0u32..).zip(written.zip(&self.writer[range.clone()])) {
            let thread = by >> SITE_BITS;
            let lane = run.first as u32 + (k >> lane_shift);
            let same = (thread == (warp << 5 | lane)) & has_distinct_addresses(run);
            let limit = if thread >> 5 == warp {
                warp_floor
            } else {
                floor
            };
            suspect |= (at >= limit) & (!same | (at == PENDING));
        }
        if access.write {
            let reads = self.read_time[range.clone()].iter();
            let reads = reads.zip(&self.reader[range.clone()]);
            let reads = reads.zip(&self.read_lanes[range.clone()]);
            for (k, ((&at, &by), &read)) in (0u32..).zip(reads) {
                let lane = run.first as u32 + (k >> lane_shift);
                let own_warp = by >> (SITE_BITS + 5) == warp;
                let own_lanes = if has_distinct_addresses(run) {
                    1 << lane
                } else {
                    0
                };
                let limit = if own_warp { warp_floor } else { floor };
                suspect |= (at >= limit) & (!own_warp | (read & !own_lanes != 0));
            }
            let prior = self.prior_read_time[range.clone()].iter();
            for (&at, &by) in prior.zip(&self.prior_reader[range]) {
                suspect |= (at >= floor) & (by >> (SITE_BITS + 5) != warp);
            }
        }
        suspect
    }

    /// Returns the conflicts of a run, at most one per lane.
    #[cold]
    pub fn find_conflicts(
        &self,
        order: &HappensBefore,
        access: ShadowAccess,
        run: &LaneRun,
        bytes: u64,
    ) -> Vec<Conflict> {
        let mut conflicts: Vec<Conflict> = Vec::new();
        let (first, count, lane_shift) = self.granules(run, bytes);
        for k in 0..count {
            let granule = first + k;
            let lanes = if run.contiguous {
                let lane = run.first + (k >> lane_shift);
                lane..lane + 1
            } else {
                run.first..run.first + run.lanes
            };
            for lane in lanes {
                let conflict = self.find_conflict(order, access, granule, lane);
                if let Some(conflict) = conflict
                    && conflicts.last().is_none_or(|last| last.lane < lane)
                {
                    conflicts.push(conflict);
                }
            }
        }
        conflicts
    }

    fn find_conflict(
        &self,
        order: &HappensBefore,
        access: ShadowAccess,
        granule: usize,
        lane: usize,
    ) -> Option<Conflict> {
        let ordered = |stamp: u32, other: Accessor| {
            if other.warp() == access.warp {
                order.happens_before_in_warp(access.warp, stamp, other.lane(), lane)
            } else {
                order.happens_before(stamp, other.warp(), access.warp)
            }
        };
        let (at, by) = (self.write_time[granule], Accessor(self.writer[granule]));
        let own_lanes = by.thread() == Accessor::new(access.warp, lane, 0).thread();
        let pending = at == PENDING;
        if pending || !own_lanes && !ordered(at, by) {
            return Some(Conflict {
                lane,
                other: by,
                stamp: at,
                other_wrote: true,
                pending,
            });
        }
        if !access.write {
            return None;
        }
        let read = |other: Accessor, stamp: u32| {
            Some(Conflict {
                lane,
                other,
                stamp,
                other_wrote: false,
                pending: false,
            })
        };
        let (at, by) = (self.read_time[granule], Accessor(self.reader[granule]));
        if by.warp() == access.warp {
            let others = self.read_lanes[granule] & !(1 << lane);
            for other in active(others) {
                let by = Accessor::new(access.warp, other, by.site());
                if !ordered(at, by) {
                    return read(by, at);
                }
            }
        } else if !ordered(at, by) {
            let lane = self.read_lanes[granule].trailing_zeros() as usize & 31;
            return read(Accessor::new(by.warp(), lane, by.site()), at);
        }
        let (at, by) = (
            self.prior_read_time[granule],
            Accessor(self.prior_reader[granule]),
        );
        if by.warp() != access.warp && !ordered(at, by) {
            return read(by, at);
        }
        None
    }
}
