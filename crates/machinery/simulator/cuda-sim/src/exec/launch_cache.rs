//! A per-thread cache of launch state for short launches. Without it, a launch of an empty kernel would take
//! several times as long. Cached state never affects results or counters.

use super::profiler::sample::SpareCaches;
use super::schedule::progress::{BLOCK_START_COST, SHORT_LAUNCH};
use super::sm::block::Block;
use super::sm::{Grid, Program, ProgramId, ReusableParts};
use crate::profile::collect::LaunchCounts;
use std::cell::RefCell;

/// Number of programs cached per thread; the least recently used is evicted.
const MAX_PROGRAMS: usize = 4;

/// Maximum number of instructions of a cached program.
const MAX_INSTRUCTIONS: usize = 1 << 14;

/// The cached state of a program.
#[expect(clippy::vec_box, reason = "they are handed on in their boxes")]
pub struct CachedState {
    program: ProgramId,
    /// Parts of an SM. There are several after kernels have waited for kernels that they launched, which run nested.
    pub parts: Vec<Box<ReusableParts>>,
    /// Counters, all zero.
    pub counted: Vec<Box<LaunchCounts>>,
    /// Blocks to reset.
    pub blocks: Vec<Box<Block>>,
    pub caches: SpareCaches,
    /// For each kernel, the average number of warp instructions per warp in its last launch.
    costs: Vec<Option<u64>>,
}

thread_local! {
    /// Most recently used program first.
    static CACHE: RefCell<Vec<CachedState>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with the cache entry of `program`. Returns `None` during thread shutdown.
pub fn with<T>(program: &Program, f: impl FnOnce(&mut CachedState) -> T) -> Option<T> {
    let with_entry = |cache: &RefCell<Vec<CachedState>>| {
        let entries = &mut *cache.borrow_mut();
        match entries.iter().position(|entry| entry.program == program.id) {
            Some(index) => entries[..=index].rotate_right(1),
            None => {
                entries.truncate(MAX_PROGRAMS - 1);
                let empty = CachedState {
                    program: program.id,
                    parts: Vec::new(),
                    counted: Vec::new(),
                    blocks: Vec::new(),
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

/// The maximum number of cached counters per program. Grids that nest need more than one; not every launch takes one.
const MAX_COUNTED: usize = 4;

/// Clears a launch's counters and caches them for the next launch.
pub fn store_counted(program: &Program, mut counted: Box<LaunchCounts>) {
    if program.code.plain.len() <= MAX_INSTRUCTIONS {
        counted.clear();
        with(program, |cached| {
            if cached.counted.len() < MAX_COUNTED {
                cached.counted.push(counted);
            }
        });
    }
}

/// Returns true if a launch's state can be cached: it runs without checks, a random schedule or a trace.
pub fn is_cacheable(grid: &Grid) -> bool {
    grid.checks.is_none()
        && grid.schedule_seed.is_none()
        && !grid.sample.traces()
        && grid.program.code.plain.len() <= MAX_INSTRUCTIONS
}

impl CachedState {
    /// Returns true if a launch is probably short: with this number of warps, its kernel's last launch would
    /// have been.
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

    /// Records the number of warp instructions of a launch.
    pub fn record_cost(&mut self, grid: &Grid, instructions: u64) {
        let warps = u64::from(grid.dims.threads().div_ceil(32)) * grid.progress.blocks;
        if self.costs.len() <= grid.kernel {
            self.costs.resize(grid.kernel + 1, None);
        }
        self.costs[grid.kernel] = Some(instructions.div_ceil(warps.max(1)));
    }
}
