//! Takes note of accesses of shared memory.

use super::{Now, SharedShadow, is_single};
use crate::check::accessor::{SITE_BITS, Who};
use crate::check::order::Order;
use crate::check::reads::Read;
use crate::check::runs::{Addresses, LaneRun};
use crate::lanes::quarters::{LANES_OF_QUARTER, Quarter, quarters};
use std::ops::Range;

impl SharedShadow {
    /// Takes note of an access.
    #[inline(always)]
    pub fn note(&mut self, order: &Order, now: Now, run: &LaneRun, bytes: u64) {
        let stamp = order.own(now.warp);
        if now.write {
            return self.note_write(stamp, now, run, bytes);
        }
        let who = Who::new(now.warp, 0, now.site);
        if order.is_plain() {
            self.put_down(order, Read::of_run((stamp, who), run, bytes));
        } else {
            self.note_read(order, (stamp, who), run, bytes);
        }
    }

    /// Takes note of a whole warp's read where that is all there is to do: nobody has written since
    /// the last barrier, and what is read was written before. Returns whether it took note.
    #[inline(always)]
    pub fn note_plain_read(&mut self, order: &Order, now: Now, at: Addresses, bytes: u64) -> bool {
        if self.last_write >= order.floor() || !order.is_plain() {
            return false;
        }
        let Some(quarters) = quarters(at.row, at.offset, bytes) else {
            return false;
        };
        let mut fine = true;
        for Quarter { start, apart } in quarters {
            let span = if apart {
                bytes * LANES_OF_QUARTER as u64
            } else {
                bytes
            };
            fine &= self.holds(start, span)
                && start & (bytes - 1) == 0
                && self.written.has(start, span);
        }
        if fine {
            let who = (order.own(now.warp), Who::new(now.warp, 0, now.site));
            self.put_down(order, Read::of_quarters(who, &quarters, bytes));
        }
        fine
    }

    #[inline(always)]
    fn note_write(&mut self, stamp: u32, now: Now, run: &LaneRun, bytes: u64) {
        let (first, count, each) = self.granules(run, bytes);
        let range = first..first + count;
        self.last_write = self.last_write.max(stamp);
        self.written_at[range.clone()].fill(stamp);
        // Of lanes that write to one place the last one's value stays.
        let lane = match run.apart {
            true => run.first,
            false => run.first + run.lanes - 1,
        };
        let who = Who::new(now.warp, lane, now.site).0;
        for (k, by) in (0u32..).zip(&mut self.written_by[range]) {
            *by = who + ((k >> each) << SITE_BITS);
        }
    }

    /// Takes note of the reads that are put down, before somebody writes, or before something else
    /// than a barrier of the whole block orders warps.
    #[inline(always)]
    pub fn settle(&mut self, order: &Order) {
        if !self.reads.is_empty() {
            self.note_reads(order);
        }
    }

    #[inline(never)]
    fn note_reads(&mut self, order: &Order) {
        let mut reads = std::mem::take(&mut self.reads);
        for read in reads.since(order.floor()) {
            read.runs(|run, bytes| self.note_read(order, (read.stamp, read.who), run, bytes));
        }
        reads.clear();
        self.reads = reads;
    }

    #[inline(always)]
    fn note_read(&mut self, order: &Order, (stamp, who): (u32, Who), run: &LaneRun, bytes: u64) {
        let (first, count, each) = self.granules(run, bytes);
        let range = first..first + count;
        if order.is_plain() && self.is_read_by_two(order.floor(), range.clone()) {
            // Whoever writes next is in conflict with one of them: a third makes no difference.
            return;
        }
        let (who, warp) = (who.0, who.warp() as u32);
        let lanes = run.mask();
        let single = is_single(run);
        let read_at = &mut self.read_at[range.clone()];
        let read_by = &mut self.read_by[range.clone()];
        let read_lanes = &mut self.read_lanes[range.clone()];
        let before_at = &mut self.before_at[range.clone()];
        let before_by = &mut self.before_by[range];
        for k in 0..count {
            let lane = run.first as u32 + (k as u32 >> each);
            let mine = if single { 1 << (lane & 31) } else { lanes };
            let (at, by) = (read_at[k], read_by[k]);
            let own_warp = by >> (SITE_BITS + 5) == warp;
            let again = own_warp & (at == stamp);
            read_lanes[k] = if again { read_lanes[k] | mine } else { mine };
            before_at[k] = if own_warp { before_at[k] } else { at };
            before_by[k] = if own_warp { before_by[k] } else { by };
            read_at[k] = stamp;
            read_by[k] = who + (lane << SITE_BITS);
        }
    }

    /// Whether two warps have read each of these granules since the last barrier.
    #[inline(always)]
    fn is_read_by_two(&self, floor: u32, range: Range<usize>) -> bool {
        let reads = self.read_at[range.clone()].iter();
        let both = reads.zip(&self.before_at[range]);
        both.fold(true, |all, (&read, &before)| {
            all & (read >= floor) & (before >= floor)
        })
    }

    #[inline(always)]
    fn put_down(&mut self, order: &Order, read: Read) {
        if !self.reads.has_room(order.floor()) {
            self.settle(order);
            self.reads.begin(order.floor());
        }
        self.reads.put_down(read);
    }
}
