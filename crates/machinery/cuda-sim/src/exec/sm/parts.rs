//! Parts of a multiprocessor that one launch may leave to another.

use super::Grid;
use crate::exec::access_pattern::Spreads;
use crate::exec::block::Block;
use crate::exec::profiler::{AccessCost, Noted};
use crate::exec::thread_idx::Threads;
use crate::exec::window::{LocalPool, WindowPool};
use crate::profile::Counts;
use crate::profile::shape::Shapes;

/// The parts, with the same names as in [`super::Sm`].
pub struct Parts {
    pub counts: Counts,
    pub windows: WindowPool,
    pub locals: LocalPool,
    pub threads: Threads,
    pub spreads: Spreads,
    pub shapes: Vec<Shapes<AccessCost>>,
    pub noted: Noted,
    pub block: Box<Block>,
}

impl Parts {
    /// New ones, for a launch.
    pub fn new(grid: &Grid) -> Parts {
        let program = &grid.program;
        Parts {
            counts: Counts::new(program.listing.blocks.len()),
            windows: WindowPool::new(&program.functions, grid.function()),
            locals: LocalPool::new(grid.stack_bytes, grid.poison),
            threads: Threads::of(grid.dims.block),
            spreads: Spreads::new(program.code.plain.len()),
            shapes: Vec::new(),
            noted: Noted::default(),
            block: Box::new(Block::empty()),
        }
    }

    /// Has them as if they were new, for a launch of the program that they were made for.
    #[inline(always)]
    pub fn ready(mut self, grid: &Grid) -> Parts {
        self.counts.clear();
        self.windows.begin(grid.function());
        if !self.locals.is_of(grid.stack_bytes, grid.poison) {
            self.locals = LocalPool::new(grid.stack_bytes, grid.poison);
        }
        if self.threads.size != grid.dims.block {
            self.threads = Threads::of(grid.dims.block);
        }
        self.spreads.begin();
        self
    }
}
