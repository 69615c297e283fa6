//! Who wrote and who read each word of a block's shared memory last.
//!
//! Of each granule (a word, or a byte in a program that accesses less than a word) the last write
//! is known and the last reads by two warps: of two different warps at least one is another than
//! whoever writes next. What is known is kept as one array each, so that a run of lanes is looked
//! at with wide instructions.
//!
//! Reads matter to whoever writes before the next barrier. Until somebody does they are only put
//! down, one after the other, and most are forgotten at the barrier.

use super::accessor::{SITE_BITS, Who};
use super::choice::Checks;
use super::order::Order;
use super::reads::{Read, Reads};
use super::runs::{Addresses, Run};
use crate::lanes::quarters::{LANES_OF_QUARTER, Quarter, quarters};
use crate::memory::written::Bits;

/// The stamp of what an asynchronous copy writes, as long as nobody has waited for it: after
/// everything.
pub const PENDING: u32 = u32::MAX;

/// Two accesses of one place that nothing orders.
#[derive(Clone, Copy)]
pub struct Conflict {
    /// The lane that came now.
    pub lane: usize,
    pub other: Who,
    pub other_wrote: bool,
    /// The other access is an asynchronous copy that nobody has waited for.
    pub pending: bool,
}

/// An access: which warp, at which instruction.
#[derive(Clone, Copy)]
pub struct Now {
    pub warp: usize,
    pub site: u32,
    pub write: bool,
}

pub struct SharedShadow {
    bytes: u64,
    /// log2 of the bytes of a granule.
    granule: u32,
    written_at: Vec<u32>,
    written_by: Vec<u32>,
    read_at: Vec<u32>,
    read_by: Vec<u32>,
    read_lanes: Vec<u32>,
    /// An earlier read by another warp.
    before_at: Vec<u32>,
    before_by: Vec<u32>,
    /// Reads that are put down, beside those in the arrays.
    reads: Reads,
    /// An asynchronous copy has been started.
    pending: bool,
    /// No write has a later stamp.
    last_write: u32,
    /// Which bytes this block has written; empty where that is not checked.
    pub written: Bits,
}

impl SharedShadow {
    /// Of `bytes` bytes, looked at by `granule`.
    pub fn new(bytes: u32, granule: u32, checks: Checks) -> SharedShadow {
        let shift = granule.trailing_zeros();
        let raced = if checks.race { bytes } else { 0 };
        let row = || vec![0; raced.div_ceil(granule) as usize];
        SharedShadow {
            bytes: bytes.into(),
            granule: shift,
            written_at: row(),
            written_by: row(),
            read_at: row(),
            read_by: row(),
            read_lanes: row(),
            before_at: row(),
            before_by: row(),
            reads: Reads::default(),
            pending: false,
            last_write: 0,
            written: Bits::new(if checks.init { bytes.into() } else { 0 }),
        }
    }

    /// A block begins. Its stamps are above all that are here, unless they begin `anew`.
    pub fn begin(&mut self, anew: bool) {
        self.written.clear();
        if anew {
            self.written_at.fill(0);
            self.read_at.fill(0);
            self.before_at.fill(0);
        } else if self.pending {
            let pending = self.written_at.iter_mut().filter(|at| **at == PENDING);
            pending.for_each(|at| *at = 0);
        }
        self.reads.clear();
        self.pending = false;
        self.last_write = 0;
    }

    /// Whether so many bytes from `at` on are inside.
    #[inline(always)]
    pub fn holds(&self, at: u64, bytes: u64) -> bool {
        at < self.bytes && self.bytes - at >= bytes
    }

    /// The granules of a run, and log2 of those of a lane (of all lanes, where they are one place).
    #[inline(always)]
    fn granules(&self, run: &Run, bytes: u64) -> (usize, usize, u32) {
        let first = (run.start >> self.granule) as usize;
        let count = (run.span(bytes) >> self.granule).max(1) as usize;
        let each = if run.apart {
            (bytes >> self.granule).max(1).trailing_zeros()
        } else {
            31
        };
        (first, count, each)
    }

