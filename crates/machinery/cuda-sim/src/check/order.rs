//! Who has waited for whom: what orders two accesses of a block.
//!
//! Time is counted in *stamps*, which grow from one wait to the next and from one block to the
//! next. An access is known by its warp and that warp's stamp. It came before what a thread does
//! now if
//!
//! * a barrier of the whole block opened since: its stamp is below the block's floor;
//! * its warp waited with the thread's at a counted barrier since, or with one that did: each warp
//!   has a row of what it has seen of every other;
//! * it is of the thread's own warp, and the two lanes have met at a warp-wide instruction since;
//! * its warp went past a fence, and the other one, or another lane, read an atomic or volatile word
//!   afterwards.

/// Hardware barriers of a block.
const BARRIERS: usize = 16;

/// Above this stamp a new beginning is due: far from [`u32::MAX`], and more than a block takes.
const LATE: u32 = 1 << 31;

/// What the warps of a block know to have been done by each other.
#[derive(Default)]
pub struct Order {
    now: u32,
    floor: u32,
    warps: Vec<WarpStamps>,
    /// `seen[w * warps + u]`: what warp u did before this stamp came before what w does now. Empty
    /// until a counted barrier or a fence.
    seen: Vec<u32>,
    /// What the warps that have come to each counted barrier have seen.
    gathered: [Vec<u32>; BARRIERS],
    /// For each warp the stamp below which its fences so far make its work known.
    fenced: Vec<u32>,
    /// For each warp when it last read what it may have waited for.
    polled: Vec<u32>,
    /// For each warp the stamp below which fences of its own lanes make its work known, and below
    /// which other lanes of the warp know it.
    fenced_within: Vec<(u32, u32)>,
}

#[derive(Default)]
struct WarpStamps {
    /// The stamp of what the warp does now.
    own: u32,
    /// What all its lanes did before this stamp came before what any does now.
    floor: u32,
    /// Where some of its lanes have met without the others: what lane b did before the stamp
    /// `lanes[a][b]` came before what lane a does now.
    lanes: Option<Box<[[u32; 32]; 32]>>,
}

impl Order {
    /// A block of `warps` warps begins. Returns whether the stamps start again from 0, so that all
    /// of earlier blocks have to be forgotten.
    pub fn begin(&mut self, warps: usize) -> bool {
        let late = self.now > LATE;
        if late {
            self.now = 0;
        }
        self.warps.resize_with(warps, WarpStamps::default);
        self.seen.clear();
        self.fenced.clear();
        self.polled.clear();
        self.polled.resize(warps, 0);
        self.fenced_within.clear();
        self.fenced_within.resize(warps, (0, 0));
        self.gathered.iter_mut().for_each(Vec::clear);
        self.open_for_all();
        late
    }

    /// A barrier of all threads opens.
    pub fn open_for_all(&mut self) {
        self.now += 1;
        self.floor = self.now;
        for warp in &mut self.warps {
            (warp.own, warp.floor, warp.lanes) = (self.now, self.now, None);
        }
    }

    /// Warp `warp` comes to a counted barrier: what it has done so far will be known to those that
    /// wait there.
    pub fn arrive(&mut self, barrier: usize, warp: usize) {
        let row = self.release(warp);
        join(&mut self.gathered[barrier], &row);
    }

    /// A counted barrier opens for the warps that wait.
    pub fn open(&mut self, barrier: usize, waiting: impl Iterator<Item = usize>) {
        let gathered = std::mem::take(&mut self.gathered[barrier]);
        for warp in waiting {
            let count = self.warps.len();
            if !self.seen.is_empty() {
                join_row(&mut self.seen[warp * count..][..count], &gathered);
            }
            self.meet(warp);
        }
    }

    /// All lanes of a warp have met.
    pub fn meet(&mut self, warp: usize) {
        self.now += 1;
        let warp = &mut self.warps[warp];
        (warp.own, warp.floor, warp.lanes) = (self.now, self.now, None);
    }

    /// The lanes in `mask` of a warp have met.
    pub fn meet_in_part(&mut self, warp: usize, mask: u32) {
        self.now += 1;
        let warp = &mut self.warps[warp];
        warp.own = self.now;
        let floor = warp.floor;
        let lanes = warp
            .lanes
            .get_or_insert_with(|| Box::new([[floor; 32]; 32]));
        let mut all = [0; 32];
        let named = |lane: &usize| mask >> lane & 1 == 1;
        for lane in (0..32).filter(named) {
            for (all, seen) in all.iter_mut().zip(lanes[lane]) {
                *all = seen.max(*all);
            }
        }
        for lane in (0..32).filter(named) {
            all[lane] = self.now;
        }
        for lane in (0..32).filter(named) {
            lanes[lane] = all;
        }
    }

    /// A warp goes past a fence.
    pub fn fence(&mut self, warp: usize) {
        let row = self.release(warp);
        join(&mut self.fenced, &row);
        self.fenced_within[warp].0 = self.now;
    }

    /// A warp reads what may tell it that another is past a fence.
    pub fn acquire(&mut self, warp: usize) {
        if !self.fenced.is_empty() {
            let (fenced, known) = &mut self.fenced_within[warp];
            *known = *fenced;
            let count = self.warps.len();
            join_row(&mut self.seen[warp * count..][..count], &self.fenced);
        }
    }

    /// A warp reads what it may have waited for.
    pub fn poll(&mut self, warp: usize) {
        self.now += 1;
        self.polled[warp] = self.now;
    }

    /// Whether a warp may have waited for what another did at `stamp`.
    pub fn may_have_waited(&self, warp: usize, stamp: u32) -> bool {
        self.polled[warp] > stamp
    }

