//! A thread block: its warps, shared memory and barriers.

use super::bulk::{BulkCopies, Delivery};
use super::cluster::{Cluster, mapped_address, rank_and_offset};
use super::runtime::LaunchSlot;
use crate::check::Shadow;
use crate::exec::fault::PendingBarrier;
use crate::exec::profiler::Caches;
use crate::exec::warp::gang_state::WarpGroup;
use crate::exec::warp::{SplitState, Warp};
use crate::lanes::active;
use crate::memory::SHARED_GRANULE;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of hardware barriers of a block. Source: PTX ISA section 9.7.13.1.
pub const BARRIERS: usize = 16;

pub struct Block {
    /// `blockIdx`.
    pub id: [u32; 3],
    /// Index in the grid, x fastest.
    pub number: u64,
    pub warps: Vec<Warp>,
    /// State of the block's warp groups, used by gangs.
    pub groups: Vec<WarpGroup>,
    /// Index of the running warp.
    pub running: usize,
    /// True if it runs compiled code, false if it is interpreted; `None` before its first turn. The registers of a gang are
    /// elsewhere, so a block keeps its kind of code.
    pub is_compiled: Option<bool>,
    pub shared: Vec<u64>,
    pub shared_bytes: u32,
    /// Number of threads that have not exited.
    pub alive: u32,
    /// Number of warp instructions run so far.
    pub clock: u64,
    /// The time that warps spend in delay loops.
    pub delays: Delays,
    /// Number of loads from and stores to device memory, counted per thread.
    pub accesses: u64,
    /// The caches of its SM, while a profiled block is not running.
    pub caches: Option<Box<Caches>>,
    /// The sanitizer's shadow state, if checks are on.
    pub shadow: Option<Box<Shadow>>,
    /// The block's cluster; `None` if it consists of this block only.
    pub cluster: Option<Arc<Cluster>>,
    /// The block's rank in its cluster.
    pub cluster_rank: u32,
    /// Number of completed phases of the cluster's barrier that the block has seen.
    pub cluster_phase: u64,
    /// True for a block of a cluster that has not had a turn.
    pub is_new: bool,
    /// Bulk copies in flight.
    pub bulk: BulkCopies,
    /// Position in the order in which blocks are started: that of the clusters, in each of them by rank.
    pub order: u64,
    /// The last error of the device runtime, by thread.
    pub last_errors: BTreeMap<u32, u32>,
    /// The launch slots of each warp's last launch.
    pub slots: BTreeMap<usize, Vec<Arc<LaunchSlot>>>,
    barriers: [Barrier; BARRIERS],
    /// Mask of the barriers at which some thread has arrived since they last opened.
    pending_barriers: u32,
}

/// The arrivals at a hardware barrier.
#[derive(Default)]
struct Barrier {
    arrived: u32,
    /// Number of threads to wait for; 0 for every live thread of the block.
    expected: u32,
    waiting: Vec<Waiter>,
    /// For `bar.red`: the number of threads that arrived, and of those whose predicate was true.
    reduction_threads: u32,
    held: u32,
}

impl Barrier {
    fn reset(&mut self) {
        (
            self.arrived,
            self.expected,
            self.reduction_threads,
            self.held,
        ) = (0, 0, 0, 0);
        self.waiting.clear();
    }

    /// Returns the number of threads to wait for in a block with `alive` live threads.
    fn required_threads(&self, alive: u32) -> u32 {
        if self.expected > 0 {
            self.expected
        } else {
            alive
        }
    }
}

/// Lanes of a warp that have not exited, and their position.
pub struct StalledLanes {
    pub mask: u32,
    /// The instruction at which they are.
    pub address: u32,
    /// True if they wait there, at a barrier.
    pub at_barrier: bool,
    /// The mbarrier for which they wait in a loop.
    pub awaits: Option<PendingBarrier>,
}

struct Waiter {
    warp: usize,
    split: u32,
    reduction: Option<Reduction>,
}