    /// Whether a run of lanes, all of it inside, may be in conflict with earlier accesses.
    #[inline(always)]
    pub fn is_suspect(&self, order: &Order, now: Now, run: &Run, bytes: u64) -> bool {
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
            let same = (thread == (warp << 5 | lane)) & run_is_single(run);
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
                let mine = if run_is_single(run) { 1 << lane } else { 0 };
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
    pub fn look_closely(&self, order: &Order, now: Now, run: &Run, bytes: u64) -> Vec<Conflict> {
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
                other_wrote: true,
                pending,
            });
        }
        if !now.write {
            return None;
        }
        let read = |other: Who| {
            Some(Conflict {
                lane,
                other,
                other_wrote: false,
                pending: false,
            })
        };
        let (at, by) = (self.read_at[place], Who(self.read_by[place]));
        if by.warp() == now.warp {
            let others = self.read_lanes[place] & !(1 << lane);
            for other in crate::lanes::active(others) {
                let by = Who::new(now.warp, other, by.site());
                if !ordered(at, by) {
                    return read(by);
                }
            }
        } else if !ordered(at, by) {
            let lane = self.read_lanes[place].trailing_zeros() as usize & 31;
            return read(Who::new(by.warp(), lane, by.site()));
        }
        let (at, by) = (self.before_at[place], Who(self.before_by[place]));
        if by.warp() != now.warp && !ordered(at, by) {
            return read(by);
        }
        None
    }

    /// Takes note of an access.
    #[inline(always)]
    pub fn note(&mut self, order: &Order, now: Now, run: &Run, bytes: u64) {
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

    /// Takes note of a whole warp's read, if there is nothing else to do: nobody has written since
    /// the last barrier, and what is read was written before. Whether it did.
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
    fn put_down(&mut self, order: &Order, read: Read) {
        if !self.reads.has_room(order.floor()) {
            self.settle(order);
            self.reads.begin(order.floor());
        }
        self.reads.put_down(read);
    }

    #[inline(always)]
    fn note_write(&mut self, stamp: u32, now: Now, run: &Run, bytes: u64) {
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
    fn note_read(&mut self, order: &Order, (stamp, who): (u32, Who), run: &Run, bytes: u64) {
        let (first, count, each) = self.granules(run, bytes);
        let range = first..first + count;
        if order.is_plain() && self.is_read_by_two(order.floor(), range.clone()) {
            // Whoever writes next is in conflict with one of them: a third makes no difference.
            return;
        }
        let (who, warp) = (who.0, who.warp() as u32);
        let lanes = run.mask();
        let single = run_is_single(run);
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
    fn is_read_by_two(&self, floor: u32, range: std::ops::Range<usize>) -> bool {
        let reads = self.read_at[range.clone()].iter();
        let both = reads.zip(&self.before_at[range]);
        both.fold(true, |all, (&read, &before)| {
            all & (read >= floor) & (before >= floor)
        })
    }

    /// A lane has begun to copy to `bytes` bytes at `at`, or has waited for that: then they are as
    /// if written at `stamp`.
    pub fn copied(&mut self, stamp: u32, who: Who, at: u64, bytes: u64) {
        self.pending |= stamp == PENDING;
        self.last_write = self.last_write.max(stamp);
        let first = (at >> self.granule) as usize;
        let count = (bytes >> self.granule).max(1) as usize;
        self.written_at[first..first + count].fill(stamp);
        if stamp == PENDING {
            self.written_by[first..first + count].fill(who.0);
        }
    }
}

/// Whether each place of a run is one lane's.
#[inline(always)]
fn run_is_single(run: &Run) -> bool {
    run.apart || run.lanes == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shadow, and all that it found: for each access that conflicts, its number, the lane, and
    /// the other's name.
    struct Watched(SharedShadow, Vec<(u64, usize, u32, bool)>);

    impl Watched {
        fn new() -> Watched {
            Watched(SharedShadow::new(512, 4, Checks::ALL), Vec::new())
        }

        fn access(&mut self, number: u64, order: &Order, now: Now, run: &Run) {
            let Watched(shadow, found) = self;
            if now.write {
                shadow.settle(order);
            }
            if shadow.is_suspect(order, now, run, 4) {
                let conflicts = shadow.look_closely(order, now, run, 4).into_iter();
                found.extend(conflicts.map(|c| (number, c.lane, c.other.0, c.other_wrote)));
            }
            shadow.note(order, now, run, 4);
        }
    }

    #[test]
    fn reads_that_are_put_down_count_as_those_noted_at_once() {
        let mut order = Order::default();
        order.begin(3);
        let (mut late, mut at_once) = (Watched::new(), Watched::new());
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 33) % below
        };
        for number in 0..40_000 {
            let lanes = 1 + random(32);
            let run = Run {
                start: random(96) * 4,
                first: random(33 - lanes) as usize,
                lanes: lanes as usize,
                apart: random(2) == 0 && lanes > 1,
            };
            let now = Now {
                warp: random(3) as usize,
                site: random(9) as u32,
                write: random(6) == 0,
            };
            late.access(number, &order, now, &run);
            at_once.access(number, &order, now, &run);
            at_once.0.settle(&order);
            match random(40) {
                0..5 => order.open_for_all(),
                5 => order.meet(random(3) as usize),
                6 if random(20) == 0 => {
                    for shadow in [&mut late.0, &mut at_once.0] {
                        shadow.begin(false);
                    }
                    order.begin(3);
                }
                7 if random(20) == 0 => {
                    late.0.settle(&order);
                    order.fence(random(3) as usize);
                }
                _ => {}
            }
        }
        assert_eq!(late.1, at_once.1);
        let reads = late.1.iter().filter(|(.., wrote)| !wrote);
        assert!(reads.count() > 1000 && late.1.len() > 5000);
    }

    #[test]
    fn more_reads_than_there_is_room_for_are_noted() {
        let mut order = Order::default();
        order.begin(2);
        let mut watched = Watched::new();
        let at = |start| Run {
            start,
            first: 0,
            lanes: 1,
            apart: false,
        };
        let now = |warp, write| Now {
            warp,
            site: 1,
            write,
        };
        watched.access(0, &order, now(0, false), &at(64));
        for number in 1..10_000 {
            watched.access(number, &order, now(0, false), &at(128));
        }
        watched.access(10_000, &order, now(1, true), &at(64));
        assert_eq!(watched.1.len(), 1);
    }

    #[test]
    fn a_plain_read_is_inside_and_of_what_is_written() {
        let mut order = Order::default();
        order.begin(1);
        let mut shadow = SharedShadow::new(512, 4, Checks::ALL);
        shadow.written.set(0, 256);
        let now = Now {
            warp: 0,
            site: 1,
            write: false,
        };
        let row = &std::array::from_fn(|lane| 4 * lane as u64);
        let mut plain = |offset, order: &Order| {
            shadow.note_plain_read(order, now, Addresses { row, offset }, 4)
        };
        assert!(plain(0, &order) && plain(128, &order));
        assert!(!plain(132, &order), "its end is not written");
        assert!(!plain(2, &order), "misaligned");
        assert!(!plain(400, &order) && !plain(0u64.wrapping_sub(4), &order));
        let apart = &std::array::from_fn(|lane| 8 * lane as u64 % 248);
        let at = Addresses {
            row: apart,
            offset: 0,
        };
        assert!(
            !shadow.note_plain_read(&order, now, at, 4),
            "in no quarters"
        );
        let written = Run {
            start: 0,
            first: 0,
            lanes: 1,
            apart: false,
        };
        shadow.note(&order, Now { write: true, ..now }, &written, 4);
        let at = Addresses { row, offset: 0 };
        assert!(!shadow.note_plain_read(&order, now, at, 4), "just written");
        order.open_for_all();
        assert!(shadow.note_plain_read(&order, now, at, 4));
    }
}
