//! The happens-before relation between the threads of one block.
//!
//! Logical time is counted in *stamps*, which grow with each synchronization and from one block to the next.
//! An access is identified by its warp and that warp's stamp: an *epoch* in the terms of FastTrack. It
//! happens before what a thread does now if one of these holds:
//!
//! * A barrier of the whole block has completed since: the stamp is below the block's floor.
//! * Its warp has since synchronized with the thread's warp at a counted barrier, directly or through other
//!   warps: each warp has a vector clock with an element for every other warp.
//! * It belongs to the thread's own warp, and the two lanes have since synchronized at a `bar.warp.sync` (`__syncwarp`).
//! * Its warp has since executed a fence (release), and afterwards the other warp, or another lane of the same
//!   warp, has read an atomic or volatile word (acquire).

/// The number of hardware barriers of a block.
const BARRIERS: usize = 16;

/// The stamp above which the next block restarts at 0. Far enough from [`u32::MAX`] that no block overflows.
const MAX_STAMP: u32 = 1 << 31;

/// The vector clocks of the warps and lanes of a block.
#[derive(Default)]
pub struct HappensBefore {
    now: u32,
    floor: u32,
    warps: Vec<WarpStamps>,
    /// The vector clocks: accesses by warp `u` before the stamp `clocks[w * warps + u]` happen before all
    /// further accesses by warp `w`. Empty until the first counted barrier or fence.
    clocks: Vec<u32>,
    /// For each counted barrier, the join of the vector clocks of the warps that have arrived.
    barrier_clocks: [Vec<u32>; BARRIERS],
    /// For each warp, the stamp below which its accesses are released by a fence.
    fence_clock: Vec<u32>,
    /// For each warp, the stamp of its last read that may have waited for another thread's store.
    last_poll: Vec<u32>,
    /// For each warp, the stamp below which fences of its own lanes release its accesses, and the stamp below
    /// which other lanes of the warp have acquired them.
    warp_fences: Vec<(u32, u32)>,
}

#[derive(Default)]
struct WarpStamps {
    /// The stamp of the warp's current accesses.
    stamp: u32,
    /// The warp's floor: accesses by any of its lanes before this stamp happen before all further accesses by
    /// its lanes.
    floor: u32,
    /// The vector clocks of the lanes, once only some of them have synchronized: accesses by lane `b` before
    /// the stamp `lanes[a][b]` happen before all further accesses by lane `a`.
    lanes: Option<Box<[[u32; 32]; 32]>>,
}

impl HappensBefore {
    /// Starts a block of `warps` warps. Returns true if stamps restart at 0, in which case the caller must
    /// drop all stamps of earlier blocks.
    pub fn begin(&mut self, warps: usize) -> bool {
        let restarts = self.now > MAX_STAMP;
        if restarts {
            self.now = 0;
        }
        self.warps.resize_with(warps, WarpStamps::default);
        self.clocks.clear();
        self.fence_clock.clear();
        self.last_poll.clear();
        self.last_poll.resize(warps, 0);
        self.warp_fences.clear();
        self.warp_fences.resize(warps, (0, 0));
        self.barrier_clocks.iter_mut().for_each(Vec::clear);
        self.complete_block_barrier();
        restarts
    }

    /// Completes a barrier of the whole block, which orders all its threads.
    pub fn complete_block_barrier(&mut self) {
        self.now += 1;
        self.floor = self.now;
        for warp in &mut self.warps {
            (warp.stamp, warp.floor, warp.lanes) = (self.now, self.now, None);
        }
    }

    /// Records that `warp` arrives at a counted barrier, which releases its earlier accesses to the warps
    /// that wait there.
    pub fn arrive(&mut self, barrier: usize, warp: usize) {
        let row = self.release(warp);
        join(&mut self.barrier_clocks[barrier], &row);
    }

    /// Completes a counted barrier: the waiting warps acquire what the arrived warps released.
    pub fn complete_barrier(&mut self, barrier: usize, waiting: impl Iterator<Item = usize>) {
        let barrier_clocks = std::mem::take(&mut self.barrier_clocks[barrier]);
        for warp in waiting {
            let count = self.warps.len();
            if !self.clocks.is_empty() {
                join_row(&mut self.clocks[warp * count..][..count], &barrier_clocks);
            }
            self.sync_warp(warp);
        }
    }

