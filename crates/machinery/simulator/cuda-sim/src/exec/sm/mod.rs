//! A streaming multiprocessor (SM): runs the warps of one block at a time, one instruction for 32 lanes at
//! once.

pub mod block;
pub mod bulk;
pub mod cluster;
pub mod compilation;
mod grid;
pub mod heap;
pub mod launch_spec;
mod program;
pub mod runtime;
mod splits;
mod stalls;
#[cfg(test)]
pub mod test_support;

pub use grid::{Grid, Launch};
pub(crate) use program::ProgramId;
pub use program::{Code, Compilation, CountedSite, Handler, Handlers, Inst, Next, Program};

use super::fault::{Fault, FaultLocation};
use super::profiler::access_pattern::AccessPatterns;
use super::profiler::trace::Trace;
use super::profiler::{AccessCost, DeferredAccesses, Profiler};
use super::schedule::RandomSchedule;
use super::schedule::progress::Watchdog;
use super::warp::gang_state::Gang;
use super::warp::window::{LocalPool, WindowPool};
use super::warp::{NO_INDEX, Turn};
use crate::check::Checker;
use crate::check::{AddressedMemory, FaultKind};
use crate::lanes::{FULL, LANES, expand};
use crate::memory::region::{Region, Regions};
use crate::memory::{SHARED_WINDOW, in_window};
use crate::profile::Counts;
use crate::profile::shape::ShapeCache;
use block::Block;
use cluster::{RANK_LIMIT, rank_and_offset};
use compilation::Context;
use grid::ThreadIndices;
use launch_spec::Submission;
use std::ops::Range;
use std::sync::Arc;

/// Number of recently accessed allocations that are cached.
pub const RECENT_REGIONS: usize = 16;

/// An SM and the state of its running warp. Handlers read and write its public fields.
pub struct Sm {
    /// The running warp's registers, in the frame of its current function.
    pub frame: *mut u8,
    /// Mask of the active lanes.
    pub mask: u32,
    /// `mask` expanded to a row: all ones in active lanes, zero in the others.
    pub lanes: [u32; LANES],
    /// True if some live lane is inactive, so writes must preserve its registers.
    pub blend: bool,
    /// Address of the reconvergence point of the active lanes, or [`NO_INDEX`].
    pub reconverge: u32,
    /// The current function's results, parameters and variables, as byte offsets in each lane's stack.
    pub local: Range<u32>,
    /// Warp instructions issued since the launch started on this SM.
    pub clock: u64,
    /// Value of `clock` at which the running block would have started had it run without interruption.
    pub block_start: u64,
    /// Value of `clock` at which the running warp yields.
    pub deadline: u64,
    /// Value of `clock` at which the running block yields.
    pub block_deadline: u64,
    /// The polls of the launch's time limit.
    pub watchdog: Watchdog,
    /// The running warp's slice of its turn.
    pub slice: Slice,
    /// The signs that warps only wait for others.
    pub waiting: Waiting,
    /// The running gang, if the warps run as one.
    pub gang: Gang,
    /// Maximum number of warps per gang in the running block; 1 if its warps run one by one.
    pub gang_size: usize,
    /// The cached access patterns of gangs.
    pub patterns: AccessPatterns,
    /// `threadIdx` of every thread of a block.
    pub threads: ThreadIndices,
    /// The running copy of the program's code: one of `codes`.
    pub code: *const Inst,
    /// The copies of the code that the running block uses.
    pub codes: Codes,
    /// What compiled regions of the running block read and write.
    pub context: Context,
    /// The random schedule, if the launch requested one.
    pub schedule: Option<Box<RandomSchedule>>,
    /// The sanitizer, if the launch requested it.
    pub checker: Option<Box<Checker>>,
    /// The counters of the running block, if it is profiled.
    pub profiler: Option<Box<Profiler>>,
    /// The costs of access shapes of profiled blocks, while none is running. The next block's accesses will
    /// have the same shapes.
    pub shapes: Vec<ShapeCache<AccessCost>>,
    /// Buffers for the deferred accesses of profiled gangs, while none is running.
    pub deferred: DeferredAccesses,
    /// The running block.
    pub block: Box<Block>,
    /// The state that all SMs share.
    pub grid: Arc<Grid>,
    /// Device memory, as the running block sees it.
    pub memory: DeviceMemory,
    pub counts: Counts,
    pub fault: Option<Fault>,
    pub windows: WindowPool,
    pub locals: LocalPool,
    /// Output of `printf`, by block number.
    pub printed: Vec<(u64, Vec<u8>)>,
    /// The work that blocks have submitted, in order.
    pub submissions: Vec<Submission>,
    /// Recorded accesses, if the launch is traced.
    pub trace: Option<Box<Trace>>,
}

