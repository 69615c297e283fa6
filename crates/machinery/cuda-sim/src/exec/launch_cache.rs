//! What a host thread keeps of short launches for the next one of the same program: a launch of an empty kernel
//! would take several times as long if all that was made anew. Nothing of it shows in results or counters.

use super::block::Block;
use super::sample::SpareCaches;
use super::sm::{Grid, Parts, Program, ProgramId};
use super::time_limit::{BEGINNING, SHORT};
use crate::profile::collect::Counted;
use std::cell::RefCell;

/// A thread keeps something of so many programs, those that it launched last.
const PROGRAMS: usize = 4;

/// Instructions of a program of which anything is kept, at most.
const LARGE: usize = 1 << 14;

/// What is kept of a program.
pub struct Kept {
    program: ProgramId,
    /// Of a multiprocessor.
    pub parts: Option<Box<Parts>>,
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
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// What `use_it` makes of what is kept of a program; nothing where the calling thread is about to end.
pub fn with<T>(program: &Program, use_it: impl FnOnce(&mut Kept) -> T) -> Option<T> {
    let use_it = |kept: &RefCell<Vec<Kept>>| {
        let kept = &mut *kept.borrow_mut();
        match kept.iter().position(|it| it.program == program.id) {
            Some(place) => kept[..=place].rotate_right(1),
            None => {
                kept.truncate(PROGRAMS - 1);
                let nothing = Kept {
                    program: program.id,
                    parts: None,
                    counted: None,
                    block: None,
                    caches: SpareCaches::default(),
                    costs: Vec::new(),
                };
                kept.insert(0, nothing);
            }
        }
        use_it(&mut kept[0])
    };
    KEPT.try_with(use_it).ok()
}

/// Keeps what a launch was counted in.
pub fn give_back(program: &Program, mut counted: Counted) {
    if program.code.plain.len() <= LARGE {
        counted.clear();
        with(program, |kept| kept.counted = Some(counted));
    }
}

/// Whether what a launch leaves may be kept where it was a short one: no checks, and nothing out of the usual.
pub fn may_keep(grid: &Grid) -> bool {
    grid.checks.is_none()
        && grid.order.is_none()
        && !grid.sample.traces()
        && grid.program.code.plain.len() <= LARGE
}

impl Kept {
    /// Whether a launch is probably a short one: a launch of its kernel before would have been, with as many warps.
    pub fn is_short(&self, grid: &Grid) -> bool {
        let Some(Some(each)) = self.costs.get(grid.kernel) else {
            return false;
        };
        let warps = u64::from(grid.dims.threads().div_ceil(32));
        let block = each.saturating_mul(warps).saturating_add(BEGINNING);
        block.saturating_mul(grid.progress.blocks) <= SHORT
    }

    /// Notes how many warp instructions a launch has run.
    pub fn note_cost(&mut self, grid: &Grid, instructions: u64) {
        let warps = u64::from(grid.dims.threads().div_ceil(32)) * grid.progress.blocks;
        if self.costs.len() <= grid.kernel {
            self.costs.resize(grid.kernel + 1, None);
        }
        self.costs[grid.kernel] = Some(instructions.div_ceil(warps.max(1)));
    }
}
