//! The shadow state of a running block.

use super::device_shadow::DeviceShadow;
use super::exited_threads::ExitedThreads;
use super::happens_before::HappensBefore;
use super::local_shadow::LocalShadow;
use super::partial_sync::PartialSyncs;
use super::shared::SharedShadow;

/// The shadow state of the block that an SM runs. The SM reuses it for its next block.
pub struct Shadow {
    pub order: HappensBefore,
    pub shared: SharedShadow,
    pub device: DeviceShadow,
    pub local: LocalShadow,
    pub partial_syncs: PartialSyncs,
    /// The threads that have exited.
    pub exited: ExitedThreads,
    /// For each barrier at which threads wait for the whole block, the first arrival.
    pub barriers: [Option<FirstArrival>; 16],
    /// Partial warps that wait at barriers at which full warps should.
    pub partial_warps: Vec<PartialWarp>,
    /// Partial warps that reached a barrier separately from the rest of their warp. Each is a finding.
    pub divergent: Vec<PartialWarp>,
    /// Reads of uninitialized shared memory since the last barrier. If another thread writes the bytes before
    /// the next barrier, the read is a race instead.
    pub deferred: Vec<DeferredRead>,
    /// Reads of shared memory that was still uninitialized at the next barrier. Each is a finding.
    pub uninitialized: Vec<DeferredRead>,
}

/// Part of a warp that waits at a barrier.
#[derive(Clone, Copy)]
pub struct PartialWarp {
    pub barrier: usize,
    pub warp: usize,
    pub site: u32,
    pub mask: u32,
    /// The warp's lanes that have not exited.
    pub alive: u32,
}

/// A thread's read of shared memory, kept until the next barrier.
#[derive(Clone, Copy)]
pub struct DeferredRead {
    pub site: u32,
    pub thread: u32,
    pub at: u64,
    pub bytes: u64,
}

/// The first thread that arrived at a barrier, and the barrier instruction.
#[derive(Clone, Copy)]
pub struct FirstArrival {
    pub site: u32,
    pub thread: u32,
}

impl Shadow {
    /// Creates empty shadow state.
    pub fn new(shared: SharedShadow, device: DeviceShadow) -> Shadow {
        Shadow {
            order: HappensBefore::default(),
            shared,
            device,
            local: LocalShadow::default(),
            exited: ExitedThreads::default(),
            partial_syncs: PartialSyncs::default(),
            barriers: [None; 16],
            partial_warps: Vec::new(),
            divergent: Vec::new(),
            deferred: Vec::new(),
            uninitialized: Vec::new(),
        }
    }

    /// Resets the state for a new block of `warps` warps.
    pub fn begin(&mut self, warps: usize) {
        let restarts = self.order.begin(warps);
        self.shared.begin(restarts);
        self.device.begin();
        self.local.begin(warps);
        self.exited.begin(warps);
        self.partial_syncs.clear();
        self.barriers = [None; 16];
        self.partial_warps.clear();
        self.divergent.clear();
        self.deferred.clear();
        self.uninitialized.clear();
    }

    /// Records that `warp` arrives at a counted barrier.
    pub fn arrive(&mut self, barrier: usize, warp: usize) {
        self.flush_reads();
        self.order.arrive(barrier, warp);
    }

    /// Records that a warp executes a fence.
    pub fn fence(&mut self, warp: usize) {
        self.flush_reads();
        self.order.fence(warp);
    }

    /// Applies all logged reads. Required before anything other than a barrier of the whole block orders warps.
    fn flush_reads(&mut self) {
        self.shared.flush_reads(&self.order);
        self.device.flush_reads(&self.order);
    }

    /// Completes a barrier: a counted one, or one of the whole block.
    pub fn complete_barrier(
        &mut self,
        barrier: usize,
        counted: bool,
        waiting: impl Iterator<Item = usize>,
    ) {
        let arrival_of_part = |part: &PartialWarp| FirstArrival {
            site: part.site,
            thread: part.warp as u32 * 32 + part.mask.trailing_zeros(),
        };
        let mut partial_warps = self.partial_warps.iter();
        let part = partial_warps
            .find(|part| part.barrier == barrier)
            .map(arrival_of_part);
        let first_arrival = self.barriers[barrier].take().or(part);
        if let (Some(first_arrival), false) = (first_arrival, counted) {
            self.exited
                .record_barrier(first_arrival.thread, first_arrival.site);
        }
        self.report_split_warps(barrier);
        if counted {
            self.order.complete_barrier(barrier, waiting);
        } else {
            self.order.complete_block_barrier();
            self.flush_deferred();
        }
    }

    /// Records each part of a warp that waited at this barrier in several parts. Lanes that have exited do
    /// not count as a part.
    fn report_split_warps(&mut self, barrier: usize) {
        if self.partial_warps.is_empty() {
            return;
        }
        let (at_barrier, elsewhere): (Vec<PartialWarp>, Vec<PartialWarp>) = self
            .partial_warps
            .drain(..)
            .partition(|part| part.barrier == barrier);
        self.partial_warps = elsewhere;
        let is_split = |part: &&PartialWarp| {
            let same = at_barrier.iter().filter(|other| other.warp == part.warp);
            same.count() > 1
        };
        self.divergent.extend(at_barrier.iter().filter(is_split));
    }

    /// Ends the deferral of uninitialized reads: each whose bytes are still uninitialized is a finding.
    pub fn flush_deferred(&mut self) {
        let written = &self.shared.written;
        let deferred = self.deferred.drain(..);
        self.uninitialized.extend(
            deferred.filter(|deferred| !written.is_initialized(deferred.at, deferred.bytes)),
        );
    }
}
