//! The parts of an SM that one launch can hand to the next.

use super::Grid;
use super::block::Block;
use super::thread_idx::ThreadIndices;
use crate::exec::profiler::access_pattern::AccessPatterns;
use crate::exec::profiler::{AccessCost, DeferredAccesses};
use crate::exec::warp::window::{LocalPool, WindowPool};
use crate::profile::Counts;
use crate::profile::shape::ShapeCache;

/// Reusable parts; the fields have the same names as in [`super::Sm`].
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
