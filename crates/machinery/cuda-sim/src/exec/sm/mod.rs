//! One multiprocessor: runs the warps of one block at a time, an instruction for all lanes.

mod code;
mod grid;
mod program;
mod reusable_parts;
mod sites;
mod splits;
#[cfg(test)]
mod test_support;
mod turn;

pub use code::{Handler, Handlers, Inst, Next};
pub use grid::{Grid, Launch};
pub(crate) use program::ProgramId;
pub use program::{Code, Program};
pub use reusable_parts::ReusableParts;
pub use sites::{CountedSite, CountedSites};

use super::access_pattern::AccessPatterns;
use super::block::Block;
use super::fault::{Fault, FaultKind, FaultLocation};
use super::gang::Gang;
use super::profiler::{AccessCost, DeferredAccesses, Profiler};
use super::random_schedule::RandomSchedule;
use super::thread_idx::Threads;
use super::time_limit::Watchdog;
use super::trace::Trace;
use super::warp::{NO_INDEX, Turn};
use super::window::{LocalPool, WindowPool};
use crate::check::Checker;
use crate::lanes::{FULL, LANES, expand};
use crate::memory::region::{Region, Regions};
use crate::profile::Counts;
use crate::profile::shape::Shapes;
use std::ops::Range;
use std::sync::Arc;

/// How many of the allocations touched last are remembered.
pub const RECENT_REGIONS: usize = 16;

/// A multiprocessor and the warp it is running. Handlers read and write its public fields.
pub struct Sm {
    /// The registers of the running warp, in the function it is in.
    pub frame: *mut u8,
    /// The lanes that are running, a bit each.
    pub mask: u32,
    /// `mask` as a row: all ones in the lanes that run, zero in the others.
    pub lanes: [u32; LANES],
    /// Some lane that has not ended is not running, and a write must leave its registers as they are.
    pub blend: bool,
    /// The address of the block where the running lanes wait for others, or [`NO_INDEX`].
    pub reconverge: u32,
    /// Where this function's local memory begins in each lane's stack, bytes.
    pub local_base: u32,
    /// Warp instructions issued since the launch began on this multiprocessor.
    pub clock: u64,
    /// `clock` when the running block began, as if it had run without a break since.
    pub block_start: u64,
    /// When `clock` reaches this, the warp gives way to another.
    pub deadline: u64,
    /// When `clock` reaches this, the block gives way to another.
    pub block_deadline: u64,
    /// When it is looked whether the launch's time is up.
    pub watchdog: Watchdog,
    /// The most warp instructions before another warp of the block goes on. An observed block's
    /// warps take short slices, so that they ask its caches about as alternately as on a GPU.
    pub slice: u64,
    /// The running warp's turn, when this slice of it began.
    pub turn: Turn,
    /// `clock` when this slice began.
    pub slice_start: u64,
    /// [`Counts::reads`] when this slice began.
    pub reads_before: u64,
    /// How often the warp went from one of its splits to another.
    pub switches: u64,
    /// `switches` when this slice began.
    pub switches_before: u64,
    /// The last access of memory asked what the one before had asked, and found the same.
    pub spinning: bool,
    /// The running warp only waits for others, and is to give way.
    pub only_waits: bool,
    /// Lanes of the running warp have changed something by an atomic.
    pub atomic_changed_memory: bool,
    /// Some warp of the running block did more than wait, since this was last asked.
    pub made_progress: bool,
    /// The warps that run in step, if the running ones are a gang.
    pub gang: Gang,
    /// The most warps of a gang in the running block; 1 if its warps run one by one.
    pub gang_size: usize,
    /// How the addresses of gangs' accesses lay the last time.
    pub patterns: AccessPatterns,
    /// `threadIdx` of every thread of a block.
    pub threads: Threads,
    /// The copy of the program's code that is running: one of `codes`.
    pub code: *const Inst,
    /// The code of the running block, for its warps alone and for its gangs.
    pub codes: CodePair,
    /// The copy that does what the checked one only looks at, if the running block is checked.
    pub sanitizing_base: *const Inst,
    /// The copy that does what the one that runs may wait before, in an order that nobody can foretell.
    pub schedule_base: *const Inst,
    /// That order, if the launch asked for one.
    pub schedule: Option<Box<RandomSchedule>>,
    /// Looks for mistakes, if the launch asked for it.
    pub checker: Option<Box<Checker>>,
    /// Counts what the running block does, if it is observed.
    pub profiler: Option<Box<Profiler>>,
    /// What accesses of observed blocks came to, while none is running: the next block's accesses will
    /// have the same shapes.
    pub shapes: Vec<Shapes<AccessCost>>,
    /// Memory for the notes of observed gangs, while none is running.
    pub deferred: DeferredAccesses,
    /// The part of the launch, by block number, that the running block belongs to.
    pub epoch: u32,
    /// The block whose warp is running.
    pub block: Box<Block>,
    /// What the whole launch shares.
    pub grid: Arc<Grid>,
    /// Allocations touched lately, by some bits of their addresses: most accesses find theirs here.
    pub recent: [Region; RECENT_REGIONS],
    pub regions: Arc<Regions>,
    /// The module's constant bank.
    pub constants: Region,
    pub counts: Counts,
    pub fault: Option<Fault>,
    pub windows: WindowPool,
    pub locals: LocalPool,
    /// What kernels printed, by block.
    pub printed: Vec<(u64, Vec<u8>)>,
    /// What they accessed, if the launch is traced.
    pub trace: Option<Box<Trace>>,
}

