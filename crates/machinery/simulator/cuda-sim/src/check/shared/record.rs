//! Recording of accesses in the shadow memory.

use super::{ShadowAccess, SharedShadow, has_distinct_addresses};
use crate::check::accessor::{Accessor, SITE_BITS};
use crate::check::happens_before::HappensBefore;
use crate::check::lane_runs::{Addresses, LaneRun};
use crate::check::read_log::Read;
use crate::lanes::{LANES_PER_QUARTER, Quarter, quarters};
use std::ops::Range;

impl SharedShadow {
    /// Records an access.
    #[inline(always)]
    pub fn record(
        &mut self,
        order: &HappensBefore,
        access: ShadowAccess,
        run: &LaneRun,
        bytes: u64,
    ) {
        let stamp = order.stamp(access.warp);
        if access.write {
            return self.record_write(stamp, access, run, bytes);
        }
        let accessor = Accessor::new(access.warp, 0, access.site);
        if order.only_block_barriers() {
            self.log_read(order, Read::of_run((stamp, accessor), run, bytes));
        } else {
            self.record_read(order, (stamp, accessor), run, bytes);
        }
    }

    /// Logs a full warp's read and returns true if nothing else needs to be checked: no thread has written
    /// since the last barrier, and the bytes are in bounds and initialized. Otherwise returns false.
    #[inline(always)]
    pub fn try_log_read(
        &mut self,
        order: &HappensBefore,
        access: ShadowAccess,
        at: Addresses,
        bytes: u64,
    ) -> bool {
        if self.last_write >= order.floor() || !order.only_block_barriers() {
            return false;
        }
        let Some(quarters) = quarters(at.row, at.offset, bytes) else {
            return false;
        };
        let mut valid = true;
        for Quarter { start, contiguous } in quarters {
            let span = if contiguous {
                bytes * LANES_PER_QUARTER as u64
            } else {
                bytes
            };
            valid &= self.contains(start, span)
                && start & (bytes - 1) == 0
                && self.written.is_initialized(start, span);
        }
        if valid {
            let accessor = (
                order.stamp(access.warp),
                Accessor::new(access.warp, 0, access.site),
            );
            self.log_read(order, Read::of_quarters(accessor, &quarters, bytes));
        }
        valid
    }

    #[inline(always)]
    fn record_write(&mut self, stamp: u32, access: ShadowAccess, run: &LaneRun, bytes: u64) {
        let (first, count, lane_shift) = self.granules(run, bytes);
        let range = first..first + count;
        self.last_write = self.last_write.max(stamp);
        self.write_time[range.clone()].fill(stamp);
        // If several lanes write to one address, the last lane's value remains.
        let lane = match run.contiguous {
            true => run.first,
            false => run.first + run.lanes - 1,
        };
        let accessor = Accessor::new(access.warp, lane, access.site).0;
        for (k, by) in (0u32..).zip(&mut self.writer[range]) {
            *by = accessor + ((k >> lane_shift) << SITE_BITS);
        }
    }

    /// Applies the logged reads. Required before a write, and before anything other than a barrier of the
    /// whole block orders warps.
    #[inline(always)]
    pub fn flush_reads(&mut self, order: &HappensBefore) {
        if !self.reads.is_empty() {
            self.replay_log(order);
        }
    }

    #[inline(never)]
    fn replay_log(&mut self, order: &HappensBefore) {
        let mut reads = std::mem::take(&mut self.reads);
        for read in reads.since(order.floor()) {
            read.runs(|run, bytes| {
                self.record_read(order, (read.stamp, read.accessor), run, bytes)
            });
        }
        reads.clear();
        self.reads = reads;
    }

    #[inline(always)]
    fn record_read(
        &mut self,
        order: &HappensBefore,
        (stamp, accessor): (u32, Accessor),
        run: &LaneRun,
        bytes: u64,
    ) {
        let (first, count, lane_shift) = self.granules(run, bytes);
        let range = first..first + count;
        if order.only_block_barriers() && self.has_two_readers(order.floor(), range.clone()) {
            // The next writer conflicts with at least one of the two readers, so a third adds nothing.
            return;
        }
        let (accessor, warp) = (accessor.0, accessor.warp() as u32);
        let lanes = run.mask();
        let single = has_distinct_addresses(run);
        let read_time = &mut self.read_time[range.clone()];
        let reader = &mut self.reader[range.clone()];
        let read_lanes = &mut self.read_lanes[range.clone()];
        let prior_read_time = &mut self.prior_read_time[range.clone()];
        let prior_reader = &mut self.prior_reader[range];
        for k in 0..count {
            let lane = run.first as u32 + (k as u32 >> lane_shift);
            let own_lanes = if single { 1 << (lane & 31) } else { lanes };
            let (at, by) = (read_time[k], reader[k]);
            let own_warp = by >> (SITE_BITS + 5) == warp;
            let repeated = own_warp & (at == stamp);
            read_lanes[k] = if repeated {
                read_lanes[k] | own_lanes
            } else {
                own_lanes
            };
            prior_read_time[k] = if own_warp { prior_read_time[k] } else { at };
            prior_reader[k] = if own_warp { prior_reader[k] } else { by };
            read_time[k] = stamp;
            reader[k] = accessor + (lane << SITE_BITS);
        }
    }

    /// Returns true if two warps have read each of these granules since the last barrier.
    #[inline(always)]
    fn has_two_readers(&self, floor: u32, range: Range<usize>) -> bool {
        let reads = self.read_time[range.clone()].iter();
        let pairs = reads.zip(&self.prior_read_time[range]);
        pairs.fold(true, |all, (&read, &prior)| {
            all & (read >= floor) & (prior >= floor)
        })
    }

    #[inline(always)]
    fn log_read(&mut self, order: &HappensBefore, read: Read) {
        if !self.reads.has_room(order.floor()) {
            self.flush_reads(order);
            self.reads.begin(order.floor());
        }
        self.reads.push(read);
    }
}
