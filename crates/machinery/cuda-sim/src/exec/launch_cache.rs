//! What a host thread keeps of short launches for the next one of the same program: a launch of an empty kernel
//! would take several times as long if all that was made anew. Nothing of it shows in results or counters.

use super::block::Block;
use super::sample::SpareCaches;
use super::sm::{Grid, Program, ProgramId, ReusableParts};
use super::time_limit::{BLOCK_START_COST, SHORT_LAUNCH};
use crate::profile::collect::Counted;
use std::cell::RefCell;

/// A thread keeps something of so many programs, those that it launched last.
const MAX_PROGRAMS: usize = 4;

/// Instructions of a program of which anything is kept, at most.
const MAX_INSTRUCTIONS: usize = 1 << 14;

/// What is kept of a program.
pub struct CachedState {
    program: ProgramId,
    /// Of a multiprocessor.
    pub parts: Option<Box<ReusableParts>>,
    /// With nothing counted in it.
    pub counted: Option<Counted>,
    /// To be reset.
    pub block: Option<Box<Block>>,
    pub caches: SpareCaches,
    /// Warp instructions that a warp ran on average in a kernel's last launch, by the kernel's number.
    costs: Vec<Option<u64>>,
}

thread_local! {
    /// The program that was launched last comes first.
    static CACHE: RefCell<Vec<CachedState>> = const { RefCell::new(Vec::new()) };
}

/// What `use_it` makes of what is kept of a program; nothing where the calling thread is about to end.
pub fn with<T>(program: &Program, f: impl FnOnce(&mut CachedState) -> T) -> Option<T> {
    let with_entry = |cache: &RefCell<Vec<CachedState>>| {
        let entries = &mut *cache.borrow_mut();
        match entries.iter().position(|entry| entry.program == program.id) {
            Some(index) => entries[..=index].rotate_right(1),
            None => {
                entries.truncate(MAX_PROGRAMS - 1);
                let empty = CachedState {
                    program: program.id,
                    parts: None,
                    counted: None,
                    block: None,
                    caches: SpareCaches::default(),
                    costs: Vec::new(),
                };
                entries.insert(0, empty);
            }
        }
        f(&mut entries[0])
    };
    CACHE.try_with(with_entry).ok()
}

/// Keeps what a launch was counted in.
pub fn store_counted(program: &Program, mut counted: Counted) {
    if program.code.plain.len() <= MAX_INSTRUCTIONS {
        counted.clear();
        with(program, |cached| cached.counted = Some(counted));
    }
}

/// Whether what a launch leaves may be kept where it was a short one: no checks, and nothing out of the usual.
pub fn is_cacheable(grid: &Grid) -> bool {
    grid.checks.is_none()
        && grid.schedule_seed.is_none()
        && !grid.sample.traces()
        && grid.program.code.plain.len() <= MAX_INSTRUCTIONS
}

impl CachedState {
    /// Whether a launch is probably a short one: a launch of its kernel before would have been, with as many warps.
    pub fn is_short(&self, grid: &Grid) -> bool {
        let Some(Some(per_warp)) = self.costs.get(grid.kernel) else {
            return false;
        };
        let warps = u64::from(grid.dims.threads().div_ceil(32));
        let block = per_warp
            .saturating_mul(warps)
            .saturating_add(BLOCK_START_COST);
        block.saturating_mul(grid.progress.blocks) <= SHORT_LAUNCH
    }

    /// Notes how many warp instructions a launch has run.
    pub fn record_cost(&mut self, grid: &Grid, instructions: u64) {
        let warps = u64::from(grid.dims.threads().div_ceil(32)) * grid.progress.blocks;
        if self.costs.len() <= grid.kernel {
            self.costs.resize(grid.kernel + 1, None);
        }
        self.costs[grid.kernel] = Some(instructions.div_ceil(warps.max(1)));
    }
}
