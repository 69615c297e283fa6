//! The shadow state of a running block: its happens-before relation, memories, pending synchronization and exited
//! threads.

use super::device_shadow::DeviceShadow;
use super::happens_before::HappensBefore;
use super::shared::SharedShadow;
use crate::isa::check_event::{LoadedBytes, MovedRegisters};
use crate::lanes::{LANES, active};
use std::collections::HashMap;

/// The shadow state of the block that an SM runs. The SM reuses it for its next block.
pub struct Shadow {
    pub order: HappensBefore,
    pub shared: SharedShadow,
    pub device: DeviceShadow,
    pub local: LocalShadow,
    /// The registers into which loads have copied uninitialized bytes.
    pub copied: CopiedBytes,
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
    /// The instructions that read shared memory before another thread wrote it for the first time, without a barrier
    /// in between.
    pub overtaking_reads: Vec<u32>,
}

/// Part of a warp that waits at a barrier.
#[derive(Clone, Copy)]
pub struct PartialWarp {
    pub barrier: usize,
    pub warp: usize,
    pub site: u32,
    /// The call frame in which the lanes arrive.
    pub frame: u32,
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
            copied: CopiedBytes::default(),
            exited: ExitedThreads::default(),
            partial_syncs: PartialSyncs::default(),
            barriers: [None; 16],
            partial_warps: Vec::new(),
            divergent: Vec::new(),
            deferred: Vec::new(),
            uninitialized: Vec::new(),
            overtaking_reads: Vec::new(),
        }
    }

    /// Resets the state for a new block of `warps` warps.
    pub fn begin(&mut self, warps: usize) {
        let restarts = self.order.begin(warps);
        self.shared.begin(restarts);
        self.device.begin(restarts);
        self.local.begin(warps);
        self.copied.registers.clear();
        self.exited.begin(warps);
        self.partial_syncs.clear();
        self.barriers = [None; 16];
        self.partial_warps.clear();
        self.divergent.clear();
        self.deferred.clear();
        self.uninitialized.clear();
        self.overtaking_reads.clear();
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

    /// Records each part of a warp whose parts waited at different instructions for this barrier. Parts that
    /// reach one instruction one after the other are correct: CUDA counts threads, not warps, since Volta. Lanes
    /// that have exited do not count as a part.
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
            let mut same_warp = at_barrier.iter().filter(|other| other.warp == part.warp);
            same_warp.any(|other| (other.site, other.frame) != (part.site, part.frame))
        };
        self.divergent.extend(at_barrier.iter().filter(is_split));
    }

    /// Ends the deferral of uninitialized reads: each whose bytes are still uninitialized is a finding.
    pub fn flush_deferred(&mut self) {
        let written = &self.shared.written;
        for deferred in self.deferred.drain(..) {
            if !written.is_initialized(deferred.at, deferred.bytes) {
                self.uninitialized.push(deferred);
            } else if !self.overtaking_reads.contains(&deferred.site) {
                self.overtaking_reads.push(deferred.site);
            }
        }
    }
}

/// The threads of a block that have exited.
#[derive(Default)]
pub struct ExitedThreads {
    count: u32,
    /// The first thread that exited.
    first: Option<ExitedThread>,
    /// For each thread, the branch that sent it to its exit, if it has taken one.
    leaving: Vec<Option<u32>>,
    /// Barriers that completed without the exited threads.
    pub missed: Vec<MissedBarrier>,
}

/// A thread that has exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitedThread {
    /// The thread's index in the block.
    pub thread: u32,
    /// The branch after which it exited, or its last instruction if there was no such branch.
    pub site: u32,
}

/// A barrier that completed although threads of the block had exited before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedBarrier {
    /// The barrier's instruction.
    pub site: u32,
    /// The number of threads that had exited.
    pub ended: u32,
    /// The first of them.
    pub first: ExitedThread,
    /// A thread that arrived at the barrier.
    pub arrived: u32,
}

impl ExitedThreads {
    /// Resets the state for a new block of `warps` warps.
    pub fn begin(&mut self, warps: usize) {
        (self.count, self.first) = (0, None);
        self.leaving.clear();
        self.leaving.resize(warps * 32, None);
        self.missed.clear();
    }

    /// Records that a branch sends lanes of a warp to their exit.
    pub fn leave(&mut self, warp: usize, lanes: u32, site: u32) {
        for lane in active(lanes) {
            self.leaving[warp * 32 + lane] = Some(site);
        }
    }

    /// Records that lanes of a warp exit at the instruction `site`.
    pub fn exit(&mut self, warp: usize, lanes: u32, site: u32) {
        self.count += lanes.count_ones();
        if self.first.is_none() && lanes != 0 {
            let thread = warp * 32 + lanes.trailing_zeros() as usize;
            self.first = Some(ExitedThread {
                thread: thread as u32,
                site: self.leaving[thread].unwrap_or(site),
            });
        }
    }

    /// Records that a barrier of the whole block completes. `arrived` is a thread that arrived at it.
    fn record_barrier(&mut self, arrived: u32, site: u32) {
        if let Some(first) = self.first
            && !self.missed.iter().any(|missed| missed.site == site)
        {
            self.missed.push(MissedBarrier {
                site,
                ended: self.count,
                first,
                arrived,
            });
        }
    }
}

/// The pending warp-wide instructions of a block, at which lanes wait for other lanes of the instruction's
/// mask.
#[derive(Default)]
pub struct PartialSyncs {
    waiting: Vec<PendingSync>,
}

