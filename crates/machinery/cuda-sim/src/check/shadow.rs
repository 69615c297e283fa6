//! What the checks know of a block under way.

use super::device_shadow::DeviceShadow;
use super::ends::Ends;
use super::local_shadow::LocalShadow;
use super::meetings::Meetings;
use super::order::Order;
use super::shared::SharedShadow;

/// What the checks know of the block that a multiprocessor runs. The next block on the
/// multiprocessor uses the same one again.
pub struct Shadow {
    pub order: Order,
    pub shared: SharedShadow,
    pub device: DeviceShadow,
    pub local: LocalShadow,
    pub meetings: Meetings,
    /// Threads that have ended.
    pub ends: Ends,
    /// For each barrier at which threads wait for all of the block, the first of them.
    pub barriers: [Option<Come>; 16],
    /// Parts of warps that wait at barriers at which whole ones should.
    pub parts: Vec<PartialWarp>,
    /// Parts of warps that met the rest of their warp at a barrier only piece by piece: each is a
    /// finding.
    pub divergent: Vec<PartialWarp>,
    /// Reads of shared memory that nobody has written so far: before the next barrier somebody
    /// may, and then it is a race.
    pub held: Vec<Held>,
    /// Reads of shared memory that nobody had written at the next barrier either: each is a finding.
    pub unwritten: Vec<Held>,
}

/// Part of a warp at a barrier.
#[derive(Clone, Copy)]
pub struct PartialWarp {
    pub barrier: usize,
    pub warp: usize,
    pub site: u32,
    pub mask: u32,
    /// The warp's living lanes.
    pub alive: u32,
}

/// A thread's read of shared memory.
#[derive(Clone, Copy)]
pub struct Held {
    pub site: u32,
    pub thread: u32,
    pub at: u64,
    pub bytes: u64,
}

/// The first thread that came to a barrier, and the instruction that brought it there.
#[derive(Clone, Copy)]
pub struct Come {
    pub site: u32,
    pub thread: u32,
}

impl Shadow {
    /// Nothing is known yet of a block, nor of the memories that it uses.
    pub fn new(shared: SharedShadow, device: DeviceShadow) -> Shadow {
        Shadow {
            order: Order::default(),
            shared,
            device,
            local: LocalShadow::default(),
            ends: Ends::default(),
            meetings: Meetings::default(),
            barriers: [None; 16],
            parts: Vec::new(),
            divergent: Vec::new(),
            held: Vec::new(),
            unwritten: Vec::new(),
        }
    }

    /// A block of so many warps begins.
    pub fn begin(&mut self, warps: usize) {
        let late = self.order.begin(warps);
        self.shared.begin(late);
        self.device.begin();
        self.local.begin(warps);
        self.ends.begin(warps);
        self.meetings.clear();
        self.barriers = [None; 16];
        self.parts.clear();
        self.divergent.clear();
        self.held.clear();
        self.unwritten.clear();
    }

    /// Warp `warp` comes to a counted barrier.
    pub fn arrive(&mut self, barrier: usize, warp: usize) {
        self.settle();
        self.order.arrive(barrier, warp);
    }

    /// A warp goes past a fence.
    pub fn fence(&mut self, warp: usize) {
        self.settle();
        self.order.fence(warp);
    }

    /// Takes note of all that is put down so far, before something else than a barrier of the whole
    /// block orders warps.
    fn settle(&mut self) {
        self.shared.settle(&self.order);
        self.device.settle(&self.order);
    }

    /// A barrier opens: one for all the block's threads, or one that counts.
    pub fn open(&mut self, barrier: usize, counted: bool, waiting: impl Iterator<Item = usize>) {
        let of_part = |part: &PartialWarp| Come {
            site: part.site,
            thread: part.warp as u32 * 32 + part.mask.trailing_zeros(),
        };
        let mut parts = self.parts.iter();
        let part = parts.find(|part| part.barrier == barrier).map(of_part);
        let come = self.barriers[barrier].take().or(part);
        if let (Some(come), false) = (come, counted) {
            self.ends.barrier_opens(come.thread, come.site);
        }
        self.part(barrier);
        if counted {
            self.order.open(barrier, waiting);
        } else {
            self.order.open_for_all();
            self.release_held();
        }
    }

    /// A barrier opens: where several parts of a warp waited there, each of them is a finding.
    /// Lanes that have ended meanwhile do not count as a part.
    fn part(&mut self, barrier: usize) {
        if self.parts.is_empty() {
            return;
        }
        let (here, elsewhere): (Vec<PartialWarp>, Vec<PartialWarp>) = self
            .parts
            .drain(..)
            .partition(|part| part.barrier == barrier);
        self.parts = elsewhere;
        let others = |part: &&PartialWarp| {
            let same = here.iter().filter(|other| other.warp == part.warp);
            same.count() > 1
        };
        self.divergent.extend(here.iter().filter(others));
    }

    /// Reads that were held back, in case they are part of a race, are none: of those whose bytes
    /// are still not written each is a finding.
    pub fn release_held(&mut self) {
        let written = &self.shared.written;
        let held = self.held.drain(..);
        self.unwritten
            .extend(held.filter(|held| !written.has(held.at, held.bytes)));
    }
}