/// The operation of a `bar.red` and the destination of its result.
#[derive(Clone, Copy)]
pub struct Reduction {
    pub operation: ReductionOp,
    /// Frame offset of the result: a row for `popc`, a predicate for `and` and `or`.
    pub destination: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReductionOp {
    Popc,
    And,
    Or,
}

/// The arrival of a split at a barrier.
pub struct Arrival {
    pub barrier: usize,
    /// Number of threads to wait for; 0 for every live thread of the block.
    pub expected: u32,
    /// True if the split waits (`bar.sync`), false if it only arrives (`bar.arrive`).
    pub waits: bool,
    pub reduction: Option<(Reduction, u32)>,
}

/// A read in a delay loop advances the clock by the time that its warp has waited, divided by this. It is the bound on how
/// far a wait overshoots: a sixteenth.
const DELAY_GROWTH: u64 = 16;

/// The time that a block spends in delay loops.
#[derive(Debug, Default)]
pub struct Delays {
    /// Cycles by which the clock that the program reads is ahead of the instructions run.
    pub skipped: u64,
    /// Cycles during which at least one warp waited.
    pub waited: u64,
    /// The value of the clock up to which `waited` is complete.
    counted_to: u64,
    /// The waiting warp that advances the clock. If every warp did, the clock would run ahead of them all.
    leader: usize,
    /// The number of other warps' reads since the leader's last one. The leader has left its loop if every other warp has
    /// read the clock in between.
    reads_of_others: usize,
}

impl Delays {
    /// Advances the clock, which shows `now`, for one of `warps` warps that has been in a delay loop since an earlier
    /// value. Returns the new value.
    pub fn advance(&mut self, warp: usize, warps: usize, since: u64, now: u64) -> u64 {
        self.reads_of_others += 1;
        if warp == self.leader || self.reads_of_others > warps {
            self.leader = warp;
            self.reads_of_others = 0;
        }
        let skipped = match self.leader == warp {
            true => now.saturating_sub(since) / DELAY_GROWTH,
            false => 0,
        };
        self.skipped += skipped;
        let now = now + skipped;
        self.waited += now.saturating_sub(since.max(self.counted_to));
        self.counted_to = now;
        now
    }
}

impl Block {
    /// Creates a placeholder for an SM that has no block yet.
    pub fn empty() -> Block {
        Block {
            id: [0; 3],
            number: 0,
            warps: Vec::new(),
            groups: Vec::new(),
            running: 0,
            is_compiled: None,
            shared: Vec::new(),
            shared_bytes: 0,
            alive: 0,
            clock: 0,
            delays: Delays::default(),
            accesses: 0,
            caches: None,
            shadow: None,
            cluster: None,
            cluster_rank: 0,
            cluster_phase: 0,
            is_new: false,
            bulk: BulkCopies::default(),
            order: 0,
            last_errors: BTreeMap::new(),
            slots: BTreeMap::new(),
            barriers: Default::default(),
            pending_barriers: 0,
        }
    }

    /// Resets the block to block `number` of the grid, with `threads` threads and `shared_bytes` bytes of
    /// shared memory filled with `word`.
    pub fn reset(
        &mut self,
        number: u64,
        id: [u32; 3],
        threads: u32,
        (shared_bytes, word): (u32, u32),
    ) {
        self.id = id;
        self.number = number;
        let warps = threads.div_ceil(32);
        self.warps.resize_with(warps as usize, || Warp::new(0, 0));
        for (index, warp) in (0..warps).zip(&mut self.warps) {
            let remaining = threads - index * 32;
            let lanes = if remaining >= 32 {
                u32::MAX
            } else {
                (1 << remaining) - 1
            };
            warp.reset(index, lanes);
        }
        self.groups.fill_with(WarpGroup::default);
        self.groups.resize_with(warps as usize, WarpGroup::default);
        self.running = 0;
        self.is_compiled = None;
        self.shared.clear();
        let word_pair = u64::from(word) << 32 | u64::from(word);
        self.shared.resize(
            (shared_bytes.next_multiple_of(SHARED_GRANULE) / 8) as usize,
            word_pair,
        );
        self.shared_bytes = shared_bytes;
        self.alive = threads;
        self.clock = 0;
        self.delays = Delays::default();
        self.accesses = 0;
        self.caches = None;
        self.cluster = None;
        self.cluster_rank = 0;
        self.cluster_phase = 0;
        self.is_new = false;
        self.bulk.reset();
        self.order = number;
        self.last_errors.clear();
        self.slots.clear();
        for barrier in active(std::mem::take(&mut self.pending_barriers)) {
            self.barriers[barrier].reset();
        }
    }

    /// Returns true if no thread has arrived at a barrier since it last opened.
    pub fn has_no_waiters(&self) -> bool {
        self.pending_barriers == 0
    }

    #[inline(always)]
    pub fn warp(&self) -> &Warp {
        &self.warps[self.running]
    }

    #[inline(always)]
    pub fn warp_mut(&mut self) -> &mut Warp {
        &mut self.warps[self.running]
    }

    /// Returns the number of instructions of the warp that has run most of them.
    pub fn busiest_warp(&self) -> u64 {
        self.warps.iter().map(|warp| warp.clock).max().unwrap_or(0)
    }

    /// Returns the nanoseconds slept by the warp that has slept longest.
    pub fn longest_sleep(&self) -> u64 {
        self.warps
            .iter()
            .map(|warp| warp.slept_ns)
            .max()
            .unwrap_or(0)
    }