/// A program's code, plain or the copies that count as they run.
#[derive(Clone, Copy)]
pub struct CodePair {
    pub warp: *const Inst,
    pub gang: *const Inst,
}

impl Sm {
    pub fn new(grid: Arc<Grid>) -> Sm {
        let parts = ReusableParts::new(&grid);
        Sm::with_parts(grid, parts)
    }

    /// Of these parts, which may be those of another launch of the same program.
    // In line, so that as little as may be of it is moved.
    #[inline(always)]
    pub fn with_parts(grid: Arc<Grid>, parts: ReusableParts) -> Sm {
        let code = grid.program.code.plain.as_ptr();
        let ReusableParts {
            counts,
            windows,
            locals,
            threads,
            patterns,
            shapes,
            deferred,
            block,
        } = parts.prepare(&grid);
        Sm {
            frame: std::ptr::null_mut(),
            mask: 0,
            lanes: [0; LANES],
            blend: true,
            reconverge: NO_INDEX,
            local_base: 0,
            clock: 0,
            block_start: 0,
            deadline: 0,
            block_deadline: 0,
            watchdog: Watchdog::default(),
            slice: 0,
            turn: Turn {
                left: 0,
                read: false,
                single_split: true,
            },
            slice_start: 0,
            reads_before: 0,
            switches: 0,
            switches_before: 0,
            spinning: false,
            only_waits: false,
            atomic_changed_memory: false,
            made_progress: false,
            gang: Gang::empty(),
            gang_size: 1,
            patterns,
            threads,
            code,
            codes: CodePair {
                warp: code,
                gang: grid.program.code.gang.as_ptr(),
            },
            sanitizing_base: code,
            schedule_base: code,
            schedule: grid
                .schedule_seed
                .map(|seed| Box::new(RandomSchedule::new(seed))),
            checker: grid
                .checks
                .clone()
                .map(|checks| Box::new(Checker::new(checks))),
            profiler: None,
            shapes,
            deferred,
            epoch: 0,
            block,
            constants: grid.constants,
            regions: grid.regions.clone(),
            recent: [Region::NONE; RECENT_REGIONS],
            counts,
            fault: None,
            windows,
            locals,
            printed: Vec::new(),
            trace: grid.sample.trace(),
            grid,
        }
    }