/// A part of a warp's turn, after which another warp of the block runs.
pub struct Slice {
    /// Maximum number of warp instructions. The warps of a profiled block get short slices, so that they access its
    /// caches in about the same alternation as on a GPU.
    pub length: u64,
    /// The running warp's turn at the start of this slice.
    pub turn: Turn,
    /// Value of [`Sm::clock`] at the start of this slice.
    pub start: u64,
    /// Value of [`Counts::reads`] at the start of this slice.
    pub reads_before: u64,
    /// Number of switches between splits of a warp.
    pub switches: u64,
    /// Value of `switches` at the start of this slice.
    pub switches_before: u64,
}

/// Signs that warps only wait for others.
#[derive(Default)]
pub struct Waiting {
    /// True if the last access repeated the one before it and found the same value.
    pub spinning: bool,
    /// True if the running warp only waits for others and should yield.
    pub only_waits: bool,
    /// True if an atomic of the running warp has changed memory.
    pub atomic_changed_memory: bool,
    /// True if some warp of the running block did more than wait since the flag was last taken.
    pub made_progress: bool,
}

/// The copies of a program's code that a block runs.
#[derive(Clone, Copy)]
pub struct Codes {
    /// The copy for single warps.
    pub warp: *const Inst,
    /// The copy for gangs.
    pub gang: *const Inst,
    /// The copy whose handlers run after a sanitizing copy's checks, if the block is checked.
    pub sanitizing_base: *const Inst,
    /// The copy whose handlers run after the yield points of a randomly scheduled copy.
    pub schedule_base: *const Inst,
}

/// Device memory, as the blocks of an SM see it.
pub struct DeviceMemory {
    /// Cache of recently accessed allocations, indexed by address bits. Most accesses hit it.
    pub recent: [Region; RECENT_REGIONS],
    pub regions: Arc<Regions>,
    /// The module's constant memory.
    pub constants: Region,
    /// The part of the launch, by block number, that the running block belongs to.
    pub epoch: u32,
}

impl Sm {
    pub fn new(grid: Arc<Grid>) -> Sm {
        let parts = ReusableParts::new(&grid);
        Sm::with_parts(grid, parts)
    }