    /// Orders all lanes of a warp.
    pub fn sync_warp(&mut self, warp: usize) {
        self.now += 1;
        let warp = &mut self.warps[warp];
        (warp.stamp, warp.floor, warp.lanes) = (self.now, self.now, None);
    }

    /// Orders the lanes in `mask` of a warp.
    pub fn sync_lanes(&mut self, warp: usize, mask: u32) {
        self.now += 1;
        let warp = &mut self.warps[warp];
        warp.stamp = self.now;
        let floor = warp.floor;
        let lanes = warp
            .lanes
            .get_or_insert_with(|| Box::new([[floor; 32]; 32]));
        let mut all = [0; 32];
        let named = |lane: &usize| mask >> lane & 1 == 1;
        for lane in (0..32).filter(named) {
            for (all, stamp) in all.iter_mut().zip(lanes[lane]) {
                *all = stamp.max(*all);
            }
        }
        for lane in (0..32).filter(named) {
            all[lane] = self.now;
        }
        for lane in (0..32).filter(named) {
            lanes[lane] = all;
        }
    }

    /// Records that a warp executes a fence.
    pub fn fence(&mut self, warp: usize) {
        let row = self.release(warp);
        join(&mut self.fence_clock, &row);
        self.warp_fences[warp].0 = self.now;
    }

    /// Acquires what other warps released by fences. Called for an atomic or volatile read.
    pub fn acquire(&mut self, warp: usize) {
        if !self.fence_clock.is_empty() {
            let (fence_clock, acquired) = &mut self.warp_fences[warp];
            *acquired = *fence_clock;
            let count = self.warps.len();
            join_row(&mut self.clocks[warp * count..][..count], &self.fence_clock);
        }
    }

    /// Records a read by which a warp may have waited for another thread's store.
    pub fn poll(&mut self, warp: usize) {
        self.now += 1;
        self.last_poll[warp] = self.now;
    }

    /// Returns true if a warp has polled since `stamp`, so that it may have waited for an access at that time.
    pub fn may_have_waited(&self, warp: usize, stamp: u32) -> bool {
        self.last_poll[warp] > stamp
    }

    /// Advances the warp's stamp and returns its vector clock, in which its own element covers all its
    /// accesses so far.
    fn release(&mut self, warp: usize) -> Vec<u32> {
        let count = self.warps.len();
        if self.clocks.is_empty() {
            self.clocks = vec![self.floor; count * count];
        }
        self.now += 1;
        self.warps[warp].stamp = self.now;
        let row = &mut self.clocks[warp * count..][..count];
        row[warp] = self.now;
        row.to_vec()
    }

    /// Returns the stamp of a warp's current accesses.
    #[inline(always)]
    pub fn stamp(&self, warp: usize) -> u32 {
        self.warps[warp].stamp
    }

    /// Returns the block's floor: every access before this stamp happens before every further access.
    #[inline(always)]
    pub fn floor(&self) -> u32 {
        self.floor
    }

    /// Returns true if only barriers of the whole block have ordered its warps so far.
    #[inline(always)]
    pub fn only_block_barriers(&self) -> bool {
        self.clocks.is_empty()
    }

    /// Returns the warp's floor: accesses by any of its lanes before this stamp happen before all further
    /// accesses by its lanes.
    #[inline(always)]
    pub fn warp_floor(&self, warp: usize) -> u32 {
        self.warps[warp].floor
    }

    /// Returns true if an access by warp `other` at `stamp` happens before the current accesses of `warp`.
    pub fn happens_before(&self, stamp: u32, other: usize, warp: usize) -> bool {
        stamp < self.floor
            || !self.clocks.is_empty() && stamp < self.clocks[warp * self.warps.len() + other]
    }

    /// Returns true if an access by lane `other` at `stamp` happens before the current accesses of `lane` of
    /// the same warp.
    pub fn happens_before_in_warp(
        &self,
        warp: usize,
        stamp: u32,
        other: usize,
        lane: usize,
    ) -> bool {
        let acquired = self.warp_fences[warp].1;
        let warp = &self.warps[warp];
        stamp < warp.floor
            || stamp < acquired
            || warp
                .lanes
                .as_ref()
                .is_some_and(|lanes| stamp < lanes[lane][other])
    }
}