    /// Ends lanes of the running warp.
    pub fn exit(&mut self, lanes: u32) {
        self.alive -= lanes.count_ones();
        self.warp_mut().alive &= !lanes;
    }

    /// Records the arrival of the running split, `lanes` of the running warp, at a barrier.
    pub fn arrive(&mut self, lanes: u32, arrival: Arrival) {
        let running = self.running;
        let warp = &self.warps[running];
        let split = warp.current;
        self.pending_barriers |= 1 << arrival.barrier;
        let barrier = &mut self.barriers[arrival.barrier];
        // A barrier with a thread count counts whole warps, 32 threads even for a partial warp. A diverged
        // warp is counted lane by lane; its last split to arrive adds the missing threads.
        let others =
            (barrier.waiting.iter()).filter(|part| part.warp == running && part.split != split);
        let earlier = others.fold(0, |mask, part| mask | warp.splits[part.split as usize].mask);
        let threads = if arrival.expected > 0 && lanes | earlier == warp.alive {
            32 - earlier.count_ones()
        } else {
            lanes.count_ones()
        };
        barrier.arrived += threads;
        barrier.expected = arrival.expected;
        barrier.reduction_threads += lanes.count_ones();
        if let Some((_, predicate)) = arrival.reduction {
            barrier.held += (predicate & lanes).count_ones();
        }
        if arrival.waits {
            let reduction = arrival.reduction.map(|(reduction, _)| reduction);
            barrier.waiting.push(Waiter {
                warp: running,
                split,
                reduction,
            });
        }
    }

    /// Opens every barrier at which all required threads have arrived. Returns true if any opened.
    pub fn open_barriers(&mut self) -> bool {
        let mut opened = false;
        for number in active(self.pending_barriers) {
            let barrier = &mut self.barriers[number];
            let expected = barrier.required_threads(self.alive);
            if barrier.arrived < expected {
                continue;
            }
            opened = true;
            self.pending_barriers &= !(1 << number);
            if let Some(shadow) = &mut self.shadow {
                let waiting = barrier.waiting.iter().map(|waiter| waiter.warp);
                shadow.complete_barrier(number, barrier.expected > 0, waiting);
            }
            for waiter in &barrier.waiting {
                let warp = &mut self.warps[waiter.warp];
                if let Some(reduction) = waiter.reduction {
                    reduction.deliver(warp, waiter.split, barrier.held, barrier.reduction_threads);
                }
                warp.splits[waiter.split as usize].state = SplitState::Ready;
                warp.ready.push_back(waiter.split);
            }
            barrier.reset();
        }
        opened
    }

    /// Releases lanes that wait at a reconvergence point for lanes that wait for them at a `.sync` instruction.
    /// Called when no thread of the block can run. Returns true if there were any.
    pub fn release_for_sync(&mut self) -> bool {
        let mut any = false;
        for warp in &mut self.warps {
            for id in 0..warp.splits.len() as u32 {
                if let SplitState::Sync(_) | SplitState::WarpBarrier(_) =
                    warp.splits[id as usize].state
                {
                    any |= warp.release_arrived(id);
                }
            }
        }
        any
    }

    /// Returns the positions of the threads that run or wait for others, except at a reconvergence point.
    pub fn stalled_lanes(&self) -> Vec<StalledLanes> {
        let splits = (self.warps.iter()).flat_map(|warp| {
            let with_wait = |split| (split, warp.barrier_wait);
            warp.splits.iter().map(with_wait)
        });
        let lanes = splits.filter_map(|(split, wait)| {
            let at_barrier = match split.state {
                SplitState::Free | SplitState::Waiting => return None,
                SplitState::Barrier(_) => true,
                _ => false,
            };
            Some(StalledLanes {
                mask: split.mask,
                // The split continues after the barrier, so the barrier is the instruction before.
                address: split.pc.saturating_sub(at_barrier.into()),
                at_barrier,
                awaits: wait
                    .filter(|wait| !at_barrier && wait.lanes & split.mask != 0)
                    .map(|wait| wait.barrier),
            })
        });
        lanes.collect()
    }

    /// Returns the first barrier with waiting threads, the number of arrivals, and the number required.
    pub fn blocked_barrier(&self) -> Option<(usize, u32, u32)> {
        let number = active(self.pending_barriers).next()?;
        let barrier = &self.barriers[number];
        let expected = barrier.required_threads(self.alive);
        Some((number, barrier.arrived, expected))
    }
}

impl Block {
    /// Returns the host address of `bytes` bytes at an address that holds the rank of a block, or null unless all are
    /// valid.
    #[cold]
    pub fn cluster_host(&mut self, address: u64, bytes: u64) -> *mut u8 {
        let (Some(rank), offset) = rank_and_offset(address) else {
            return std::ptr::null_mut();
        };
        let shared = match &self.cluster {
            Some(cluster) => cluster.shared(rank),
            None => (rank == 0).then(|| (self.shared.as_mut_ptr().cast(), self.shared_bytes)),
        };
        match shared {
            Some((host, size)) if offset < size.into() && u64::from(size) - offset >= bytes => {
                host.wrapping_add(offset as usize)
            }
            _ => std::ptr::null_mut(),
        }
    }