/// Lanes of a warp that wait for others.
struct PendingSync {
    warp: usize,
    /// The instruction's address, or the mask if lanes may arrive at different instructions.
    key: u32,
    /// A mask of the lanes that had not reached their exit when the first lane arrived.
    busy: u32,
}

impl PartialSyncs {
    /// Removes all pending instructions.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Records that lanes wait, unless they already do.
    pub fn wait(&mut self, warp: usize, key: u32, busy: u32) {
        let mut pending = self.waiting.iter();
        if !pending.any(|p| p.warp == warp && p.key == key) {
            self.waiting.push(PendingSync { warp, key, busy });
        }
    }

    /// Ends the wait, once all lanes have arrived or exited. Returns the mask of the lanes that had not
    /// reached their exit when the first lane arrived, or 0 if no lane had to wait.
    pub fn complete(&mut self, warp: usize, key: u32) -> u32 {
        let mut pending = self.waiting.iter();
        let index = pending.position(|p| p.warp == warp && p.key == key);
        index.map_or(0, |index| self.waiting.swap_remove(index).busy)
    }
}

/// Uninitialized bytes of structures, in registers: a program may copy the padding of a structure, but not use it.
#[derive(Default)]
pub struct CopiedBytes {
    /// For each warp and register, what each lane holds.
    registers: HashMap<(usize, u32), [Copied; LANES]>,
}

/// The uninitialized bytes that a lane has copied to a register.
#[derive(Clone, Copy, Default)]
struct Copied {
    /// A mask of the bytes.
    bytes: u8,
    /// The size of the structure in bytes.
    structure: u32,
}

impl CopiedBytes {
    /// Returns true if no register holds such bytes.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.registers.is_empty()
    }

    /// Records that lanes of a warp write the registers of a load.
    #[cold]
    pub fn overwrite(&mut self, warp: usize, lanes: u32, loaded: LoadedBytes) {
        for register in loaded.registers.iter() {
            if let Some(copied) = self.registers.get_mut(&(warp, register)) {
                active(lanes).for_each(|lane| copied[lane] = Copied::default());
                if copied.iter().all(|copied| copied.bytes == 0) {
                    self.registers.remove(&(warp, register));
                }
            }
        }
    }

    /// Records that a load of `bytes` bytes copies uninitialized bytes to a lane if they are the padding of a structure:
    /// the program uses none of them, and parts of the structure are initialized. Returns true then. `initialized` returns
    /// true for initialized bytes, by their distance from the first loaded byte.
    #[cold]
    pub fn copy_padding(
        &mut self,
        (warp, lane): (usize, usize),
        bytes: u64,
        loaded: LoadedBytes,
        initialized: impl Fn(i64) -> bool,
    ) -> bool {
        let missing = (0..bytes as u32).filter(|&byte| !initialized(byte.into()));
        let missing = missing.fold(0u16, |missing, byte| missing | 1 << byte);
        let structure = -i64::from(loaded.before)..bytes as i64 + i64::from(loaded.after);
        let size = (structure.end - structure.start) as u32;
        if missing & loaded.used != 0 || !structure.into_iter().any(&initialized) {
            return false;
        }
        let part = loaded.registers.bytes_each;
        for (nth, register) in (0u32..).zip(loaded.registers.iter()) {
            let bytes = (missing >> (nth * part) & u16::MAX >> (16 - part)) as u8;
            if bytes != 0 {
                let copied = self.registers.entry((warp, register)).or_default();
                copied[lane] = Copied {
                    bytes,
                    structure: size,
                };
            }
        }
        true
    }

    /// Calls `f` with the place of each uninitialized byte that a lane stores, counted from the first stored byte, and the
    /// size of its structure.
    #[cold]
    pub fn stored(
        &self,
        (warp, lane): (usize, usize),
        stored: MovedRegisters,
        mut f: impl FnMut(u64, u32),
    ) {
        let part = u64::from(stored.bytes_each);
        for (nth, register) in (0u64..).zip(stored.iter()) {
            let Some(copied) = self.registers.get(&(warp, register)) else {
                continue;
            };
            let Copied { bytes, structure } = copied[lane];
            (0..part.min(8))
                .filter(|byte| bytes >> byte & 1 == 1)
                .for_each(|byte| f(nth * part + byte, structure));
        }
    }
}

/// The bytes of local memory that each thread of a block has written.
#[derive(Default)]
pub struct LocalShadow {
    /// For each warp and each byte, a mask of the lanes that have written it.
    warps: Vec<Vec<u32>>,
}

impl LocalShadow {
    /// Resets the state for a new block of `warps` warps.
    pub fn begin(&mut self, warps: usize) {
        self.warps.iter_mut().for_each(Vec::clear);
        self.warps.resize_with(warps, Vec::new);
    }

    /// Records that a lane writes `bytes` bytes at `offset`.
    pub fn write(&mut self, warp: usize, lane: usize, offset: u64, bytes: u64) {
        let written = &mut self.warps[warp];
        let end = (offset + bytes) as usize;
        if written.len() < end {
            written.resize(end, 0);
        }
        for lanes in &mut written[offset as usize..end] {
            *lanes |= 1 << lane;
        }
    }

    /// Returns true if a lane has written any of these bytes.
    pub fn is_any_written(&self, warp: usize, lane: usize, offset: u64, bytes: u64) -> bool {
        let written = self.warps[warp].iter().skip(offset as usize);
        written
            .take(bytes as usize)
            .any(|lanes| lanes >> lane & 1 == 1)
    }
}