/// Joins two vector clocks: takes the maximum of each element. Missing elements of `all` count as 0.
fn join(all: &mut Vec<u32>, row: &[u32]) {
    all.resize(row.len(), 0);
    join_row(all, row);
}

/// Joins two vector clocks: takes the maximum of each element.
fn join_row(all: &mut [u32], row: &[u32]) {
    for (all, stamp) in all.iter_mut().zip(row) {
        *all = (*stamp).max(*all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(warps: usize) -> HappensBefore {
        let mut order = HappensBefore::default();
        assert!(!order.begin(warps));
        order
    }

    #[test]
    fn a_block_barrier_orders_all_threads() {
        let mut order = started(3);
        let stamp = order.stamp(1);
        assert!(!order.happens_before(stamp, 1, 2));
        assert!(!order.happens_before_in_warp(1, stamp, 3, 4));
        order.complete_block_barrier();
        assert!(order.happens_before(stamp, 1, 2));
        assert!(order.happens_before_in_warp(1, stamp, 3, 4));
        let stamp = order.stamp(0);
        assert!(!order.begin(2), "stamps go on");
        assert!(order.happens_before(stamp, 0, 1));
    }

    #[test]
    fn a_counted_barrier_orders_arrivals_before_waiters_transitively() {
        let mut order = started(4);
        let stamp = order.stamp(0);
        order.arrive(1, 0);
        order.arrive(1, 1);
        order.complete_barrier(1, [0, 1].into_iter());
        assert!(order.happens_before(stamp, 0, 1));
        assert!(!order.happens_before(stamp, 0, 2));
        assert!(!order.happens_before(order.stamp(0), 0, 1), "done since");
        // Warp 2 waits for warp 1, which has waited for warp 0.
        order.arrive(2, 1);
        order.arrive(2, 2);
        order.complete_barrier(2, [2].into_iter());
        assert!(order.happens_before(stamp, 0, 2));
        assert!(!order.happens_before(stamp, 0, 3));
        let later = order.stamp(1);
        assert!(
            !order.happens_before(later, 1, 2),
            "warp 1 only arrived, and went on"
        );
    }

    #[test]
    fn partial_warp_syncs_order_lanes_transitively() {
        let mut order = started(1);
        let stamp = order.stamp(0);
        order.sync_lanes(0, 0b0011);
        assert!(order.happens_before_in_warp(0, stamp, 0, 1));
        assert!(!order.happens_before_in_warp(0, stamp, 0, 2));
        order.sync_lanes(0, 0b0110);
        assert!(
            order.happens_before_in_warp(0, stamp, 0, 2),
            "through lane 1"
        );
        assert!(!order.happens_before_in_warp(0, stamp, 2, 0));
        order.sync_warp(0);
        assert!(order.happens_before_in_warp(0, stamp, 2, 0));
    }

    #[test]
    fn a_fence_releases_to_later_acquires() {
        let mut order = started(2);
        let stamp = order.stamp(0);
        order.acquire(1);
        order.fence(0);
        assert!(!order.happens_before(stamp, 0, 1));
        order.acquire(1);
        assert!(order.happens_before(stamp, 0, 1));
        assert!(!order.happens_before(order.stamp(0), 0, 1), "done since");
        // Another lane of the same warp.
        assert!(!order.happens_before_in_warp(0, stamp, 3, 4));
        order.acquire(0);
        assert!(order.happens_before_in_warp(0, stamp, 3, 4));
        assert!(
            !order.happens_before_in_warp(0, order.stamp(0), 3, 4),
            "done since"
        );
    }

    #[test]
    fn a_poll_may_have_waited_for_earlier_accesses() {
        let mut order = started(2);
        let stamp = order.stamp(0);
        assert!(!order.may_have_waited(1, stamp));
        order.poll(1);
        assert!(order.may_have_waited(1, stamp));
        assert!(!order.may_have_waited(0, stamp));
        order.sync_warp(0);
        assert!(!order.may_have_waited(1, order.stamp(0)), "done since");
    }

    #[test]
    fn stamps_restart_before_they_overflow() {
        let mut order = HappensBefore {
            now: MAX_STAMP,
            ..HappensBefore::default()
        };
        assert!(!order.begin(1));
        assert!(order.begin(1));
        assert_eq!(order.stamp(0), 1);
    }
}