    /// What another launch of the same program may use.
    #[inline(always)]
    pub fn into_parts(mut self) -> ReusableParts {
        let gang = self
            .gang
            .windows
            .into_iter()
            .chain(self.gang.uniform_window);
        gang.for_each(|window| self.windows.give_back(window));
        ReusableParts {
            counts: self.counts,
            windows: self.windows,
            locals: self.locals,
            threads: self.threads,
            patterns: self.patterns,
            shapes: self.shapes,
            deferred: self.deferred,
            block: self.block,
        }
    }

    /// The index of an instruction in the program.
    #[inline(always)]
    pub fn address_of(&self, inst: &Inst) -> u32 {
        // SAFETY: `inst` is an element of the array that `code` begins.
        unsafe { (inst as *const Inst).offset_from(self.code) as u32 }
    }

    /// The index of the instruction that `next` points to in code that begins at `code`.
    #[inline(always)]
    pub fn index(code: *const Inst, next: Next) -> u32 {
        (next.addr().wrapping_sub(code.addr()) / size_of::<Inst>()) as u32
    }

    /// The instruction at an index.
    #[inline(always)]
    pub fn at(&self, address: u32) -> Next {
        // Branch targets were checked against the code when it was laid out.
        self.code.wrapping_add(address as usize)
    }

    /// Makes `mask` the running lanes.
    #[inline(always)]
    pub fn set_active_lanes(&mut self, mask: u32) {
        self.mask = mask;
        self.blend = mask != self.block.warp().alive;
        self.lanes = if mask == FULL {
            [FULL; LANES]
        } else {
            expand(mask)
        };
    }

    /// The lanes that a warp of the block began with.
    pub fn lanes_of(&self, warp: usize) -> u32 {
        let threads = self.grid.dims.threads();
        let lanes = threads.saturating_sub(warp as u32 * 32).min(32);
        FULL.checked_shr(32 - lanes).unwrap_or(0)
    }

    /// Makes all 32 lanes the running ones, which are all that live.
    pub fn activate_all_lanes(&mut self) {
        self.mask = FULL;
        self.blend = false;
        self.lanes = [FULL; LANES];
    }

    /// The place in [`Sm::recent`] of whatever holds `address`: another one for each allocation, as
    /// there is a megabyte between one and the next.
    #[inline(always)]
    pub fn recent_slot(address: u64) -> usize {
        (address >> 20) as usize % RECENT_REGIONS
    }

    /// From now on what caches are asked is deferred, or asked at once.
    pub fn set_deferred(&mut self, defer: bool) {
        if let Some(profiler) = &mut self.profiler {
            profiler.set_deferred(defer);
        }
    }

    /// Asks what was deferred of warp `place` of the block.
    pub fn replay_warp(&mut self, warp: usize) {
        if let Some(profiler) = &mut self.profiler {
            profiler.replay_warp(warp);
        }
    }

    /// Asks all that was deferred of these warps, one after the other.
    pub fn replay_in_order(&mut self, warps: Range<usize>) {
        if let Some(profiler) = &mut self.profiler {
            profiler.replay_in_order(warps);
        }
    }

    /// Stops the launch: `lane` did what `kind` says at `inst`.
    #[cold]
    pub fn fail(&mut self, inst: &Inst, lane: usize, kind: FaultKind) -> Next {
        let address = self.address_of(inst);
        let warp = self.block.warp();
        let thread = self
            .grid
            .dims
            .thread_index(warp.index * LANES as u32 + lane as u32);
        let location = FaultLocation {
            kernel: self.grid.kernel_name().to_owned(),
            block: self.block.id,
            warp: warp.index,
            thread,
            source: self.grid.program.listing.source_of(address),
        };
        self.fault = Some(Fault::new(kind, Some(Box::new(location))));
        std::ptr::null()
    }
}