    /// Creates an SM from parts that may come from another launch of the same program.
    // Inlined, so that as little as possible of the large struct is moved.
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
            local: 0..0,
            clock: 0,
            block_start: 0,
            deadline: 0,
            block_deadline: 0,
            watchdog: Watchdog::default(),
            slice: Slice {
                length: 0,
                turn: Turn {
                    remaining: 0,
                    read: false,
                    single_split: true,
                },
                start: 0,
                reads_before: 0,
                switches: 0,
                switches_before: 0,
            },
            waiting: Waiting::default(),
            gang: Gang::empty(),
            gang_size: 1,
            patterns,
            threads,
            code,
            codes: Codes {
                warp: code,
                gang: grid.program.code.gang.as_ptr(),
                sanitizing_base: code,
                schedule_base: code,
            },
            context: Context::EMPTY,
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
            block,
            memory: DeviceMemory {
                recent: [Region::NONE; RECENT_REGIONS],
                regions: grid.regions.clone(),
                constants: grid.constants,
                epoch: 0,
            },
            counts,
            fault: None,
            windows,
            locals,
            printed: Vec::new(),
            submissions: Vec::new(),
            trace: grid.sample.trace(),
            grid,
        }
    }

    /// Returns the parts that another launch of the same program can reuse.
    #[inline(always)]
    pub fn into_parts(mut self) -> ReusableParts {
        let gang = self
            .gang
            .windows
            .into_iter()
            .chain(self.gang.uniform_window);
        gang.for_each(|window| self.windows.recycle(window));
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

    /// Returns the index of an instruction in the program.
    #[inline(always)]
    pub fn address_of(&self, inst: &Inst) -> u32 {
        // SAFETY: `inst` is an element of the array that starts at `code`.
        unsafe { (inst as *const Inst).offset_from(self.code) as u32 }
    }

    /// Returns the index of the instruction `next` in the code that starts at `code`.
    #[inline(always)]
    pub fn index(code: *const Inst, next: Next) -> u32 {
        (next.addr().wrapping_sub(code.addr()) / size_of::<Inst>()) as u32
    }

    /// Returns the instruction at an index.
    #[inline(always)]
    pub fn at(&self, address: u32) -> Next {
        // Branch targets were checked against the code during layout.
        self.code.wrapping_add(address as usize)
    }

    /// Makes `mask` the active lanes.
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

    /// Returns the mask of lanes with which a warp of the block started.
    pub fn lanes_of(&self, warp: usize) -> u32 {
        let threads = self.grid.dims.threads();
        let lanes = threads.saturating_sub(warp as u32 * 32).min(32);
        FULL.checked_shr(32 - lanes).unwrap_or(0)
    }

    /// Makes all 32 lanes active; all of them must be live.
    pub fn activate_all_lanes(&mut self) {
        self.mask = FULL;
        self.blend = false;
        self.lanes = [FULL; LANES];
    }

    /// Returns the index in [`DeviceMemory::recent`] of the allocation that contains `address`. Allocations are at
    /// least a megabyte apart, so neighbours have different slots.
    #[inline(always)]
    pub fn recent_slot(address: u64) -> usize {
        (address >> 20) as usize % RECENT_REGIONS
    }

    /// Selects whether cache accesses are deferred (true) or performed at once (false).
    pub fn set_deferred(&mut self, defer: bool) {
        if let Some(profiler) = &mut self.profiler {
            profiler.set_deferred(defer);
        }
    }

    /// Performs the deferred cache accesses of the block's warp with index `warp`.
    pub fn replay_warp(&mut self, warp: usize) {
        if let Some(profiler) = &mut self.profiler {
            profiler.replay_warp(warp);
        }
    }

    /// Performs all deferred cache accesses of these warps, one warp after the other.
    pub fn replay_in_order(&mut self, warps: Range<usize>) {
        if let Some(profiler) = &mut self.profiler {
            profiler.replay_in_order(warps);
        }
    }

    /// Stops the launch with the fault `kind` of `lane` at `inst`.
    #[cold]
    pub fn fail(&mut self, inst: &Inst, lane: usize, kind: impl Into<FaultKind>) -> Next {
        self.fault = Some(self.fault_of(inst, lane, kind));
        std::ptr::null()
    }

    /// Returns the fault `kind` of `lane` at `inst`.
    pub fn fault_of(&self, inst: &Inst, lane: usize, kind: impl Into<FaultKind>) -> Fault {
        let address = self.address_of(inst);
        let warp = self.block.warp();
        let thread = self
            .grid
            .dims
            .thread_index(warp.index * LANES as u32 + lane as u32);
        let listing = &self.grid.program.listing;
        let location = FaultLocation {
            kernel: self.grid.kernel_name().to_owned(),
            block: self.block.id,
            warp: warp.index,
            thread,
            source: listing.nearest_source_of(address),
            array: Some(listing.check_events.array(address)),
            local_end: self.local.end,
        };
        Fault::new(self.with_rank(kind.into()), Some(Box::new(location)))
    }

    /// Replaces an address that encodes the rank of a block in the cluster by the rank and the offset.
    fn with_rank(&self, kind: FaultKind) -> FaultKind {
        let place = |address: u64| {
            let address = match in_window(address, SHARED_WINDOW) {
                true => address - SHARED_WINDOW,
                false => address,
            };
            let (rank, offset) = rank_and_offset(address);
            let rank = u32::try_from(rank?)
                .ok()
                .filter(|&rank| rank < RANK_LIMIT)?;
            (self.grid.blocks_per_cluster() > 1).then_some((rank, offset))
        };
        match kind {
            FaultKind::IllegalAddress {
                address,
                bytes,
                write,
                memory: AddressedMemory::Shared | AddressedMemory::Generic,
            } if let Some((rank, offset)) = place(address) => FaultKind::IllegalClusterAddress {
                rank,
                offset,
                bytes,
                write,
            },
            FaultKind::MisalignedAddress { address, bytes }
                if let Some((rank, offset)) = place(address) =>
            {
                FaultKind::MisalignedClusterAddress {
                    rank,
                    offset,
                    bytes,
                }
            }
            kind => kind,
        }
    }
}

/// Reusable parts; the fields have the same names as in [`Sm`].
pub struct ReusableParts {
    pub counts: Counts,
    pub windows: WindowPool,
    pub locals: LocalPool,
    pub threads: ThreadIndices,
    pub patterns: AccessPatterns,
    pub shapes: Vec<ShapeCache<AccessCost>>,
    pub deferred: DeferredAccesses,
    pub block: Box<Block>,
}

impl ReusableParts {
    /// Creates new parts for a launch.
    pub fn new(grid: &Grid) -> ReusableParts {
        let program = &grid.program;
        ReusableParts {
            counts: Counts::new(program.listing.blocks.len()),
            windows: WindowPool::new(&program.functions, grid.function()),
            locals: LocalPool::new(grid.stack_bytes, grid.poison),
            threads: ThreadIndices::of(grid.dims.block),
            patterns: AccessPatterns::new(program.code.plain.len()),
            shapes: Vec::new(),
            deferred: DeferredAccesses::default(),
            block: Box::new(Block::empty()),
        }
    }

    /// Resets the parts for another launch of the program for which they were created.
    #[inline(always)]
    pub fn prepare(mut self, grid: &Grid) -> ReusableParts {
        self.counts.clear();
        self.windows.start_launch(grid.function());
        if !self.locals.is_equivalent(grid.stack_bytes, grid.poison) {
            self.locals = LocalPool::new(grid.stack_bytes, grid.poison);
        }
        if self.threads.size != grid.dims.block {
            self.threads = ThreadIndices::of(grid.dims.block);
        }
        self.patterns.start_launch();
        self
    }
}