    /// What `warp` knows to be done: for each warp of the block the stamp below which its work came
    /// before what `warp` does from now on. Of its own work that is all.
    fn release(&mut self, warp: usize) -> Vec<u32> {
        let count = self.warps.len();
        if self.seen.is_empty() {
            self.seen = vec![self.floor; count * count];
        }
        self.now += 1;
        self.warps[warp].own = self.now;
        let row = &mut self.seen[warp * count..][..count];
        row[warp] = self.now;
        row.to_vec()
    }

    /// The stamp of what a warp does now.
    #[inline(always)]
    pub fn own(&self, warp: usize) -> u32 {
        self.warps[warp].own
    }

    /// What anybody did before this came before what anybody does now.
    #[inline(always)]
    pub fn floor(&self) -> u32 {
        self.floor
    }

    /// Whether nothing but barriers of the whole block has ordered its warps so far.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.seen.is_empty()
    }

    /// What any lane of a warp did before this came before what any of its lanes does now.
    #[inline(always)]
    pub fn floor_in(&self, warp: usize) -> u32 {
        self.warps[warp].floor
    }

    /// Whether what another warp did at `stamp` came before what `warp` does now.
    pub fn is_before(&self, stamp: u32, other: usize, warp: usize) -> bool {
        stamp < self.floor
            || !self.seen.is_empty() && stamp < self.seen[warp * self.warps.len() + other]
    }

    /// Whether what lane `other` did at `stamp` came before what `lane` of the same warp does now.
    pub fn is_before_in(&self, warp: usize, stamp: u32, other: usize, lane: usize) -> bool {
        let known = self.fenced_within[warp].1;
        let warp = &self.warps[warp];
        stamp < warp.floor
            || stamp < known
            || warp
                .lanes
                .as_ref()
                .is_some_and(|lanes| stamp < lanes[lane][other])
    }
}

/// Raises each stamp to the one in `row`, where that is later. Missing stamps count as 0.
fn join(all: &mut Vec<u32>, row: &[u32]) {
    all.resize(row.len(), 0);
    join_row(all, row);
}

/// Raises each stamp to the one in `row`, where that is later.
fn join_row(all: &mut [u32], row: &[u32]) {
    for (all, seen) in all.iter_mut().zip(row) {
        *all = (*seen).max(*all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(warps: usize) -> Order {
        let mut order = Order::default();
        assert!(!order.begin(warps));
        order
    }

    #[test]
    fn a_barrier_of_all_orders_all() {
        let mut order = begun(3);
        let stamp = order.own(1);
        assert!(!order.is_before(stamp, 1, 2));
        assert!(!order.is_before_in(1, stamp, 3, 4));
        order.open_for_all();
        assert!(order.is_before(stamp, 1, 2));
        assert!(order.is_before_in(1, stamp, 3, 4));
        let stamp = order.own(0);
        assert!(!order.begin(2), "stamps go on");
        assert!(order.is_before(stamp, 0, 1));
    }

    #[test]
    fn a_counted_barrier_orders_those_that_come_and_what_they_have_seen() {
        let mut order = begun(4);
        let stamp = order.own(0);
        order.arrive(1, 0);
        order.arrive(1, 1);
        order.open(1, [0, 1].into_iter());
        assert!(order.is_before(stamp, 0, 1));
        assert!(!order.is_before(stamp, 0, 2));
        assert!(!order.is_before(order.own(0), 0, 1), "done since");
        // Warp 2 waits for warp 1, which has waited for warp 0.
        order.arrive(2, 1);
        order.arrive(2, 2);
        order.open(2, [2].into_iter());
        assert!(order.is_before(stamp, 0, 2));
        assert!(!order.is_before(stamp, 0, 3));
        let late = order.own(1);
        assert!(
            !order.is_before(late, 1, 2),
            "warp 1 only arrived, and went on"
        );
    }

    #[test]
    fn lanes_that_meet_in_part_know_of_each_other() {
        let mut order = begun(1);
        let stamp = order.own(0);
        order.meet_in_part(0, 0b0011);
        assert!(order.is_before_in(0, stamp, 0, 1));
        assert!(!order.is_before_in(0, stamp, 0, 2));
        order.meet_in_part(0, 0b0110);
        assert!(order.is_before_in(0, stamp, 0, 2), "through lane 1");
        assert!(!order.is_before_in(0, stamp, 2, 0));
        order.meet(0);
        assert!(order.is_before_in(0, stamp, 2, 0));
    }

    #[test]
    fn a_fence_tells_those_that_look_afterwards() {
        let mut order = begun(2);
        let stamp = order.own(0);
        order.acquire(1);
        order.fence(0);
        assert!(!order.is_before(stamp, 0, 1));
        order.acquire(1);
        assert!(order.is_before(stamp, 0, 1));
        assert!(!order.is_before(order.own(0), 0, 1), "done since");
        // Another lane of the same warp.
        assert!(!order.is_before_in(0, stamp, 3, 4));
        order.acquire(0);
        assert!(order.is_before_in(0, stamp, 3, 4));
        assert!(!order.is_before_in(0, order.own(0), 3, 4), "done since");
    }

    #[test]
    fn who_reads_what_it_waited_for_comes_after_what_was_before() {
        let mut order = begun(2);
        let stamp = order.own(0);
        assert!(!order.may_have_waited(1, stamp));
        order.poll(1);
        assert!(order.may_have_waited(1, stamp));
        assert!(!order.may_have_waited(0, stamp));
        order.meet(0);
        assert!(!order.may_have_waited(1, order.own(0)), "done since");
    }

    #[test]
    fn stamps_begin_anew_before_they_run_out() {
        let mut order = Order {
            now: LATE,
            ..Order::default()
        };
        assert!(!order.begin(1));
        assert!(order.begin(1));
        assert_eq!(order.own(0), 1);
    }
}