    /// Returns true if an address is in the shared memory of this block, with or without the block's rank.
    pub fn is_own_shared(&self, address: u64) -> bool {
        let (rank, _) = rank_and_offset(address);
        rank.is_none_or(|rank| rank == u64::from(self.cluster_rank))
    }

    /// Returns an address in shared memory with the rank of its block, if the block is in a cluster: an address that
    /// all blocks of the cluster understand.
    pub fn cluster_address(&self, address: u64) -> u64 {
        match (&self.cluster, rank_and_offset(address)) {
            (Some(_), (None, offset)) => mapped_address(offset, self.cluster_rank),
            (None, (Some(0), offset)) => offset,
            _ => address,
        }
    }

    /// Adds data on the way to the shared memory of the cluster.
    pub fn add_delivery(&mut self, delivery: Delivery) {
        match &self.cluster {
            Some(cluster) => cluster.add_delivery(delivery),
            None => self.bulk.deliveries.push(delivery),
        }
    }

    /// Removes and returns the data on its way that will be reported to the barrier at an address.
    pub fn take_deliveries(&mut self, barrier: u64) -> Vec<Delivery> {
        if self.cluster.is_none() && self.bulk.deliveries.is_empty() {
            return Vec::new();
        }
        let barrier = self.cluster_address(barrier);
        match &self.cluster {
            Some(cluster) => cluster.take_deliveries(barrier),
            None => {
                let deliveries = &mut self.bulk.deliveries;
                let is_next = |delivery: &mut Delivery| delivery.barrier == barrier;
                deliveries.extract_if(.., is_next).collect()
            }
        }
    }

    /// Returns the number of live threads that have not arrived at the cluster's barrier.
    fn outstanding(&self) -> u32 {
        let warps = self.warps.iter();
        warps.fold(0, |sum, warp| {
            sum + (warp.alive & !warp.cluster_arrived).count_ones()
        })
    }

    fn start_cluster_phase(&mut self) {
        for warp in &mut self.warps {
            warp.cluster_arrived = 0;
        }
    }

    /// Completes the phase of the cluster's barrier if all live threads of the cluster have arrived, and publishes
    /// the block's own arrivals.
    pub fn update_cluster_barrier(&mut self) {
        let Some(cluster) = self.cluster.clone() else {
            if self.outstanding() == 0 {
                self.start_cluster_phase();
            }
            return;
        };
        if self.cluster_phase != cluster.phase() {
            // Another block has completed the phase.
            self.cluster_phase = cluster.phase();
            self.start_cluster_phase();
        }
        let phase = cluster.update_barrier(self.cluster_rank, self.alive, self.outstanding());
        if phase != self.cluster_phase {
            self.cluster_phase = phase;
            self.start_cluster_phase();
        }
    }

    /// Makes these blocks, which have been reset and have not started, a cluster. A block's index in the list is its
    /// rank.
    pub fn form_cluster(blocks: &mut [Box<Block>]) {
        let lowest_block = blocks.iter().map(|block| block.number).min();
        let members = blocks.iter_mut().map(|block| {
            let shared = block.shared.as_mut_ptr().expose_provenance();
            (shared, block.shared_bytes, block.alive)
        });
        let cluster = Cluster::new(lowest_block.unwrap_or(0), members);
        for (block, rank) in blocks.iter_mut().zip(0..) {
            block.cluster = Some(cluster.clone());
            block.cluster_rank = rank;
        }
    }
}

impl Reduction {
    fn deliver(self, warp: &mut Warp, split: u32, held: u32, reduction_threads: u32) {
        let split = &warp.splits[split as usize];
        let mask = split.mask;
        let base = warp.frames[split.frame as usize].registers.base();
        // SAFETY: the lowering put the destination, a row for `popc` and otherwise a predicate, inside the
        // frame of the function that the split is in.
        unsafe {
            let result = base.add(self.destination as usize).cast::<u32>();
            match self.operation {
                ReductionOp::Popc => {
                    for lane in active(mask) {
                        *result.add(lane) = held;
                    }
                }
                ReductionOp::And | ReductionOp::Or => {
                    let holds = match self.operation {
                        ReductionOp::And => held == reduction_threads,
                        _ => held > 0,
                    };
                    *result = (*result & !mask) | if holds { mask } else { 0 };
                }
            }
        }
    }
}
